import { LiveError } from "./error.js";
import { Meter } from "./meter.js";
import { running } from "./running.js";
const LEAD = 0.05; // seconds before a first sound: what comes a little late still follows without a gap
const AHEAD = 1.0; // seconds that are scheduled; the rest waits here
const FADE = 0.01; // seconds, so that a cut does not click
const LIMIT = 600; // seconds that wait, past which the oldest go
/** Plays speech in its order, and forgets it at once when the model was interrupted. */
export class Player {
    context;
    meter;
    output;
    voice; // of what was scheduled since the last flush
    waiting = [];
    seconds = 0; // of what is waiting
    sources = new Set();
    end = 0; // of what is scheduled, by the context's clock
    woken = new AbortController();
    /** `changed` is called when the browser starts or stops playing. */
    constructor(rate, changed = () => { }) {
        this.context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
        this.context.onstatechange = () => changed(this.playing);
        this.meter = new Meter(this.context);
        this.output = this.context.createGain();
        this.output.connect(this.meter.node).connect(this.context.destination);
        this.voice = this.newVoice();
        this.wake();
    }
    /** Seconds that were written and are not heard yet. */
    get pending() {
        return Math.max(0, this.end - this.context.currentTime) + this.seconds;
    }
    /** Whether what is written is heard: a browser is silent until the user did something on the page. */
    get playing() {
        return this.context.state === "running";
    }
    /** Play on this device; `""`: the browser's choice. Rejects with a {@link LiveError} where that cannot be. */
    async use(device) {
        const context = this.context;
        if (device === "" && context.setSinkId === undefined)
            return;
        if (context.setSinkId === undefined) {
            throw new LiveError("this browser plays on its own choice of a speaker: choose it in the system's settings");
        }
        await LiveError.about("speaker", () => context.setSinkId(device));
    }
    /** From 0, silent, to 1. */
    set volume(volume) {
        this.output.gain.value = volume;
    }
    get volume() {
        return this.output.gain.value;
    }
    /** Play 16-bit PCM of `rate` Hz behind what was written before. */
    write(pcm, rate) {
        const samples = new Int16Array(pcm, 0, Math.floor(pcm.byteLength / 2));
        if (samples.length === 0)
            return;
        const buffer = this.context.createBuffer(1, samples.length, rate);
        const channel = buffer.getChannelData(0);
        for (let index = 0; index < samples.length; index++)
            channel[index] = samples[index] / 32768;
        this.waiting.push(buffer);
        this.seconds += buffer.duration;
        while (this.seconds > LIMIT && this.waiting.length > 1)
            this.next();
        this.schedule();
    }
    /** Silence, now: the seconds that will not be heard. */
    flush() {
        const thrown = this.pending;
        const silent = this.context.currentTime + FADE;
        this.voice.gain.setValueAtTime(1, this.context.currentTime);
        this.voice.gain.linearRampToValueAtTime(0, silent);
        for (const source of this.sources) {
            source.onended = null;
            source.stop(silent);
        }
        this.sources.clear();
        this.waiting = [];
        this.seconds = 0;
        this.end = 0;
        this.voice = this.newVoice();
        return thrown;
    }
    /**
     * Browsers are silent until the user does something: call this from a click, where the first was none. Rejects with a
     * {@link LiveError} where it does not help.
     */
    async resume() {
        if (this.context.state !== "closed")
            await running(this.context);
    }
    async close() {
        this.woken.abort();
        if (this.context.state === "closed")
            return;
        this.flush();
        this.context.onstatechange = null;
        await this.context.close();
    }
    schedule() {
        const now = this.context.currentTime;
        while (this.waiting.length > 0 && this.end - now < AHEAD) {
            const source = this.context.createBufferSource();
            source.buffer = this.next();
            source.connect(this.voice);
            source.onended = () => {
                this.sources.delete(source);
                this.schedule();
            };
            const start = this.end > now ? this.end : now + LEAD;
            source.start(start);
            this.end = start + source.buffer.duration;
            this.sources.add(source);
        }
    }
    next() {
        const buffer = this.waiting.shift();
        this.seconds = this.waiting.length === 0 ? 0 : this.seconds - buffer.duration;
        return buffer;
    }
    newVoice() {
        const voice = this.context.createGain();
        voice.connect(this.output);
        return voice;
    }
    /** Start playback at the first click or key press on the page: browsers block sound until then. */
    wake() {
        const wake = () => {
            this.woken.abort();
            this.resume().catch(() => { }); // `startAudio()` reports why
        };
        for (const sign of ["pointerdown", "keydown"]) {
            document.addEventListener(sign, wake, { signal: this.woken.signal });
        }
    }
}
