/** What went wrong, in a sentence that a page can show. */
export declare class LiveError extends Error {
    readonly name = "LiveError";
    /** Ask for a device, with the browser's reasons for a refusal put in words. */
    static about<T>(device: string, ask: () => Promise<T>): Promise<T>;
}
