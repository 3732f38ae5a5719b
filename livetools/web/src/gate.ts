/** What the page says to the audio thread: whether sound goes out. Closing it sends the rest, and then says `closed`. */
export interface Gate {
  open: boolean;
}

/** What the page is told: 16-bit PCM, or that no more comes until the gate is opened again. */
export type Heard = { pcm: ArrayBuffer } | { closed: true };
