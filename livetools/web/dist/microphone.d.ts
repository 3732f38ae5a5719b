import { Meter } from "./meter.js";
/** What a microphone tells: 16-bit PCM of the rate it was asked for, and that it fell silent by itself. */
export interface Listener {
    heard(pcm: ArrayBuffer): void;
    /** `unplugged`: the device is gone, and another one may take its place. */
    lost(unplugged: boolean): void;
}
/** What to switch on: the browser's id of the device (`""`: its choice), Hz, the audio thread's module (`null`: inlined). */
export interface MicrophoneOptions {
    device: string;
    rate: number;
    worklet: URL | null;
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
    static start({ device, rate, worklet }: MicrophoneOptions, listener: Listener): Promise<Microphone>;
    /** What it hears goes out from now on. */
    open(): void;
    /** Nothing goes out any more. Resolves when all that was heard before has gone out. */
    close(): Promise<void>;
    /** Switch it off. */
    stop(): Promise<void>;
}
/** Switch the devices of a stream off. */
export declare function release(stream: MediaStream): void;
