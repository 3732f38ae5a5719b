/** The events of the client, and the handlers that a page has for them. */
import type { Quality } from "./heartbeat.js";
import type { RelayMessage } from "./messages.js";
import type { Seen } from "./pictures.js";
import type { Typed } from "./typed.js";
/** The state of the connection to the relay. `ended` is final: `connect()` begins another session. */
export type State = "closed" | "connecting" | "ready" | "reconnecting" | "ended";
/** What the client tells beside the messages of the relay. */
export interface OwnEvents {
    /** Every message of the relay, before the handlers of its type. `replayed`: it happened while the page was away. */
    message: {
        message: RelayMessage;
        replayed: boolean;
    };
    state: {
        state: State;
        reason: string;
    };
    microphone: {
        on: boolean;
        sending: boolean;
        reason: string;
    };
    video: Seen;
    /** Speech of the model: 16-bit PCM, which is being played as well. */
    speech: {
        pcm: ArrayBuffer;
        rate: number;
    };
    /** Sound of the microphone that the line did not take in time. */
    unsent: {
        seconds: number;
    };
    /** The typed turns that wait for the relay have changed: `waiting` has them. */
    typed: {
        waiting: readonly Typed[];
    };
    /** A typed turn was not accepted, or its session is over: give it back to the user. */
    rejected: Typed & {
        reason: string;
    };
    /** Whether the browser plays what the model says. Where not, show a button that calls `startAudio()`. */
    playback: {
        canPlay: boolean;
    };
    /** How well the line to the relay carries; `seconds` there and back, `null` where it is lost. */
    quality: {
        quality: Quality;
        seconds: number | null;
    };
}
/** The events by name: the messages of the relay, and those of the client itself. */
export type Events = OwnEvents & {
    [M in RelayMessage as M["type"]]: M;
};
export type Handler<E> = (event: E) => void;
/** The handlers of a page, by the type of their event. */
export declare class Handlers {
    private readonly all;
    /** Call `handler` for each event of this type. Returns a function that removes the handler. */
    on<K extends keyof Events>(type: K, handler: Handler<Events[K]>): () => void;
    tell<K extends keyof Events>(type: K, event: Events[K]): void;
}
