import { exactly, isUnplugged } from "./devices.js";
import { LiveError } from "./error.js";
import { Meter } from "./meter.js";
import { running } from "./running.js";
import { loadWorklet } from "./worklet_loader.js";
const CHUNK = 0.04; // seconds of one message
/** A microphone that is on; what it hears goes out only while it is open. */
export class Microphone {
    meter;
    context;
    stream;
    node;
    closed = () => { };
    constructor(meter, context, stream, node) {
        this.meter = meter;
        this.context = context;
        this.stream = stream;
        this.node = node;
    }
    /** Ask for the microphone and switch it on, closed. Rejects with a {@link LiveError} that says what to do. */
    static async start({ device, rate, worklet }, listener) {
        const wanted = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
        const stream = await LiveError.about("microphone", () => navigator.mediaDevices.getUserMedia({ audio: { ...wanted, ...exactly(device) } }));
        const context = new AudioContext({ latencyHint: "interactive" });
        try {
            await loadWorklet(context, worklet);
            await running(context);
            const source = context.createMediaStreamSource(stream);
            const node = new AudioWorkletNode(context, "livetools-microphone", {
                numberOfOutputs: 0,
                processorOptions: { rate, chunk: Math.round(rate * CHUNK) },
            });
            const meter = new Meter(context);
            source.connect(meter.node);
            source.connect(node);
            const microphone = new Microphone(meter, context, stream, node);
            node.port.onmessage = ({ data }) => {
                if ("pcm" in data)
                    listener.heard(data.pcm);
                else
                    microphone.closed();
            };
            for (const track of stream.getAudioTracks()) {
                track.onended = async () => listener.lost(await isUnplugged("microphone", track));
            }
            return microphone;
        }
        catch (error) {
            release(stream);
            await context.close();
            throw error;
        }
    }
    /** What it hears goes out from now on. */
    open() {
        this.node.port.postMessage({ open: true });
    }
    /** Nothing goes out any more. Resolves when all that was heard before has gone out. */
    async close() {
        const closed = new Promise((resolve) => (this.closed = resolve));
        this.node.port.postMessage({ open: false });
        await closed;
    }
    /** Switch it off. */
    async stop() {
        release(this.stream);
        this.node.disconnect();
        this.closed(); // resolves the promise of a `close()` that waits for the audio thread
        await this.context.close();
    }
}
/** Switch the devices of a stream off. */
export function release(stream) {
    for (const track of stream.getTracks()) {
        track.onended = null;
        track.stop();
    }
}
