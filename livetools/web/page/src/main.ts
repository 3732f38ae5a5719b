// The page: one client, one state, and the views that follow it.

import { LiveClient, LiveError, type Ready, type RelayMessage, type VideoKind } from "../../dist/client.js";
import { Announcer } from "./announcer.js";
import { Composer } from "./composer.js";
import { ExchangeView, SendingView } from "./conversation.js";
import { byId, List, setText } from "./dom.js";
import { download, transcriptOf } from "./exports.js";
import { Header, type Facts } from "./header.js";
import { Overview } from "./overview.js";
import { showSetup, type SetupMessage } from "./setup.js";
import { SpeechEnd } from "./speech.js";
import { current, divider, initial, isBusy, lose, reduce, runs, waitsForPerson } from "./state.js";
import type { Entry, Exchange, Run, State } from "./state.js";
import { ExchangeBars, hasRows, idOf, type Frame, type Wanted } from "./timeline.js";
import { Tools, type Declared } from "./tools.js";

const TICK = 100; // milliseconds between drawings of what grows with time
const NO_SESSION = "There is no session any more. “New session” begins another one.";
const NEW_SESSION = "a new session: the model does not know what stands above";
const NEAR = 80; // pixels from the end within which a side follows what is new

const WIDE = window.matchMedia("(min-width: 60.01rem)");

/** A scrolled side of the page, which follows its end while its end is in sight. */
class Side {
  private readonly scroll: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly list: List<Exchange>;
  private follows = true;
  private top = 0; // when it last scrolled

  constructor(name: string, make: (exchange: Exchange) => ExchangeView | ExchangeBars) {
    this.scroll = byId(`${name}-scroll`);
    this.scroll.addEventListener("scroll", () => this.scrolled());
    new ResizeObserver(() => this.follow()).observe(this.scroll); // a keyboard opens, a phone is turned
    this.empty = byId(`${name}-empty`);
    this.list = new List(byId(name), make);
  }

  /** `more`: something is shown beside the exchanges. */
  update(exchanges: readonly Exchange[], now: number, more = false): void {
    this.empty.hidden = exchanges.length > 0 || more;
    this.list.update(exchanges, now);
    this.follow();
  }

  /** Whoever scrolls back stays there; what grows below is no such wish. */
  private scrolled(): void {
    const { scrollTop } = this.scroll;
    if (scrollTop < this.top || this.atEnd) this.follows = this.atEnd;
    this.top = scrollTop;
  }

  private get atEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.scroll;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  private follow(): void {
    if (this.follows) this.scroll.scrollTop = this.scroll.scrollHeight;
  }
}

class Page {
  private state: State = initial();
  private live = this.client();
  private offset = Infinity; // between this page's clock and the session's
  private drawing = false;
  private past: Exchange[] = []; // of sessions before, which were not kept; and what stands between
  private early: { key: number; text: string }[] = []; // typed before the session stands
  private sending = new List<{ key: number; text: string }>(byId("waiting"), (typed) => new SendingView(typed));
  private refs = new Map<string, number>(); // of the texts that are on their way: their keys
  private turns = 0; // on the timeline
  private release = (): void => {}; // of the button of push-to-talk
  private readonly wanted: Wanted = { text: "", failures: false };
  private readonly overview = new Overview();
  private readonly tools = new Tools();
  private readonly tabs = new Tabs(() => this.tools.clear());
  private opening: Promise<void> | undefined; // of the session
  private readonly header: Header;
  private readonly announcer = new Announcer(byId("announcer"));
  private readonly composer: Composer;
  private readonly speech = new SpeechEnd((at) => this.take({ type: "speech_ended", at: at - this.offset }));
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
      startAudio: () => this.live.startAudio(),
      microphone: (on) => (on ? this.live.openMicrophone() : this.live.closeMicrophone()),
      video: (kind) => this.show(kind),
    });
    this.conversation = new Side("conversation", () => new ExchangeView(this.decide));
    const frames = (call: { id: string; name: string }): Promise<Frame[]> => this.frames(call.id, call.name);
    this.timeline = new Side("timeline", () => new ExchangeBars(++this.turns, frames, this.wanted));
    this.release = this.live.holdToTalk(this.composer.talk);
    this.listenToFilter();
    window.setInterval(() => this.tick(), TICK);
  }

  private readonly decide = {
    approve: (id: string) => this.live.approve(id),
    refuse: (id: string, reason: string) => this.live.refuse(id, reason),
    respond: (id: string, value: unknown) => this.live.respond(id, value),
    reveal: (run: Run) => this.reveal(run),
  };

  private listenToFilter(): void {
    const search = byId<HTMLInputElement>("timeline-search");
    const failures = byId("failures");
    search.addEventListener("input", () => {
      this.wanted.text = search.value.trim().toLocaleLowerCase();
      this.draw();
    });
    failures.addEventListener("click", () => {
      this.wanted.failures = !this.wanted.failures;
      failures.setAttribute("aria-pressed", String(this.wanted.failures));
      this.draw();
    });
  }

  /** Open a call on the timeline. */
  private reveal(run: Run): void {
    this.tabs.show("timeline");
    const button = document.getElementById(idOf(run));
    if (button?.getAttribute("aria-expanded") === "false") button.click();
    button?.scrollIntoView({ block: "start" });
    button?.focus();
  }

  /** Begin a session, or go on with the one that this tab had; `facts` is what is known before it stands. */
  start(facts: Promise<Facts>): Promise<void> {
    this.opening = facts.then((known) => {
      this.header.tell(known);
      this.tools.tell(known.tools);
      return this.open();
    });
    return this.opening;
  }

  private async open(): Promise<void> {
    try {
      await this.live.connect();
    } catch (error) {
      if (this.state.line !== "failed") this.composer.trouble(reasonOf(error)); // else its reason has been told
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
    live.on("typed", () => live === this.live && this.draw());
    live.on("rejected", ({ text, reason }) => {
      if (live !== this.live) return;
      this.composer.giveBack(text);
      this.composer.trouble(`this message was not sent: ${reason}`);
    });
    live.on("playback", ({ canPlay }) => live === this.live && this.composer.silent(!canPlay));
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
        if (message.ref === undefined) this.composer.trouble(message.message); // else the text comes back
        return;
      case "ended":
        this.take({ ...message, at: message.at ?? this.now() });
        if (message.error === null) this.composer.calm(NO_SESSION);
        else this.composer.trouble(NO_SESSION);
        return;
      case "VideoChunk": // an avatar has no place on this page
      case "alive":
      case "pong":
        return;
      default:
        this.take(message);
        if (message.type === "agent") this.learn(message.tools);
        if (!replayed) this.announcer.tell(this.state, message);
    }
  }

  private begin({ resumed, at, missed, tools, agent, declared_only }: Ready): void {
    const lost = !resumed && this.state.exchanges.length > 0;
    if (lost) this.archive();
    else if (!resumed) this.reset();
    this.state.declaredOnly = new Set(declared_only);
    this.state.agent = agent;
    this.offset = performance.now() / 1000 - at;
    this.composer.calm("");
    this.composer.trouble(missed > 0 ? `${missed} older events of this session are not kept any more` : "");
    this.learn(tools);
  }

  /** The names are known at once; what was declared of them, and all that was sent, is asked for. */
  private learn(names: readonly string[]): void {
    this.tools.name(names);
    void this.ask("/session.json")
      .then(async (answer) => {
        if (!answer.ok) return;
        const { tools, setup } = (await answer.json()) as { tools: Declared[]; setup: SetupMessage };
        this.tools.tell(tools);
        showSetup(setup);
      })
      .catch(() => {}); // the line is away: it is asked for again when it is back
  }

  /** What was said in a session that is not kept stays, above a line. */
  private archive(): void {
    this.past.push(...lose(this.state), divider(this.state, NEW_SESSION));
    this.state = initial([], this.state.keys);
    this.offset = Infinity;
    this.draw();
  }

  private reset(): void {
    this.state = initial([], this.state.keys);
    this.past = [];
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
      const all = [...this.past, ...this.state.exchanges];
      this.sending.update([...this.early, ...this.live.waiting.map(({ ref, text }) => ({ key: this.keyOf(ref), text }))], now);
      this.conversation.update(all, now, this.early.length > 0 || this.live.waiting.length > 0);
      this.timeline.update(all.filter(hasRows), now);
      this.overview.update(all, now);
      byId("timeline-filter").classList.toggle("idle", all.length === 0);
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

  private keyOf(ref: string): number {
    const known = this.refs.get(ref) ?? ++this.state.keys;
    this.refs.set(ref, known);
    return known;
  }

  private async send(text: string): Promise<void> {
    await this.opened(text);
    if (this.live.state === "ended" || this.live.state === "closed") throw new LiveError(NO_SESSION);
    void this.live.player?.resume();
    this.live.sendText(text);
  }

  /** What is typed while the page or its session opens shows at once, and is sent when it stands. */
  private async opened(text: string): Promise<void> {
    const typed = { key: ++this.state.keys, text };
    this.early.push(typed);
    this.draw();
    await this.opening;
    this.early = this.early.filter((each) => each !== typed);
    this.draw();
  }

  private renew(): void {
    const old = this.live;
    this.release();
    this.live = this.client();
    this.release = this.live.holdToTalk(this.composer.talk);
    this.composer.calm("");
    this.opening = old.end().then(async () => {
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
        download("conversation.md", transcriptOf([...this.past, ...this.state.exchanges], byId("agent").textContent ?? ""), "text/markdown");
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

/** What the right side shows; on a narrow screen, the only side. The first tab says when a call waits for a person. */
class Tabs {
  private readonly buttons = document.querySelectorAll<HTMLButtonElement>("button[data-view]");

  private shown = "conversation";

  /** `away` is called when the tools are not looked at any more. */
  constructor(private readonly away: () => void) {
    for (const button of this.buttons) {
      button.addEventListener("click", () => this.show(button.dataset["view"] ?? "conversation"));
    }
    byId("all-tools").addEventListener("click", () => {
      this.show("tools");
      byId("tools-search").focus();
    });
    this.show("conversation");
    WIDE.addEventListener("change", () => this.show(this.shown));
  }

  show(view: string): void {
    this.shown = view;
    document.querySelector("main")?.setAttribute("data-view", view);
    if (view !== "tools") this.away();
    for (const each of this.buttons) {
      const { view: own } = each.dataset;
      // where the conversation is always there, its side is the timeline's unless another one is wanted
      const pressed = own === view || (own === "timeline" && view === "conversation" && WIDE.matches);
      each.setAttribute("aria-pressed", String(pressed));
    }
  }

  update({ exchanges }: State): void {
    const waiting = exchanges.flatMap(runs).filter(waitsForPerson).length;
    const [conversation] = this.buttons;
    if (conversation !== undefined) setText(conversation, waiting > 0 ? `Conversation (${waiting})` : "Conversation");
  }
}

// The page listens before anything is known: somebody may type already.
await new Page().start(fetch("/facts.json").then((answer) => answer.json() as Promise<Facts>));
