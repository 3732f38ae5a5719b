/** The microphone's side of the audio thread: what it hears, at the relay's rate, in messages of 40 ms. */
import { pcmOf, Resampler } from "./resampler.js";
class Microphone extends AudioWorkletProcessor {
    resampler;
    chunk;
    filled = 0;
    open = false;
    constructor(node) {
        super();
        const { rate, chunk } = node.processorOptions;
        this.resampler = new Resampler(sampleRate, rate);
        this.chunk = new Float32Array(chunk);
        this.port.onmessage = ({ data }) => {
            if (this.open && !data.open) {
                this.send();
                this.tell({ closed: true });
            }
            this.open = data.open;
        };
    }
    process(inputs) {
        const channels = inputs[0] ?? [];
        if (channels.length > 0) {
            const samples = this.resampler.push(mixed(channels));
            if (this.open)
                this.keep(samples);
        }
        return true; // the page takes the node away
    }
    keep(samples) {
        for (const sample of samples) {
            this.chunk[this.filled++] = sample;
            if (this.filled === this.chunk.length)
                this.send();
        }
    }
    send() {
        if (this.filled === 0)
            return;
        const pcm = pcmOf(this.chunk.subarray(0, this.filled)).buffer;
        this.filled = 0;
        this.tell({ pcm }, [pcm]);
    }
    tell(message, transfer = []) {
        this.port.postMessage(message, transfer);
    }
}
/** All channels as one. */
function mixed(channels) {
    const first = channels[0];
    if (channels.length === 1)
        return first;
    return first.map((_, index) => channels.reduce((sum, channel) => sum + channel[index], 0) / channels.length);
}
registerProcessor("livetools-microphone", Microphone);
