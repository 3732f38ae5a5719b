// What the model says in a recording that has sound: played as it came, and cut off where somebody cut in.

import { Player } from "../../dist/client.js";
import type { Conversation } from "./archive.js";

const RATE = 24_000; // Hz, where a recording says none

/** A piece of speech, in base64; `null`: what was said before is heard no more. */
interface Piece {
  at: number;
  speech: { data: string; rate: number } | null;
}

export class ReplaySound {
  private readonly pieces: Piece[];
  private next = 0;
  private player: Player | null = null;

  constructor({ frames, messages }: Conversation) {
    const speech = frames.flatMap(({ time, direction, frame }) => (direction === "server" ? piecesOf(time, frame) : []));
    const cuts = messages.filter(({ type }) => type === "Interrupted").map(({ at }): Piece => ({ at, speech: null }));
    this.pieces = [...speech, ...cuts].sort((one, other) => one.at - other.at);
  }

  /** From 0 to 1. */
  get level(): number {
    return this.player?.meter.level() ?? 0;
  }

  /** Play what came until `position`. Call it from a click first: browsers are silent before. */
  play(position: number): void {
    if (this.pieces.length === 0) return;
    this.player ??= new Player(RATE);
    void this.player.resume().catch(() => {}); // without sound, the replay still shows the conversation
    for (; this.next < this.pieces.length && this.pieces[this.next]!.at <= position; this.next++) {
      const { speech } = this.pieces[this.next]!;
      if (speech === null) this.player.flush();
      else this.player.write(bytes(speech.data), speech.rate);
    }
  }

  /** Stop the sound, and continue at `position` with the next `play()`. */
  seek(position: number): void {
    this.player?.flush();
    const after = this.pieces.findIndex(({ at }) => at > position);
    this.next = after < 0 ? this.pieces.length : after;
  }

  close(): void {
    void this.player?.close();
    this.player = null;
  }
}

interface SpokenFrame {
  serverContent?: { modelTurn?: { parts?: { inlineData?: { mimeType?: string; data?: string } }[] } };
}

function piecesOf(at: number, frame: unknown): Piece[] {
  const parts = (frame as SpokenFrame).serverContent?.modelTurn?.parts ?? [];
  return parts.flatMap(({ inlineData }) => {
    const { data, mimeType = "audio/pcm" } = inlineData ?? {};
    const isSound = data !== undefined && mimeType.startsWith("audio/pcm") && !data.startsWith("<"); // its place, without it
    const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? RATE);
    return isSound ? [{ at, speech: { data, rate: rate >= 8000 && rate <= 96_000 ? rate : RATE } }] : [];
  });
}

/** The bytes of base64, in either alphabet; none of what is not. */
function bytes(data: string): ArrayBuffer {
  try {
    return Uint8Array.from(atob(data.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0)).buffer;
  } catch {
    return new ArrayBuffer(0);
  }
}
