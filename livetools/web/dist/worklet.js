// src/resampler.ts
var CROSSINGS = 16;
var KEPT = 0.92;
var MAX_PHASES = 1024;
var Resampler = class {
  step;
  // input samples between two outputs, in phases
  phases;
  filters;
  taps;
  history;
  position = 0;
  // of the next output in what `history` begins with, in phases
  constructor(from, to) {
    const divisor = gcd(Math.round(from), Math.round(to));
    this.phases = Math.min(Math.round(to) / divisor, MAX_PHASES);
    this.step = Math.round(from / to * this.phases);
    const cutoff = Math.min(1, to / from) * (to === from ? 1 : KEPT);
    const reach = Math.ceil(CROSSINGS / cutoff);
    this.taps = 2 * reach;
    this.filters = Array.from(
      { length: this.phases },
      (_, phase) => filter(reach, cutoff, phase / this.phases)
    );
    this.history = new Float32Array(this.taps - 1);
  }
  /** The samples of the new rate that `samples` completes. */
  push(samples) {
    const input = new Float32Array(this.history.length + samples.length);
    input.set(this.history);
    input.set(samples, this.history.length);
    const room = (input.length - this.taps + 1) * this.phases - this.position;
    const output = new Float32Array(Math.max(0, Math.ceil(room / this.step)));
    for (let index = 0; index < output.length; index++) {
      const start = Math.floor(this.position / this.phases);
      const taps = this.filters[this.position % this.phases];
      let sum = 0;
      for (let tap = 0; tap < this.taps; tap++) sum += input[start + tap] * taps[tap];
      output[index] = sum;
      this.position += this.step;
    }
    const used = Math.min(Math.floor(this.position / this.phases), input.length - this.taps + 1);
    this.history = input.slice(used);
    this.position -= used * this.phases;
    return output;
  }
};
function pcmOf(samples) {
  return Int16Array.from(samples, (sample) => Math.max(-32768, Math.min(32767, Math.round(sample * 32767))));
}
function filter(reach, cutoff, offset) {
  const taps = new Float32Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - (reach - 1) - offset;
    const angle = Math.PI * distance * cutoff;
    const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
    const window = 0.5 + 0.5 * Math.cos(Math.PI * distance / reach);
    taps[tap] = sinc * (Math.abs(distance) >= reach ? 0 : window);
    sum += taps[tap];
  }
  return taps.map((tap) => tap / sum);
}
function gcd(a, b) {
  return b === 0 ? a : gcd(b, a % b);
}

// src/worklet.ts
var Microphone = class extends AudioWorkletProcessor {
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
      if (this.open) this.keep(samples);
    }
    return true;
  }
  keep(samples) {
    for (const sample of samples) {
      this.chunk[this.filled++] = sample;
      if (this.filled === this.chunk.length) this.send();
    }
  }
  send() {
    if (this.filled === 0) return;
    const pcm = pcmOf(this.chunk.subarray(0, this.filled)).buffer;
    this.filled = 0;
    this.tell({ pcm }, [pcm]);
  }
  tell(message, transfer = []) {
    this.port.postMessage(message, transfer);
  }
};
function mixed(channels) {
  const first = channels[0];
  if (channels.length === 1) return first;
  return first.map((_, index) => channels.reduce((sum, channel) => sum + channel[index], 0) / channels.length);
}
registerProcessor("livetools-microphone", Microphone);
