/** Message of the page to the audio thread: whether to send sound. On closing, the thread sends the rest, then `closed`. */
export interface Gate {
    open: boolean;
}
/** Message of the audio thread to the page: 16-bit PCM, or that no more follows until the gate is opened again. */
export type Heard = {
    pcm: ArrayBuffer;
} | {
    closed: true;
};
