export type VideoKind = "camera" | "screen";
/** A camera or a screen that is on: one JPEG a second. `stream` is for a preview. */
export declare class Video {
    readonly kind: VideoKind;
    readonly stream: MediaStream;
    private readonly picture;
    private readonly seen;
    private readonly timer;
    private readonly canvas;
    private busy;
    private constructor();
    /** Ask for it and switch it on; `device` is the browser's id of a camera (`""`: its choice). Rejects with a {@link LiveError} that says what to do. */
    static start(kind: VideoKind, device: string, seen: (data: string) => void, lost: (reason: string) => void): Promise<Video>;
    stop(): void;
    private look;
}
