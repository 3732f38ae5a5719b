/**
 * A page's side of livetools' relay: a conversation by voice, text and picture.
 *
 *     const live = new LiveClient();               // the relay that this module came from
 *     live.on("OutputTranscript", ({ text }) => show(text));
 *     await live.connect();                        // from a click, so that the browser lets it be heard
 *     live.sendText("Weather in Oslo?");
 *     live.holdToTalk(document.querySelector("button"));
 *
 * Types of all messages: `messages.ts`, made from the Python classes.
 */
import { type Device } from "./devices.js";
import { LiveError } from "./error.js";
import { type Events, type Handler, type OwnEvents, type State } from "./events.js";
import { type PageFunction } from "./functions.js";
import { type Quality } from "./heartbeat.js";
import type { Ready } from "./messages.js";
import { Microphone } from "./microphone.js";
import { Player } from "./player.js";
import { type Typed } from "./typed.js";
import { Video, type VideoKind } from "./video.js";
export * from "./messages.js";
export { LiveError, Microphone, Player, Video };
export type { Device, OwnEvents, PageFunction, Quality, State, Typed, VideoKind };
export interface LiveOptions {
    /** The root of the relay, `ws:` or `http:`; the folder that this module was loaded from, if absent. */
    url?: string | URL;
    /** Where the token is kept for a reload (`null`: nowhere). */
    storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
    /**
     * The URL of `worklet.js`, for a bundle under a policy without `script-src blob:`. If absent: the module beside this
     * one, and in a bundle the inlined one.
     */
    worklet?: string | URL;
    /** Tries to come back before the line counts as lost. */
    attempts?: number;
}
export declare class LiveClient {
    /** The relay's first word, with the model and its tools; `null` before. */
    ready: Ready | null;
    private socket;
    private current;
    private opening;
    private seen;
    private rate;
    private tries;
    private retry;
    private speaker;
    private sink;
    private repeated;
    private last;
    private heartbeat;
    private measured;
    private readonly handlers;
    private readonly typed;
    private readonly claim;
    private readonly functions;
    private readonly voice;
    private readonly pictures;
    private readonly url;
    private readonly storage;
    private readonly attempts;
    constructor(options?: LiveOptions);
    get state(): State;
    /** Call `handler` for each event of this type. Returns a function that removes the handler. */
    on<K extends keyof Events>(type: K, handler: Handler<Events[K]>): () => void;
    /**
     * Begin a session, or resume the one of this tab. Resolves when the session is open. Rejects with a
     * {@link LiveError} if no session can be opened, or if `disconnect()` is called first. Until then, further calls
     * return the same promise.
     */
    connect(): Promise<Ready>;
    /** Close the connection. The relay keeps the session for a while, and `connect()` resumes it. */
    disconnect(): Promise<void>;
    /** End the session. */
    end(): Promise<void>;
    /** How well the line to the relay carries; `null` before it was measured. */
    get quality(): Quality | null;
    /** Resolves at `ready`, rejects when there is no session. */
    private settled;
    /** Begin a session unless one is open. Resolves when it is open. */
    private session;
    private dial;
    private lost;
    private leave;
    /** Nothing that the old socket says counts any more. */
    private detach;
    /** Devices are switched off, and nothing is heard any more, unless it may be played to its end. */
    private release;
    private enter;
    /** There is no session any more, and nobody comes back to it: what it has not taken goes back to the user. */
    private finish;
    private get key();
    private take;
    private begin;
    private watch;
    private judge;
    /** Once all that was missed is known: the texts go out that the relay did not take before the line broke, functions run. */
    private catchUp;
    private hear;
    private send;
    /** A typed turn. While the line is away it waits, and is sent when it is back. Throws a {@link LiveError} where it cannot. */
    sendText(text: string): void;
    /** The typed turns that the relay has not accepted yet. */
    get waiting(): readonly Typed[];
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
    /**
     * Run `run` in this page for each call to a function that the server only declares. It is called with the arguments.
     * The value that it returns, or that its promise resolves to, is the result; an exception is sent to the model as an
     * error. `signal` is aborted when the call is cancelled. If the page is reloaded during a call, `run` is called again.
     * Returns a function that removes the handler.
     *
     *     live.tool("show_map", ({ city }) => { map.show(city); return "shown"; });
     */
    tool(name: string, run: PageFunction): () => void;
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
    /** Whether the browser plays what the model says: it does not before the user has clicked or typed on the page. */
    get canPlay(): boolean;
    /** Let the model be heard: call it from a click. Rejects with a {@link LiveError} where the browser does not start. */
    startAudio(): Promise<void>;
    private play;
    /**
     * Switch the microphone on, and send everything that it records. Begins a session if none is open. Rejects with a
     * {@link LiveError} whose message says what to do. `closeMicrophone()` cancels it at any point.
     */
    openMicrophone(): Promise<void>;
    /** Switch the microphone off. */
    closeMicrophone(): Promise<void>;
    /**
     * Push-to-talk: the button is down. Begins a session if none is open. `stopTalking()` stops sending, or cancels this
     * at any point; the microphone stays on for the next time. `holdToTalk(button)` calls both methods.
     */
    startTalking(): Promise<void>;
    /** Push-to-talk: the button is up. What was said is heard now. */
    stopTalking(): Promise<void>;
    /**
     * Make `button` a push-to-talk button: the microphone sends only while the button is held, with a mouse, a finger, the
     * space bar or Enter. The first press begins the session. Errors are reported by the event `microphone`. Returns a
     * function that removes the handlers.
     */
    holdToTalk(button: HTMLElement): () => void;
    private trouble;
    private speak;
    /**
     * Show the model a camera or the screen, a frame a second. Resolves with the stream, for a preview; with one that has
     * ended where `closeVideo()` came first.
     */
    openVideo(kind: VideoKind): Promise<MediaStream>;
    closeVideo(reason?: string): void;
    /** The microphones of this machine. Before the user has let the page use one, the browser tells neither id nor name. */
    microphones(): Promise<Device[]>;
    /** The speakers and headphones. Empty where the browser does not let a page choose. */
    speakers(): Promise<Device[]>;
    cameras(): Promise<Device[]>;
    /** Hear with this microphone from now on, also in the middle of a word; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    useMicrophone(id: string): Promise<void>;
    /** Play on this speaker from now on; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    useSpeaker(id: string): Promise<void>;
    /** See with this camera from now on; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    useCamera(id: string): Promise<void>;
}
