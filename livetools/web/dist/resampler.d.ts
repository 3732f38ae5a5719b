/** Sound of one rate at another: a low-pass filter that is read at the places of the new samples. */
/** Resamples a stream, chunk after chunk; mono, any rates. Its delay is `CROSSINGS` samples of the lower rate. */
export declare class Resampler {
    private readonly step;
    private readonly phases;
    private readonly filters;
    private readonly taps;
    private history;
    private position;
    constructor(from: number, to: number);
    /** The samples of the new rate that `samples` completes. */
    push(samples: Float32Array): Float32Array;
}
/** 16-bit PCM of samples between -1 and 1; what is louder is clipped. */
export declare function pcmOf(samples: Float32Array): Int16Array;
