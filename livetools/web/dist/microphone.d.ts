import { Meter } from "./meter.js";
/** What a microphone tells: 16-bit PCM of the rate it was asked for, and why it fell silent by itself. */
export interface Listener {
    heard(pcm: ArrayBuffer): void;
    lost(reason: string): void;
}
/** A microphone that is on; what it hears goes out only while it is open. */
export declare class Microphone {
    readonly meter: Meter;
    private readonly context;
    private readonly stream;
    private readonly node;
    private closed;
    private constructor();
    /** Ask for the microphone and switch it on, closed. Rejects with a {@link LiveError} that says what to do. */
    static start(rate: number, worklet: URL, listener: Listener): Promise<Microphone>;
    /** What it hears goes out from now on. */
    open(): void;
    /** Nothing goes out any more. Resolves when all that was heard before has gone out. */
    close(): Promise<void>;
    /** Switch it off. */
    stop(): Promise<void>;
}
/** Switch the devices of a stream off. */
export declare function release(stream: MediaStream): void;
