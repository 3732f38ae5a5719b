import type { Call, RelayMessage } from "./messages.js";
/** A function of the page, in the place of one that the server has only declared. Arguments as the model gave them. */
export type PageFunction = (args: Record<string, never>, context: {
    call: Call;
    signal: AbortSignal;
}) => unknown;
/** Sends an answer; false while the connection is away. */
type Respond = (id: string, value: unknown) => boolean;
/**
 * The functions that run in the page. A call runs once, when it is known to be open: what is replayed to a page that
 * comes back may have been answered long ago. An answer that finds no connection waits for it.
 */
export declare class PageFunctions {
    private readonly respond;
    private readonly functions;
    private readonly open;
    private readonly approval;
    private readonly cut;
    private declaredOnly;
    private readonly running;
    private readonly begun;
    private readonly answers;
    constructor(respond: Respond);
    add(name: string, run: PageFunction): () => void;
    /** What the relay says, live or replayed. */
    hear(message: RelayMessage): void;
    /** All that has happened is known, and the connection is there: run what is open, send what could not be sent. */
    proceed(declaredOnly?: readonly string[]): void;
    /** Another session: its calls are others. */
    reset(): void;
    private run;
    private forget;
}
export {};
