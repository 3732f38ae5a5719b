import type { Pong } from "./messages.js";

/** How well the connection to the relay carries a conversation; `lost`: it does not. */
export type Quality = "good" | "fair" | "poor" | "lost";

const GOOD = 300; // milliseconds there and back within which nobody notices the way
const FAIR = 1000;
const SILENCE = 2.4; // times the relay's own interval: then even a late sign of life has had its time

/** What a heartbeat needs of the client, and tells it. */
export interface Beating {
  ping(id: number): void;
  /** Milliseconds there and back, of the newest answer; more where it is still waited for. */
  measured(quality: Quality, milliseconds: number): void;
  /** No byte has come for too long: the connection is dead, though no socket says so. */
  silent(seconds: number): void;
}

/**
 * Watches the connection from `ready` on. The relay sends something at least every `interval` seconds; a page asks as
 * often how long the way is.
 */
export class Heartbeat {
  private readonly timer: number;
  private heard = performance.now();
  private looked = performance.now();
  private asked: number | null = null; // when the ping that is not answered went out
  private id = 0;

  constructor(
    private readonly interval: number,
    private readonly beating: Beating,
  ) {
    this.timer = window.setInterval(() => this.look(), (interval * 1000) / 5);
    this.ask();
  }

  /** Record that a message of any type arrived. */
  sign(): void {
    this.heard = performance.now();
  }

  /** The answer to a ping. */
  pong({ id }: Pong): void {
    if (id !== this.id || this.asked === null) return;
    const milliseconds = performance.now() - this.asked;
    this.asked = null;
    this.beating.measured(milliseconds <= GOOD ? "good" : milliseconds <= FAIR ? "fair" : "poor", milliseconds);
  }

  stop(): void {
    window.clearInterval(this.timer);
  }

  private look(): void {
    const now = performance.now();
    const gap = now - this.looked;
    this.looked = now;
    if (gap > this.interval * 1000) {
      // the page was frozen, or the machine slept: messages that arrived meanwhile are handled after this
      this.heard = Math.max(this.heard, now - this.interval * 1000);
      return;
    }
    const silence = (now - this.heard) / 1000;
    if (silence > this.interval * SILENCE) return this.beating.silent(silence);
    const waited = this.asked === null ? 0 : now - this.asked;
    if (waited > FAIR) this.beating.measured("poor", waited);
    if (this.asked === null && this.due(now)) this.ask();
  }

  private sent = 0;

  private due(now: number): boolean {
    return now - this.sent >= this.interval * 1000;
  }

  private ask(): void {
    this.asked = this.sent = performance.now();
    this.beating.ping(++this.id);
  }
}
