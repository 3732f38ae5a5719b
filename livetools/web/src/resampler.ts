/** Sound of one rate at another: a low-pass filter that is read at the places of the new samples. */

/** Zero crossings of the filter on either side: steeper and slower with more. */
const CROSSINGS = 16;
/** The part of the new band that is kept: above it the filter falls, so that nothing folds back. */
const KEPT = 0.92;
/** Filters that are worked out in advance; rates that would need more have their places rounded. */
const MAX_PHASES = 1024;

/** Resamples a stream, chunk after chunk; mono, any rates. Its delay is `CROSSINGS` samples of the lower rate. */
export class Resampler {
  private readonly step: number; // input samples between two outputs, in phases
  private readonly phases: number;
  private readonly filters: Float32Array[];
  private readonly taps: number;
  private history: Float32Array;
  private position = 0; // of the next output in what `history` begins with, in phases

  constructor(from: number, to: number) {
    const divisor = gcd(Math.round(from), Math.round(to));
    this.phases = Math.min(Math.round(to) / divisor, MAX_PHASES);
    this.step = Math.round((from / to) * this.phases);
    const cutoff = Math.min(1, to / from) * (to === from ? 1 : KEPT);
    const reach = Math.ceil(CROSSINGS / cutoff);
    this.taps = 2 * reach;
    this.filters = Array.from({ length: this.phases }, (_, phase) =>
      filter(reach, cutoff, phase / this.phases),
    );
    this.history = new Float32Array(this.taps - 1); // silence before the first sample
  }

  /** The samples of the new rate that `samples` completes. */
  push(samples: Float32Array): Float32Array {
    const input = new Float32Array(this.history.length + samples.length);
    input.set(this.history);
    input.set(samples, this.history.length);
    const room = (input.length - this.taps + 1) * this.phases - this.position;
    const output = new Float32Array(Math.max(0, Math.ceil(room / this.step)));
    for (let index = 0; index < output.length; index++) {
      const start = Math.floor(this.position / this.phases);
      const taps = this.filters[this.position % this.phases]!;
      let sum = 0;
      for (let tap = 0; tap < this.taps; tap++) sum += input[start + tap]! * taps[tap]!;
      output[index] = sum;
      this.position += this.step;
    }
    const used = Math.min(Math.floor(this.position / this.phases), input.length - this.taps + 1);
    this.history = input.slice(used);
    this.position -= used * this.phases;
    return output;
  }
}

/** 16-bit PCM of samples between -1 and 1; what is louder is clipped. */
export function pcmOf(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) => Math.max(-32768, Math.min(32767, Math.round(sample * 32767))));
}

/** A windowed sinc whose centre lies `offset` samples behind its middle tap; a constant passes unchanged. */
function filter(reach: number, cutoff: number, offset: number): Float32Array {
  const taps = new Float32Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - (reach - 1) - offset;
    const angle = Math.PI * distance * cutoff;
    const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
    taps[tap] = sinc * (Math.abs(distance) >= reach ? 0 : window);
    sum += taps[tap]!;
  }
  return taps.map((tap) => tap / sum);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
