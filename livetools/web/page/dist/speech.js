// When somebody stopped speaking, by the level of the microphone: the latency of an answer counts from there.
const LOUD = 0.02; // of full scale (root mean square): speech into a near microphone is louder
const SHORTEST = 0.15; // seconds of speech; a knock on the table is shorter
const SILENCE = 0.3; // seconds
export class SpeechEnd {
    ended;
    began = null;
    loud = 0;
    /** `ended` is called after `SILENCE` seconds, with the time of the last loud moment in seconds of the page's clock. */
    constructor(ended) {
        this.ended = ended;
    }
    /** The level at a time, some times a second. */
    hear(level, now) {
        if (level >= LOUD) {
            this.began ??= now;
            this.loud = now;
            return;
        }
        if (this.began === null || now - this.loud < SILENCE)
            return;
        const began = this.began;
        this.began = null;
        if (this.loud - began >= SHORTEST)
            this.ended(this.loud);
    }
}
