/**
 * A page's side of livetools' relay: a conversation by voice, text and picture.
 *
 *     const live = new LiveClient();               // the relay that this module came from
 *     live.on("OutputTranscript", ({ text }) => show(text));
 *     await live.connect();                        // from a click, so that the browser lets it be heard
 *     live.sendText("Weather in Oslo?");
 *     await live.openMicrophone();
 *
 * Types of all messages: `messages.ts`, made from the Python classes.
 */
import { LiveError } from "./error.js";
import type { Ready, RelayMessage } from "./messages.js";
import { Microphone } from "./microphone.js";
import { Player } from "./player.js";
import { Video, type VideoKind } from "./video.js";
export * from "./messages.js";
export { LiveError, Microphone, Player, Video, type VideoKind };
/** How it stands with the line. `ended` is final: `connect()` begins another session. */
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
    video: {
        kind: VideoKind | null;
        stream: MediaStream | null;
        reason: string;
    };
    /** Speech of the model: 16-bit PCM, which is being played as well. */
    speech: {
        pcm: ArrayBuffer;
        rate: number;
    };
    /** Sound of the microphone that the line did not take in time. */
    unsent: {
        seconds: number;
    };
}
type Events = OwnEvents & {
    [M in RelayMessage as M["type"]]: M;
};
type Handler<E> = (event: E) => void;
export interface LiveOptions {
    /** The root of the relay, `ws:` or `http:`; the folder that this module was loaded from, if absent. */
    url?: string | URL;
    /** Where the token is kept for a reload (`null`: nowhere). */
    storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
    /** The module of the microphone: beside this one, if absent. Strict policies want it from the page's own site. */
    worklet?: string | URL;
    /** Tries to come back before the line counts as lost. */
    attempts?: number;
}
export declare class LiveClient {
    /** The relay's first word, with the model and its tools; `null` before. */
    ready: Ready | null;
    private socket;
    private handlers;
    private current;
    private seen;
    private rate;
    private unacknowledged;
    private tries;
    private retry;
    private speaker;
    private repeated;
    private last;
    private microphone;
    private starting;
    private talking;
    private video;
    private readonly url;
    private readonly worklet;
    private readonly storage;
    private readonly attempts;
    constructor(options?: LiveOptions);
    get state(): State;
    /** Call `handler` for each event of this type. Returns what takes it away again. */
    on<K extends keyof Events>(type: K, handler: Handler<Events[K]>): () => void;
    /**
     * Begin a session, or go on with the one that this tab had. Resolves when it stands; rejects with a
     * {@link LiveError} when there is none to be had.
     */
    connect(): Promise<Ready>;
    /** Leave. The session is kept for a while, and `connect()` goes on with it. */
    disconnect(): Promise<void>;
    /** End the session. */
    end(): Promise<void>;
    private dial;
    private lost;
    private leave;
    /** Nothing that the old socket says counts any more. */
    private detach;
    /** Devices are switched off, and nothing is heard any more, unless it may be played to its end. */
    private release;
    private enter;
    private get key();
    private take;
    private begin;
    /** Once all that was missed is known: send the texts again that the relay did not take before the line broke. */
    private repeat;
    private hear;
    private tell;
    private send;
    /** A typed turn. While the line is away it waits, and is sent when it is back. */
    sendText(text: string): void;
    /** Stop the model: it falls silent here at once, and its turn ends. */
    interrupt(): void;
    /** Let a call run that waits (`ApprovalRequested`). False while the line is away. */
    approve(id: string): boolean;
    /** Refuse a call that waits; the model reads the reason. False while the line is away. */
    refuse(id: string, reason?: string): boolean;
    /**
     * Answer a call to a function that is only declared (`ready.declared_only`), with any JSON value; an `Error` tells the
     * model that it failed, and why. False while the line is away.
     */
    respond(id: string, value: unknown): boolean;
    /** Whether what the microphone hears goes out. */
    get sending(): boolean;
    /** How loud the microphone and the model are now, from 0 to 1: for meters, once a frame. */
    levels(): {
        input: number;
        output: number;
    };
    /** Seconds of speech that are here and not heard yet. */
    get pending(): number;
    /** What plays the model's speech: its volume, its audio context. `null` before `connect()`. */
    get player(): Player | null;
    /** Switch the microphone on: all that it hears goes out. Rejects with a {@link LiveError} that says what to do. */
    openMicrophone(): Promise<void>;
    /** Switch the microphone off. */
    closeMicrophone(): Promise<void>;
    /** Push-to-talk: the button is down. The microphone stays on afterwards, and is silent between. */
    startTalking(): Promise<void>;
    /** Push-to-talk: the button is up. What was said is heard now. */
    stopTalking(): Promise<void>;
    private startMicrophone;
    private speak;
    /** Show the model a camera or the screen, a frame a second. Resolves with the stream, for a preview. */
    openVideo(kind: VideoKind): Promise<MediaStream>;
    closeVideo(reason?: string): void;
}
