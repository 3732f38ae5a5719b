/** How loud something is now: the root mean square of the last 40 ms or so, from 0 to 1. */
export declare class Meter {
    readonly node: AnalyserNode;
    private readonly samples;
    constructor(context: AudioContext);
    /** To be asked once a frame, for a meter that moves. */
    level(): number;
}
