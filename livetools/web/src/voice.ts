import { LiveError } from "./error.js";
import { Microphone } from "./microphone.js";

/** What {@link Voice} needs from the client. */
export interface VoiceLine {
  /** Hz that the relay takes. */
  rate(): number;
  /** Begins a session unless one is open. Resolves when it is open. */
  connected(): Promise<unknown>;
  /** What was said begins, or has ended. */
  begin(): void;
  end(): void;
  send(pcm: ArrayBuffer): void;
  tell(microphone: { on: boolean; sending: boolean; reason: string }): void;
}

/**
 * The microphone, on or off, and whether what it hears goes out.
 *
 * `wanted` is the one truth about the finger: a start that takes its time (the session opens, the browser asks the user)
 * looks at it again after each step, and a microphone that nobody wants any more when it comes is switched off.
 */
export class Voice {
  private microphone: Microphone | null = null;
  private starting: Promise<Microphone> | null = null;
  private wanted = 0; // the number of the press that wants sound to go out; 0: none
  private presses = 0;
  private open = false; // sound goes out
  private device = "";

  constructor(
    private readonly line: VoiceLine,
    private readonly worklet: URL | null,
  ) {}

  get sending(): boolean {
    return this.wanted > 0;
  }

  get level(): number {
    return this.microphone?.meter.level() ?? 0;
  }

  /** Let what is heard go out. Resolves when it does, or when it is not wanted any more. */
  async start(): Promise<void> {
    if (this.wanted > 0) return;
    const press = (this.wanted = ++this.presses);
    try {
      await this.line.connected();
      if (this.wanted !== press) return;
      const microphone = await this.on();
      if (this.wanted !== press || microphone !== this.microphone) return;
    } catch (error) {
      if (this.wanted === press) this.wanted = 0;
      throw error;
    }
    this.line.begin();
    this.open = true;
    this.microphone!.open();
    this.line.tell({ on: true, sending: true, reason: "" });
  }

  /** Nothing goes out any more; a start under way does not come about. Resolves when the rest has gone out. */
  async stop(): Promise<void> {
    this.wanted = 0;
    if (!this.open || this.microphone === null) return;
    this.open = false;
    const { microphone } = this;
    await microphone.close();
    if (this.open || this.microphone !== microphone) return; // pressed again, or switched off, meanwhile
    this.line.end();
    this.line.tell({ on: true, sending: false, reason: "" });
  }

  /** Switch the microphone off, whether it sends or is still being opened. `reason` is reported. */
  async off(reason = ""): Promise<void> {
    const was = this.open;
    this.wanted = 0;
    if (was) await this.stop();
    const { microphone } = this;
    if (microphone === null) return;
    this.microphone = null;
    await microphone.stop();
    this.line.tell({ on: false, sending: false, reason });
  }

  /** The session came back: it knows nothing of an activity that was begun. */
  again(): void {
    if (this.open) this.line.begin();
  }

  /** Hear with this device from now on; `""`: the browser's choice. */
  async use(device: string): Promise<void> {
    const before = this.device;
    this.device = device;
    if (this.microphone === null) return;
    try {
      await this.replace();
    } catch (error) {
      this.device = before;
      throw error;
    }
  }

  /** The microphone, switched on if it is not. */
  private async on(): Promise<Microphone> {
    if (this.microphone !== null) return this.microphone;
    this.starting ??= this.switchOn().finally(() => (this.starting = null));
    return await this.starting;
  }

  private async switchOn(): Promise<Microphone> {
    const microphone = await this.ask();
    if (this.wanted > 0) this.microphone = microphone;
    else await microphone.stop();
    return microphone;
  }

  private ask(): Promise<Microphone> {
    const { device, worklet } = this;
    return Microphone.start({ device, rate: this.line.rate(), worklet }, {
      heard: (pcm) => this.line.send(pcm),
      lost: (unplugged) => void this.lost(unplugged),
    });
  }

  /** Replace the microphone that is on by the chosen one, which sends if the old one did. */
  private async replace(): Promise<void> {
    const old = this.microphone;
    const next = await this.ask();
    if (old === null || this.microphone !== old) return await next.stop(); // switched off meanwhile
    this.microphone = next;
    if (this.open) next.open();
    await old.stop();
  }

  /** One that is unplugged has a successor, if the browser knows another; one that was taken away has none. */
  private async lost(unplugged: boolean): Promise<void> {
    if (!unplugged) return await this.off("the microphone was taken away");
    this.device = "";
    try {
      await this.replace();
      const reason = "the microphone was unplugged: another one is used now";
      if (this.microphone !== null) this.line.tell({ on: true, sending: this.open, reason });
    } catch (error) {
      await this.off(`the microphone was unplugged: ${error instanceof LiveError ? error.message : String(error)}`);
    }
  }
}
