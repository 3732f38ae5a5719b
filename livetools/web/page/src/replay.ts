// A recording, as it went: its own clock, which can be stopped, moved and made faster.

import { keepFrames, type Conversation } from "./archive.js";
import { byId, setAttribute, setText } from "./dom.js";
import { duration } from "./format.js";
import { ReplaySound } from "./replay_sound.js";
import { initial, lose, reduce, type State } from "./state.js";

const LONGEST = 2; // seconds of silence that are waited for: what is longer is cut

export class Replay {
  /** Seconds of the recording that are shown. */
  position: number;
  state: State;
  private shown = 0; // messages
  private playing = false;
  private speed = 1;
  private last = 0; // the time of the page when the clock last moved
  private waited = 0; // seconds since something happened
  private readonly end: number;
  private readonly off = new AbortController();
  private readonly sound: ReplaySound;

  /** `changed` is called when there is something else to draw, `closed` when the user has seen enough. */
  constructor(
    private readonly conversation: Conversation,
    private readonly keys: number,
    private readonly changed: () => void,
    closed: () => void,
  ) {
    this.sound = new ReplaySound(conversation);
    this.end = Math.max(0, ...conversation.messages.slice(-1).map(({ at }) => at));
    this.position = this.end;
    this.state = this.rebuilt();
    const { signal } = this.off;
    byId("replay").hidden = false;
    setText(byId("replay-name"), conversation.name);
    byId("replay-play").addEventListener("click", () => this.toggle(), { signal });
    byId("replay-close").addEventListener("click", closed, { signal });
    const place = byId<HTMLInputElement>("replay-place");
    place.max = String(this.end);
    place.addEventListener("input", () => this.seek(Number(place.value)), { signal });
    const speed = byId<HTMLSelectElement>("replay-speed");
    speed.addEventListener("change", () => this.hasten(Number(speed.value)), { signal });
    this.hasten(Number(speed.value));
    this.show();
  }

  get name(): string {
    return this.conversation.name;
  }

  /** How loud the model is, from 0 to 1. */
  get level(): number {
    return this.sound.level;
  }

  /** Let the time pass; `now` is the page's, in seconds. */
  tick(now: number): void {
    if (!this.playing) return;
    let passed = (now - this.last) * this.speed;
    this.last = now;
    const next = this.conversation.messages[this.shown]?.at ?? this.end;
    this.waited += passed;
    if (this.waited > LONGEST * this.speed && next > this.position) passed = next - this.position;
    this.forward(Math.min(this.end, this.position + passed));
    if (this.speed === 1) this.sound.play(this.position);
    if (this.position >= this.end) this.stop();
    this.show();
    this.changed();
  }

  close(): void {
    this.off.abort();
    this.sound.close();
    byId("replay").hidden = true;
  }

  private toggle(): void {
    if (this.playing) {
      this.sound.seek(this.position);
      return this.stop();
    }
    this.seek(this.position >= this.end ? 0 : this.position);
    this.playing = true;
    this.last = performance.now() / 1000;
    this.waited = 0;
    this.show();
  }

  private stop(): void {
    this.playing = false;
    this.show();
  }

  /** Speech is heard at its own speed alone. */
  private hasten(speed: number): void {
    this.speed = speed;
    this.sound.seek(this.position);
  }

  private seek(position: number): void {
    this.position = position;
    this.sound.seek(position > 0 ? position : -1);
    this.waited = 0;
    this.state = this.rebuilt();
    this.show();
    this.changed();
  }

  private forward(position: number): void {
    const { messages } = this.conversation;
    const before = this.shown;
    this.position = position;
    while (this.shown < messages.length && messages[this.shown]!.at <= position) reduce(this.state, messages[this.shown++]!);
    if (this.shown > before) this.waited = 0;
    this.settle();
  }

  private rebuilt(): State {
    this.state = initial([], this.keys);
    this.shown = 0;
    this.forward(this.position);
    return this.state;
  }

  private settle(): void {
    if (this.shown === this.conversation.messages.length) lose(this.state); // the recording is over: end what is still open
    keepFrames(this.state.exchanges, this.conversation.frames);
  }

  private show(): void {
    setText(byId("replay-play"), this.playing ? "Pause" : "Play");
    const place = byId<HTMLInputElement>("replay-place");
    place.value = String(this.position);
    const told = `${duration(this.position)} of ${duration(this.end)}`;
    setAttribute(place, "aria-valuetext", told);
    setText(byId("replay-time"), told);
  }
}
