/** What {@link Voice} needs from the client. */
export interface VoiceLine {
    /** Hz that the relay takes. */
    rate(): number;
    /** Begins a session unless one is open. Resolves when it is open. */
    connected(): Promise<unknown>;
    /** What was said begins, or has ended. */
    begin(): void;
    end(): void;
    send(pcm: ArrayBuffer): void;
    tell(microphone: {
        on: boolean;
        sending: boolean;
        reason: string;
    }): void;
}
/**
 * The microphone, on or off, and whether what it hears goes out.
 *
 * `wanted` is the one truth about the finger: a start that takes its time (the session opens, the browser asks the user)
 * looks at it again after each step, and a microphone that nobody wants any more when it comes is switched off.
 */
export declare class Voice {
    private readonly line;
    private readonly worklet;
    private microphone;
    private starting;
    private wanted;
    private presses;
    private open;
    private device;
    constructor(line: VoiceLine, worklet: URL | null);
    get sending(): boolean;
    get level(): number;
    /** Let what is heard go out. Resolves when it does, or when it is not wanted any more. */
    start(): Promise<void>;
    /** Nothing goes out any more; a start under way does not come about. Resolves when the rest has gone out. */
    stop(): Promise<void>;
    /** Switch the microphone off, whether it sends or is still being opened. `reason` is reported. */
    off(reason?: string): Promise<void>;
    /** The session came back: it knows nothing of an activity that was begun. */
    again(): void;
    /** Hear with this device from now on; `""`: the browser's choice. */
    use(device: string): Promise<void>;
    /** The microphone, switched on if it is not. */
    private on;
    private switchOn;
    private ask;
    /** Replace the microphone that is on by the chosen one, which sends if the old one did. */
    private replace;
    /** One that is unplugged has a successor, if the browser knows another; one that was taken away has none. */
    private lost;
}
