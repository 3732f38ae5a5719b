import { Meter } from "./meter.js";
/** Plays speech in its order, and forgets it at once when the model was interrupted. */
export declare class Player {
    readonly context: AudioContext;
    readonly meter: Meter;
    private readonly output;
    private voice;
    private waiting;
    private seconds;
    private sources;
    private end;
    private readonly woken;
    /** `changed` is called when the browser starts or stops playing. */
    constructor(rate: number, changed?: (playing: boolean) => void);
    /** Seconds that were written and are not heard yet. */
    get pending(): number;
    /** Whether what is written is heard: a browser is silent until the user did something on the page. */
    get playing(): boolean;
    /** Play on this device; `""`: the browser's choice. Rejects with a {@link LiveError} where that cannot be. */
    use(device: string): Promise<void>;
    /** From 0, silent, to 1. */
    set volume(volume: number);
    get volume(): number;
    /** Play 16-bit PCM of `rate` Hz behind what was written before. */
    write(pcm: ArrayBuffer, rate: number): void;
    /** Silence, now: the seconds that will not be heard. */
    flush(): number;
    /**
     * Browsers are silent until the user does something: call this from a click, where the first was none. Rejects with a
     * {@link LiveError} where it does not help.
     */
    resume(): Promise<void>;
    close(): Promise<void>;
    private schedule;
    private next;
    private newVoice;
    /** Start playback at the first click or key press on the page: browsers block sound until then. */
    private wake;
}
