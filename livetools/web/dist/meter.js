/** How loud something is now: the root mean square of the last 40 ms or so, from 0 to 1. */
export class Meter {
    node;
    samples;
    constructor(context) {
        this.node = context.createAnalyser();
        this.node.fftSize = context.sampleRate > 30_000 ? 2048 : 1024;
        this.samples = new Float32Array(this.node.fftSize);
    }
    /** To be asked once a frame, for a meter that moves. */
    level() {
        this.node.getFloatTimeDomainData(this.samples);
        let sum = 0;
        for (const sample of this.samples)
            sum += sample * sample;
        return Math.sqrt(sum / this.samples.length);
    }
}
