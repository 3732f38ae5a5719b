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
import type { Command, Ended, Ready, RelayMessage } from "./messages.js";
import { INPUT_RATE, OUTPUT_RATE, PROTOCOL, RESUME } from "./messages.js";
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
  message: { message: RelayMessage; replayed: boolean };
  state: { state: State; reason: string };
  microphone: { on: boolean; sending: boolean; reason: string };
  video: { kind: VideoKind | null; stream: MediaStream | null; reason: string };
  /** Speech of the model: 16-bit PCM, which is being played as well. */
  speech: { pcm: ArrayBuffer; rate: number };
  /** Sound of the microphone that the line did not take in time. */
  unsent: { seconds: number };
}

type Events = OwnEvents & { [M in RelayMessage as M["type"]]: M };
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

const BACKLOG = 32_000; // bytes that the socket has not taken, past which sound is not worth sending any more
const FINAL = new Set([1000, 1011, 4400, 4409]); // close codes after which nobody comes back by itself
const AGAIN = 1013; // the session ended just when the page came back
const FIRST_PAUSE = 250; // milliseconds before the second try; each pause is twice as long as the one before
const LAST_PAUSE = 8000;

export class LiveClient {
  /** The relay's first word, with the model and its tools; `null` before. */
  ready: Ready | null = null;
  private socket: WebSocket | null = null;
  private handlers = new Map<string, Set<Handler<never>>>();
  private current: State = "closed";
  private seen = 0; // the newest event that this page has
  private rate = OUTPUT_RATE as number;
  private unacknowledged: string[] = []; // texts that the relay has not said it took
  private tries = 0;
  private retry: number | undefined;
  private speaker: Player | null = null;
  private repeated = false; // the texts, since `ready`
  private last: Ended | null = null; // the last word of the session
  private microphone: Microphone | null = null;
  private starting: Promise<void> | null = null;
  private talking = false;
  private video: Video | null = null;
  private readonly url: URL;
  private readonly worklet: URL;
  private readonly storage: LiveOptions["storage"];
  private readonly attempts: number;

  constructor(options: LiveOptions = {}) {
    this.url = new URL(options.url ?? ".", import.meta.url);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    this.worklet = new URL(options.worklet ?? "worklet.js", import.meta.url);
    this.storage = options.storage === undefined ? window.sessionStorage : options.storage;
    this.attempts = options.attempts ?? 10;
  }

  get state(): State {
    return this.current;
  }

  /** Call `handler` for each event of this type. Returns what takes it away again. */
  on<K extends keyof Events>(type: K, handler: Handler<Events[K]>): () => void {
    const handlers = this.handlers.get(type) ?? new Set();
    this.handlers.set(type, handlers.add(handler as Handler<never>));
    return () => handlers.delete(handler as Handler<never>);
  }

  // The line

  /**
   * Begin a session, or go on with the one that this tab had. Resolves when it stands; rejects with a
   * {@link LiveError} when there is none to be had.
   */
  async connect(): Promise<Ready> {
    if (this.socket !== null || this.retry !== undefined) throw new LiveError("connect() was called already");
    this.speaker ??= new Player(OUTPUT_RATE);
    void this.speaker.resume();
    this.seen = 0;
    this.tries = 0;
    this.last = null;
    this.unacknowledged = [];
    const settled = new Promise<Ready>((resolve, reject) => {
      const done = [
        this.on("ready", (ready) => (done.forEach((off) => off()), resolve(ready))),
        this.on("state", ({ state, reason }) => {
          if (state !== "ended" && state !== "closed") return;
          done.forEach((off) => off());
          reject(new LiveError(reason));
        }),
      ];
    });
    this.dial("connecting");
    return settled;
  }

  /** Leave. The session is kept for a while, and `connect()` goes on with it. */
  async disconnect(): Promise<void> {
    await this.leave("closed", "the page left");
  }

  /** End the session. */
  async end(): Promise<void> {
    this.send({ type: "end" });
    this.storage?.removeItem(this.key);
    await this.leave("ended", "the page ended the session");
  }

  private dial(state: State, reason = ""): void {
    this.enter(state, reason);
    const token = this.storage === null ? (this.ready?.token ?? null) : (this.storage?.getItem(this.key) ?? null);
    const socket = new WebSocket(this.url, token === null ? [PROTOCOL] : [PROTOCOL, RESUME]);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      if (token !== null) this.send({ type: "resume", token, after: this.seen });
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") this.take(JSON.parse(data) as RelayMessage);
      else this.hear(data);
    };
    socket.onclose = ({ code, reason }) => this.lost(code, reason);
  }

  private lost(code: number, reason: string): void {
    const stood = this.current === "ready" || this.current === "reconnecting" || code === AGAIN;
    this.detach();
    if (code === 1000 || code === 1011) this.storage?.removeItem(this.key);
    if (FINAL.has(code)) {
      void this.release(code !== 1000); // a farewell is heard to its end
      return this.enter("ended", this.last?.message || reason || "the session is over");
    }
    if (!stood || this.tries >= this.attempts) {
      void this.release();
      return this.enter("closed", reason || "the server cannot be reached, or does not let this page in");
    }
    const pause = Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** this.tries++) * (0.8 + 0.4 * Math.random());
    this.enter("reconnecting", reason || "the line broke");
    this.retry = window.setTimeout(() => {
      this.retry = undefined;
      this.dial("reconnecting");
    }, pause);
  }

  private async leave(state: State, reason: string): Promise<void> {
    window.clearTimeout(this.retry);
    this.retry = undefined;
    this.socket?.close(1000);
    this.detach();
    this.enter(state, reason);
    await this.release();
  }

  /** Nothing that the old socket says counts any more. */
  private detach(): void {
    if (this.socket === null) return;
    this.socket.onmessage = this.socket.onclose = this.socket.onopen = null;
    this.socket = null;
  }

  /** Devices are switched off, and nothing is heard any more, unless it may be played to its end. */
  private async release(silence = true): Promise<void> {
    if (silence) this.speaker?.flush();
    this.closeVideo();
    await this.closeMicrophone();
  }

  private enter(state: State, reason = ""): void {
    this.current = state;
    this.tell("state", { state, reason });
  }

  private get key(): string {
    return `livetools ${this.url.href}`;
  }

  // What the relay says

  private take(message: RelayMessage): void {
    if (message.type === "ready") this.begin(message);
    const replayed = message.type !== "ready" && "seq" in message && message.seq! <= (this.ready?.seq ?? 0);
    switch (message.type) {
      case "Interrupted":
        this.speaker?.flush();
        break;
      case "audio_format":
        this.rate = message.rate;
        break;
      case "user_text": // taken in their order: what stands before it was refused
        this.unacknowledged.splice(0, this.unacknowledged.indexOf(message.text) + 1);
        break;
      case "ended":
        this.last = message;
        break;
    }
    if (message.type !== "ready" && "seq" in message) this.seen = message.seq!;
    this.tell("message", { message, replayed });
    this.tell(message.type, message as never);
    this.repeat();
  }

  private begin(ready: Ready): void {
    this.seen = ready.resumed ? Math.min(this.seen, ready.seq) : 0;
    this.ready = ready;
    this.rate = ready.output_rate;
    this.tries = 0;
    this.repeated = false;
    this.storage?.setItem(this.key, ready.token);
    if (this.talking && ready.activity === "manual") this.send({ type: "activity_start" });
    this.enter("ready");
  }

  /** Once all that was missed is known: send the texts again that the relay did not take before the line broke. */
  private repeat(): void {
    if (this.repeated || this.ready === null || this.seen < this.ready.seq) return;
    this.repeated = true;
    for (const text of this.unacknowledged) this.send({ type: "text", text });
  }

  private hear(pcm: ArrayBuffer): void {
    this.speaker?.write(pcm, this.rate);
    this.tell("speech", { pcm, rate: this.rate });
  }

  private tell<K extends keyof Events>(type: K, event: Events[K]): void {
    for (const handler of this.handlers.get(type) ?? []) (handler as Handler<Events[K]>)(event);
  }

  private send(command: Command): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(command));
    return true;
  }

  // What the user does

  /** A typed turn. While the line is away it waits, and is sent when it is back. */
  sendText(text: string): void {
    if (text.trim() === "") return;
    if (this.current !== "ready" && this.current !== "reconnecting") throw new LiveError("there is no session: connect()");
    this.unacknowledged.push(text);
    if (this.current === "ready" && this.repeated) this.send({ type: "text", text });
  }

  /** Stop the model: it falls silent here at once, and its turn ends. */
  interrupt(): void {
    this.speaker?.flush();
    this.send({ type: "interrupt" });
  }

  /** Let a call run that waits (`ApprovalRequested`). False while the line is away. */
  approve(id: string): boolean {
    return this.send({ type: "approve", id });
  }

  /** Refuse a call that waits; the model reads the reason. False while the line is away. */
  refuse(id: string, reason = ""): boolean {
    return this.send({ type: "refuse", id, reason });
  }

  /**
   * Answer a call to a function that is only declared (`ready.declared_only`), with any JSON value; an `Error` tells the
   * model that it failed, and why. False while the line is away.
   */
  respond(id: string, value: unknown): boolean {
    if (value instanceof Error) return this.send({ type: "respond", id, value: null, error: value.message });
    return this.send({ type: "respond", id, value: value ?? null });
  }

  // Sound

  /** Whether what the microphone hears goes out. */
  get sending(): boolean {
    return this.talking;
  }

  /** How loud the microphone and the model are now, from 0 to 1: for meters, once a frame. */
  levels(): { input: number; output: number } {
    return { input: this.microphone?.meter.level() ?? 0, output: this.speaker?.meter.level() ?? 0 };
  }

  /** Seconds of speech that are here and not heard yet. */
  get pending(): number {
    return this.speaker?.pending ?? 0;
  }

  /** What plays the model's speech: its volume, its audio context. `null` before `connect()`. */
  get player(): Player | null {
    return this.speaker;
  }

  /** Switch the microphone on: all that it hears goes out. Rejects with a {@link LiveError} that says what to do. */
  async openMicrophone(): Promise<void> {
    await this.startTalking();
  }

  /** Switch the microphone off. */
  async closeMicrophone(): Promise<void> {
    await this.stopTalking();
    const microphone = this.microphone;
    if (microphone === null) return;
    this.microphone = null;
    await microphone.stop();
    this.tell("microphone", { on: false, sending: false, reason: "" });
  }

  /** Push-to-talk: the button is down. The microphone stays on afterwards, and is silent between. */
  async startTalking(): Promise<void> {
    if (this.talking) return;
    this.talking = true;
    try {
      this.starting ??= this.startMicrophone();
      await this.starting;
    } catch (error) {
      this.talking = false;
      throw error;
    } finally {
      this.starting = null;
    }
    if (!this.talking || this.microphone === null) return; // the button was let go meanwhile
    if (this.ready?.activity === "manual") this.send({ type: "activity_start" });
    this.microphone.open();
    this.tell("microphone", { on: true, sending: true, reason: "" });
  }

  /** Push-to-talk: the button is up. What was said is heard now. */
  async stopTalking(): Promise<void> {
    if (!this.talking) return;
    this.talking = false;
    if (this.microphone === null) return;
    await this.microphone.close();
    if (this.talking) return; // pressed again meanwhile
    this.send({ type: this.ready?.activity === "manual" ? "activity_end" : "audio_end" });
    this.tell("microphone", { on: true, sending: false, reason: "" });
  }

  private async startMicrophone(): Promise<void> {
    if (this.microphone !== null) return;
    this.microphone = await Microphone.start(this.ready?.input_rate ?? INPUT_RATE, this.worklet, {
      heard: (pcm) => this.speak(pcm),
      lost: (reason) => {
        void this.closeMicrophone();
        this.tell("microphone", { on: false, sending: false, reason });
      },
    });
  }

  private speak(pcm: ArrayBuffer): void {
    if (this.socket?.readyState === WebSocket.OPEN && this.current === "ready" && this.socket.bufferedAmount < BACKLOG) {
      this.socket.send(pcm);
    } else {
      this.tell("unsent", { seconds: pcm.byteLength / 2 / INPUT_RATE });
    }
  }

  // Pictures

  /** Show the model a camera or the screen, a frame a second. Resolves with the stream, for a preview. */
  async openVideo(kind: VideoKind): Promise<MediaStream> {
    this.closeVideo();
    const video = await Video.start(
      kind,
      (data) => {
        if ((this.socket?.bufferedAmount ?? 0) < BACKLOG) this.send({ type: "video", data });
      },
      (reason) => this.closeVideo(reason),
    );
    this.video?.stop(); // another one was asked for meanwhile
    this.video = video;
    this.tell("video", { kind, stream: video.stream, reason: "" });
    return video.stream;
  }

  closeVideo(reason = ""): void {
    if (this.video === null) return;
    this.video.stop();
    this.video = null;
    this.tell("video", { kind: null, stream: null, reason });
  }
}
