// Where one types, speaks and stops.

import { LiveError, type State as LineState, type VideoKind } from "../../dist/client.js";
import { byId, setAttribute, setText } from "./dom.js";

export interface ComposerActions {
  send(text: string): Promise<void>;
  stop(): void;
  /** Let the browser play what the model says. */
  startAudio(): Promise<void>;
  microphone(on: boolean): Promise<void>;
  video(kind: VideoKind | null): Promise<void>;
}

const DRAFT = "livetools draft"; // in the tab's own storage

export class Composer {
  private readonly message = byId<HTMLTextAreaElement>("message");
  private readonly stop = byId<HTMLButtonElement>("stop");
  private readonly hold = byId<HTMLButtonElement>("hold");
  private readonly open = byId<HTMLButtonElement>("microphone");
  private readonly preview = byId<HTMLVideoElement>("preview");
  private readonly videos: Record<VideoKind, HTMLButtonElement> = { camera: byId("camera"), screen: byId("screen") };
  private listening = false; // the microphone was opened, not only held
  private seen: VideoKind | null = null;

  constructor(private readonly actions: ComposerActions) {
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.send());
    });
    this.message.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.attempt(() => this.send());
    });
    this.stop.addEventListener("click", () => actions.stop());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.stop.disabled) actions.stop();
    });
    byId("start-audio").addEventListener("click", () => this.attempt(() => actions.startAudio()));
    this.message.value = sessionStorage.getItem(DRAFT) ?? "";
    this.message.addEventListener("input", () => this.keep());
    this.open.addEventListener("click", () => this.attempt(() => this.toggleMicrophone()));
    for (const kind of ["camera", "screen"] as const) {
      this.videos[kind].addEventListener("click", () => this.attempt(() => actions.video(this.seen === kind ? null : kind)));
    }
  }

  /** The push-to-talk button, for `LiveClient.holdToTalk()`. */
  get talk(): HTMLElement {
    return this.hold;
  }

  /** Show the button without which the model is not heard. */
  silent(silent: boolean): void {
    byId("start-audio").hidden = !silent;
  }

  /** Give a text back that was not taken, above what was typed meanwhile. */
  giveBack(text: string): void {
    this.message.value = this.message.value === "" ? text : `${text}\n${this.message.value}`;
    this.keep();
  }

  /** What is typed survives a reload, in this tab. */
  private keep(): void {
    if (this.message.value === "") sessionStorage.removeItem(DRAFT);
    else sessionStorage.setItem(DRAFT, this.message.value);
  }

  /** Enable the controls that work in this state of the connection. */
  enable(state: LineState): void {
    const gone = state === "ended" || state === "closed";
    for (const button of [this.hold, this.open, ...Object.values(this.videos)]) button.disabled = state !== "ready";
    this.message.placeholder = gone ? "New session begins another one" : "Message";
  }

  /** Whether there is something to stop. */
  busy(busy: boolean): void {
    if (this.stop.disabled !== busy) return;
    const focused = document.activeElement === this.stop;
    this.stop.disabled = !busy;
    if (focused && !busy) this.message.focus();
  }

  microphone(on: boolean, sending: boolean): void {
    if (!on) this.listening = false;
    setAttribute(this.open, "aria-pressed", String(this.listening && sending));
  }

  video(kind: VideoKind | null, stream: MediaStream | null): void {
    this.seen = kind;
    this.preview.hidden = stream === null;
    this.preview.srcObject = stream;
    if (stream !== null) this.preview.play().catch(() => {}); // it may be switched off before it plays
    for (const [name, button] of Object.entries(this.videos)) setAttribute(button, "aria-pressed", String(name === kind));
  }

  levels({ input, output }: { input: number; output: number }): void {
    show(byId("level-in"), input);
    show(byId("level-out"), output);
  }

  /** A sentence on what went wrong; none takes it away. */
  trouble(text: string): void {
    const shown = byId("trouble");
    shown.hidden = text === "";
    setText(shown, text);
  }

  /** A sentence on an end as it should be. */
  calm(text: string): void {
    const shown = byId("calm");
    shown.hidden = text === "";
    setText(shown, text);
  }

  private async send(): Promise<void> {
    const text = this.message.value;
    if (text.trim() === "") return;
    this.message.value = "";
    this.keep();
    try {
      await this.actions.send(text);
    } catch (error) {
      this.giveBack(text);
      throw error;
    }
  }

  private async toggleMicrophone(): Promise<void> {
    this.listening = !this.listening;
    try {
      await this.actions.microphone(this.listening);
    } catch (error) {
      this.listening = false;
      throw error;
    }
  }

  private attempt(act: () => Promise<void>): void {
    this.trouble("");
    act().catch((error: unknown) => this.trouble(error instanceof LiveError ? error.message : String(error)));
  }
}

/** A level as a bar: its square root, for the ear hears loudness so. */
function show(meter: HTMLElement, level: number): void {
  const share = Math.min(1, Math.sqrt(level) * 1.4);
  setAttribute(meter, "aria-valuenow", String(Math.round(share * 100)));
  const bar = meter.firstElementChild as HTMLElement;
  bar.style.transform = `scaleX(${share.toFixed(3)})`;
}
