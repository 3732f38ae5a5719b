/** The microphone's side of the audio thread: what it hears, at the relay's rate, in messages of 40 ms. */

import type { Gate, Heard } from "./gate.js";
import { pcmOf, Resampler } from "./resampler.js";

interface Options {
  rate: number; // Hz that go out
  chunk: number; // samples of one message
}

class Microphone extends AudioWorkletProcessor {
  private readonly resampler: Resampler;
  private readonly chunk: Float32Array;
  private filled = 0;
  private open = false;

  constructor(node: { processorOptions: Options }) {
    super();
    const { rate, chunk } = node.processorOptions;
    this.resampler = new Resampler(sampleRate, rate);
    this.chunk = new Float32Array(chunk);
    this.port.onmessage = ({ data }: MessageEvent<Gate>) => {
      if (this.open && !data.open) {
        this.send();
        this.tell({ closed: true });
      }
      this.open = data.open;
    };
  }

  process(inputs: Float32Array[][]): boolean {
    const channels = inputs[0] ?? [];
    if (channels.length > 0) {
      const samples = this.resampler.push(mixed(channels));
      if (this.open) this.keep(samples);
    }
    return true; // the page takes the node away
  }

  private keep(samples: Float32Array): void {
    for (const sample of samples) {
      this.chunk[this.filled++] = sample;
      if (this.filled === this.chunk.length) this.send();
    }
  }

  private send(): void {
    if (this.filled === 0) return;
    const pcm = pcmOf(this.chunk.subarray(0, this.filled)).buffer as ArrayBuffer;
    this.filled = 0;
    this.tell({ pcm }, [pcm]);
  }

  private tell(message: Heard, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

/** All channels as one. */
function mixed(channels: Float32Array[]): Float32Array {
  const first = channels[0]!;
  if (channels.length === 1) return first;
  return first.map((_, index) => channels.reduce((sum, channel) => sum + channel[index]!, 0) / channels.length);
}

registerProcessor("livetools-microphone", Microphone);
