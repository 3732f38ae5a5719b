import { LiveError } from "./error.js";
import { Meter } from "./meter.js";
import type { Gate, Heard } from "./gate.js";

const CHUNK = 0.04; // seconds of one message

/** What a microphone tells: 16-bit PCM of the rate it was asked for, and why it fell silent by itself. */
export interface Listener {
  heard(pcm: ArrayBuffer): void;
  lost(reason: string): void;
}

/** A microphone that is on; what it hears goes out only while it is open. */
export class Microphone {
  private closed: () => void = () => {};

  private constructor(
    readonly meter: Meter,
    private readonly context: AudioContext,
    private readonly stream: MediaStream,
    private readonly node: AudioWorkletNode,
  ) {}

  /** Ask for the microphone and switch it on, closed. Rejects with a {@link LiveError} that says what to do. */
  static async start(rate: number, worklet: URL, listener: Listener): Promise<Microphone> {
    const stream = await LiveError.about("microphone", () =>
      navigator.mediaDevices.getUserMedia({
        audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      }),
    );
    const context = new AudioContext({ latencyHint: "interactive" });
    try {
      await context.audioWorklet.addModule(worklet);
      await context.resume();
      const source = context.createMediaStreamSource(stream);
      const node = new AudioWorkletNode(context, "livetools-microphone", {
        numberOfOutputs: 0,
        processorOptions: { rate, chunk: Math.round(rate * CHUNK) },
      });
      const meter = new Meter(context);
      source.connect(meter.node);
      source.connect(node);
      const microphone = new Microphone(meter, context, stream, node);
      node.port.onmessage = ({ data }: MessageEvent<Heard>) => {
        if ("pcm" in data) listener.heard(data.pcm);
        else microphone.closed();
      };
      for (const track of stream.getAudioTracks()) {
        track.onended = () => listener.lost("the microphone was taken away");
      }
      return microphone;
    } catch (error) {
      release(stream);
      await context.close();
      throw error;
    }
  }

  /** What it hears goes out from now on. */
  open(): void {
    this.node.port.postMessage({ open: true } satisfies Gate);
  }

  /** Nothing goes out any more. Resolves when all that was heard before has gone out. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => (this.closed = resolve));
    this.node.port.postMessage({ open: false } satisfies Gate);
    await closed;
  }

  /** Switch it off. */
  async stop(): Promise<void> {
    release(this.stream);
    this.node.disconnect();
    this.closed(); // whoever waits for the audio thread waits no longer
    await this.context.close();
  }
}

/** Switch the devices of a stream off. */
export function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) {
    track.onended = null;
    track.stop();
  }
}
