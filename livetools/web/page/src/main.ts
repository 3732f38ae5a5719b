// The page: one client, one state, and the views that follow it.

import { LiveClient, LiveError, type Ready, type RelayMessage, type VideoKind } from "../../dist/client.js";
import { Announcer } from "./announcer.js";
import { Composer } from "./composer.js";
import { ExchangeView } from "./conversation.js";
import { byId, List, setText } from "./dom.js";
import { download, transcriptOf } from "./exports.js";
import { Header, type Facts } from "./header.js";
import { SpeechEnd } from "./speech.js";
import { current, initial, isBusy, reduce, runs, waitsForPerson, type Entry, type Exchange, type State } from "./state.js";
import { ExchangeBars, hasRows, type Frame } from "./timeline.js";

const TICK = 100; // milliseconds between drawings of what grows with time
const NO_SESSION = "There is no session any more. “New session” begins another one.";
const NEAR = 80; // pixels from the end within which a side follows what is new

/** A scrolled side of the page, which follows its end while its end is in sight. */
class Side {
  private readonly scroll: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly list: List<Exchange>;

  constructor(name: string, make: (exchange: Exchange) => ExchangeView | ExchangeBars) {
    this.scroll = byId(`${name}-scroll`);
    this.empty = byId(`${name}-empty`);
    this.list = new List(byId(name), make);
  }

  update(exchanges: readonly Exchange[], now: number): void {
    const { scroll } = this;
    const follows = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
    this.empty.hidden = exchanges.length > 0;
    this.list.update(exchanges, now);
    if (follows) scroll.scrollTop = scroll.scrollHeight;
  }
}

class Page {
  private state: State = initial();
  private live = this.client();
  private offset = Infinity; // between this page's clock and the session's
  private drawing = false;
  private turns = 0; // of this session, on the timeline
  private opening: Promise<void> | undefined; // of the session
  private readonly header: Header;
  private readonly announcer = new Announcer(byId("announcer"));
  private readonly composer: Composer;
  private readonly speech = new SpeechEnd((at) => this.take({ type: "speech_ended", at: at - this.offset }));
  private readonly tabs = new Tabs();
  private readonly conversation: Side;
  private readonly timeline: Side;

  constructor() {
    this.header = new Header({
      renew: () => this.renew(),
      export: (kind) => this.export(kind),
    });
    this.composer = new Composer({
      send: (text) => this.send(text),
      stop: () => this.live.interrupt(),
      hold: (button) => this.live.holdToTalk(button),
      microphone: (on) => (on ? this.live.openMicrophone() : this.live.closeMicrophone()),
      video: (kind) => this.show(kind),
    });
    this.conversation = new Side("conversation", () => new ExchangeView(this.decide));
    this.timeline = new Side("timeline", () => new ExchangeBars(++this.turns, (call) => this.frames(call.id, call.name)));
    window.setInterval(() => this.tick(), TICK);
  }

  private readonly decide = {
    approve: (id: string) => this.live.approve(id),
    refuse: (id: string, reason: string) => this.live.refuse(id, reason),
    respond: (id: string, value: unknown) => this.live.respond(id, value),
  };

  /** Begin a session, or go on with the one that this tab had; `facts` is what is known before it stands. */
  start(facts: Promise<Facts>): Promise<void> {
    this.opening = facts.then((known) => {
      this.header.tell(known);
      return this.open();
    });
    return this.opening;
  }

  private async open(): Promise<void> {
    try {
      await this.live.connect();
    } catch (error) {
      if (this.state.line !== "ended") this.composer.trouble(reasonOf(error)); // else its reason has been told
    }
  }

  private client(): LiveClient {
    const live = new LiveClient({ url: new URL("/live/", location.href) });
    live.on("message", ({ message, replayed }) => {
      if (live === this.live) this.hear(message, replayed);
    });
    live.on("state", ({ state, reason }) => {
      if (live !== this.live) return;
      this.header.line(state, reason);
      this.composer.enable(state);
      if (state === "closed") this.composer.trouble(reason);
      this.draw();
    });
    live.on("speech", () => {
      if (current(this.state)?.answered === null) this.take({ type: "sound", at: this.now() });
    });
    live.on("microphone", ({ on, sending, reason }) => {
      this.composer.microphone(on, sending);
      if (reason) this.composer.trouble(reason);
    });
    live.on("video", ({ kind, stream, reason }) => {
      this.composer.video(kind, stream);
      if (reason) this.composer.trouble(reason);
    });
    return live;
  }

  private hear(message: RelayMessage, replayed: boolean): void {
    switch (message.type) {
      case "ready":
        this.begin(message);
        return;
      case "error":
        this.composer.trouble(message.message);
        return;
      case "ended":
        this.take({ ...message, at: message.at ?? this.now() });
        this.composer.trouble(NO_SESSION);
        return;
      case "VideoChunk": // an avatar has no place on this page
      case "alive":
      case "pong":
        return;
      default:
        this.take(message);
        if (!replayed) this.announcer.tell(this.state, message);
    }
  }

  private begin({ resumed, at, missed, declared_only }: Ready): void {
    const lost = !resumed && this.state.exchanges.length > 0;
    if (!resumed) this.reset();
    this.state.declaredOnly = new Set(declared_only);
    this.offset = performance.now() / 1000 - at;
    if (lost) this.composer.trouble("the session before was not kept any more: this is a new one");
    else this.composer.trouble(missed > 0 ? `${missed} older events of this session are not kept any more` : "");
  }

  private reset(): void {
    this.state = initial();
    this.offset = Infinity;
    this.turns = 0;
    this.draw();
  }

  private take(entry: Entry): void {
    reduce(this.state, entry);
    this.draw();
  }

  private now(): number {
    return Number.isFinite(this.offset) ? performance.now() / 1000 - this.offset : this.state.time;
  }

  private get busy(): boolean {
    return isBusy(this.state) || this.live.pending > 0;
  }

  /** Draw once before the browser does, however much has changed. */
  private draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      const now = this.now();
      this.conversation.update(this.state.exchanges, now);
      this.timeline.update(this.state.exchanges.filter(hasRows), now);
      this.header.update(this.state);
      this.tabs.update(this.state);
      this.composer.busy(this.busy);
    });
  }

  private tick(): void {
    const levels = this.live.levels();
    this.composer.levels(levels);
    if (this.live.sending) this.speech.hear(levels.input, performance.now() / 1000);
    if (isBusy(this.state)) this.draw();
    else this.composer.busy(this.busy);
  }

  private async send(text: string): Promise<void> {
    await this.opening; // what is typed while the page or its session opens is sent when it stands
    if (this.live.state === "ended" || this.live.state === "closed") throw new LiveError(NO_SESSION);
    void this.live.player?.resume();
    this.live.sendText(text);
  }

  private renew(): void {
    const old = this.live;
    this.live = this.client();
    this.opening = old.end().then(async () => {
      await old.player?.close();
      this.reset();
      await this.open();
    });
  }

  private async show(kind: VideoKind | null): Promise<void> {
    if (kind === null) this.live.closeVideo();
    else await this.live.openVideo(kind);
  }

  private ask(path: string): Promise<Response> {
    return fetch(path, { headers: { "livetools-session": this.live.ready?.token ?? "" } });
  }

  private async frames(id: string, name: string): Promise<Frame[]> {
    const answer = await this.ask(`/frames?${new URLSearchParams({ id, name })}`);
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as Frame[];
  }

  private async export(kind: string): Promise<void> {
    try {
      if (kind === "transcript") {
        download("conversation.md", transcriptOf(this.state, document.title), "text/markdown");
        return;
      }
      const answer = await this.ask(`/export/${kind}`);
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      if (kind === "recording") download("conversation.jsonl", text, "application/jsonl");
      else download("test_conversation.py", text, "text/x-python");
    } catch (error) {
      this.composer.trouble(reasonOf(error));
    }
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof LiveError || error instanceof Error ? error.message : String(error);

/** On a narrow screen one side is shown at a time; its other side says when a call waits there for a person. */
class Tabs {
  private readonly buttons = document.querySelectorAll<HTMLButtonElement>("button[data-view]");

  constructor() {
    const main = document.querySelector("main");
    for (const button of this.buttons) {
      button.addEventListener("click", () => {
        main?.setAttribute("data-view", button.dataset["view"] ?? "conversation");
        for (const each of this.buttons) each.setAttribute("aria-pressed", String(each === button));
      });
    }
  }

  update({ exchanges }: State): void {
    const waiting = exchanges.flatMap(runs).filter(waitsForPerson).length;
    const [conversation] = this.buttons;
    if (conversation !== undefined) setText(conversation, waiting > 0 ? `Conversation (${waiting} waiting)` : "Conversation");
  }
}

// The page listens before anything is known: somebody may type already.
await new Page().start(fetch("/facts.json").then((answer) => answer.json() as Promise<Facts>));
