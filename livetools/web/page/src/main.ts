// The page: one client, one state, and the views that follow it.

import { LiveClient, LiveError, type Ready, type RelayMessage, type VideoKind } from "../../dist/client.js";
import { Announcer } from "./announcer.js";
import { archivedFrames, setupOf, stateOf, type Conversation } from "./archive.js";
import { Composer } from "./composer.js";
import { ExchangeView, SendingView } from "./conversation.js";
import { byId, List, setText } from "./dom.js";
import { download, transcriptOf } from "./exports.js";
import { Header } from "./header.js";
import { Overview } from "./overview.js";
import { Replay } from "./replay.js";
import { Server } from "./server.js";
import { Sessions, type Kept } from "./sessions.js";
import { Setup, type Choices } from "./setup.js";
import { Side } from "./side.js";
import { SpeechEnd } from "./speech.js";
import { current, divider, initial, isBusy, lose, reduce } from "./state.js";
import type { Call, Entry, Exchange, Run, State } from "./state.js";
import { Tabs } from "./tabs.js";
import { ExchangeBars, hasRows, idOf, type Frame, type Wanted } from "./timeline.js";
import { Tools } from "./tools.js";

const TICK = 100; // milliseconds between drawings of what grows with time
const NO_SESSION = "There is no session any more. “New session” begins another one.";
const NEW_SESSION = "a new session: the model does not know the conversation above";
const TOKEN = "livetools token"; // in the tab's own storage
const CHOICES = "livetools choices"; // the same
const SAME_SESSION = "the session continues: the model knows the conversation above";

class Page {
  private choices = ""; // the key of what was chosen for this page's sessions
  private state: State = initial();
  private live = this.client();
  private offset = Infinity; // between this page's clock and the session's
  private drawing = false;
  private past: Exchange[] = []; // the exchanges of earlier sessions, and the dividers after them
  private joining: string | null = null; // id of the listed session to which the next one is added
  private id: string | null = null; // of the page's session, among those that are kept
  private keeps = false; // the server keeps sessions
  private replay: Replay | null = null; // the recording that is shown in place of a session
  private early: { key: number; text: string }[] = []; // texts typed before the session is open
  private sending = new List<{ key: number; text: string }>(byId("waiting"), (typed) => new SendingView(typed));
  private refs = new Map<string, number>(); // of the texts that are on their way: their keys
  private numbers = new WeakMap<Exchange, number>(); // of turns on the timeline
  private release = (): void => {}; // of the button of push-to-talk
  private opening: Promise<void> | undefined; // of the session
  private readonly wanted: Wanted = { text: "", failures: false };
  private readonly server = new Server(() => this.live.ready?.token ?? "");
  private readonly overview = new Overview((run) => this.reveal(run));
  private readonly tools = new Tools();
  private readonly setup = new Setup((choices) => void this.choose(choices));
  private readonly sessions: Sessions;
  private readonly tabs: Tabs;
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
    const trouble = (error: unknown): void => this.composer.trouble(reasonOf(error));
    this.sessions = new Sessions(
      {
        list: () => this.server.sessions(),
        reopen: (session) => this.reopen(session),
        delete: (session) => this.delete(session),
        show: async (file) => this.watch(await this.server.recording(file)),
      },
      trouble,
    );
    this.tabs = new Tabs((view) => {
      if (view !== "tools") this.tools.clear();
      if (view === "sessions") this.sessions.refresh().catch(trouble);
    });
    this.conversation = new Side("conversation", () => new ExchangeView(this.decide));
    this.timeline = new Side("timeline", (exchange) => this.bars(exchange));
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

  private bars(exchange: Exchange): ExchangeBars {
    const actions = {
      frames: async (call: Call): Promise<Frame[]> => archivedFrames(exchange, call) ?? (await this.server.frames(call)),
      opened: (run: Run) => this.point(run),
      asked: (run: Run) => {
        this.tabs.show("conversation");
        this.point(run);
      },
    };
    return new ExchangeBars((each) => this.numbers.get(each) ?? 0, actions, this.wanted);
  }

  private listenToFilter(): void {
    byId<HTMLInputElement>("timeline-search").addEventListener("input", ({ target }) => {
      this.wanted.text = (target as HTMLInputElement).value.trim().toLocaleLowerCase();
      this.draw();
    });
    byId("failures").addEventListener("click", () => this.filter(this.wanted.text, !this.wanted.failures));
  }

  private filter(text: string, failures: boolean): void {
    Object.assign(this.wanted, { text, failures });
    if (text === "") byId<HTMLInputElement>("timeline-search").value = "";
    byId("failures").setAttribute("aria-pressed", String(failures));
    this.draw();
  }

  /** Whether there are turns, and the filter hides them all. */
  private isFiltered(timed: readonly Exchange[]): boolean {
    if (timed.length === 0 || (this.wanted.text === "" && !this.wanted.failures)) return false;
    return [...byId("timeline").children].every((turn) => (turn as HTMLElement).hidden);
  }

  /** Open a call on the timeline. Clears the filter if it hides the call. */
  private reveal(run: Run): void {
    this.tabs.show("timeline");
    const button = document.getElementById(idOf(run));
    if (button === null) {
      if (this.wanted.text === "" && !this.wanted.failures) return;
      this.filter("", false);
      requestAnimationFrame(() => this.reveal(run)); // when it is drawn
      return;
    }
    if (button.getAttribute("aria-expanded") === "false") button.click();
    button.scrollIntoView({ block: "start" });
    this.timeline.stay();
    button.focus();
    flash(button.parentElement);
  }

  /** Show where in the conversation a call was made. */
  private point(run: Run): void {
    const card = document.getElementById(`said-${run.key}`);
    card?.scrollIntoView({ block: "nearest" });
    this.conversation.stay();
    flash(card);
  }

  /** Begin a session, or resume the one of this tab. Where the server lets nobody in, the page says why. */
  start(): Promise<void> {
    this.opening = this.enter().catch((error: unknown) => {
      this.header.line("closed", reasonOf(error));
      this.composer.enable("closed");
      this.composer.trouble(reasonOf(error));
      this.draw();
    });
    return this.opening;
  }

  private async enter(): Promise<void> {
    const known = await this.server.facts(); // before the session is open
    this.header.tell(known);
    this.tools.tell(known.tools);
    this.setup.offer(known.choices);
    this.sessions.tell(known.history);
    this.keeps = known.history;
    if (known.choices !== null) await this.chooseAgain();
    if (known.replay) this.watch(await this.server.recording());
    else await this.open();
  }

  private async open(): Promise<void> {
    try {
      await this.live.connect();
    } catch (error) {
      if (this.state.line !== "failed") this.composer.trouble(reasonOf(error)); // else its reason has been told
    }
  }

  /** Another client in the place of this one, which is returned: nothing that it says counts any more. */
  private leave(): LiveClient {
    const old = this.live;
    this.release();
    this.live = this.client();
    this.release = this.live.holdToTalk(this.composer.talk);
    this.composer.calm("");
    this.composer.trouble("");
    if (this.replay !== null) this.state.keys = Math.max(this.state.keys, this.replay.state.keys); // none is given twice
    this.replay?.close();
    this.replay = null;
    this.header.recording("");
    return old;
  }

  private renew(): void {
    const old = this.leave();
    this.opening = old.end().then(async () => {
      this.reset();
      await this.open();
    });
  }

  /** Begin a session with these choices. */
  private async choose(choices: Choices): Promise<void> {
    try {
      this.choices = Object.keys(choices).length > 0 ? await this.server.choose(choices) : "";
    } catch (error) {
      return this.composer.trouble(reasonOf(error));
    }
    sessionStorage.setItem(CHOICES, JSON.stringify(choices));
    this.renew();
  }

  /** What was chosen in this tab, before it was reloaded or the server started again, holds for its next session too. */
  private async chooseAgain(): Promise<void> {
    const saved = JSON.parse(sessionStorage.getItem(CHOICES) ?? "{}") as Choices;
    if (Object.keys(saved).length === 0) return;
    try {
      this.choices = await this.server.choose(saved);
    } catch (error) {
      sessionStorage.removeItem(CHOICES);
      return this.composer.trouble(reasonOf(error));
    }
    this.leave();
  }

  /** Leave this page's session, which the relay keeps for a while, and reopen another one. */
  private async reopen(session: Kept): Promise<void> {
    const token = await this.server.open(session.id);
    if (token !== null && (await isHeld(token))) throw new LiveError("this session is open in another tab");
    await this.leave().disconnect();
    this.reset();
    if (token === null) TOKENS.removeItem();
    else TOKENS.setItem("", token);
    this.joining = token === null ? session.id : null;
    this.tabs.show("conversation");
    await (this.opening = this.open());
  }

  private async delete(session: Kept): Promise<void> {
    await this.server.delete(session.id);
    if (session.own) this.renew();
  }

  /** Show a recording in place of a session. */
  private watch(recording: Conversation): void {
    void this.leave().disconnect();
    this.reset();
    const closed = (): void => {
      this.leave();
      this.opening = this.open();
    };
    this.replay = new Replay(recording, this.state.keys, () => this.draw(), closed);
    const { setup, tools } = setupOf(recording);
    this.header.recording(recording.name);
    this.header.model((setup.model ?? "").replace(/^.*\//, ""));
    this.tools.tell(tools);
    this.setup.show(setup, {});
    this.composer.enable("ended");
    this.tabs.show("conversation");
    this.draw();
  }

  private client(): LiveClient {
    const url = new URL(this.choices === "" ? "/live/" : `/live/?choices=${this.choices}`, location.href);
    const live = new LiveClient({ url, storage: TOKENS });
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
        if (message.type === "Reconnected" && !message.state_restored) this.forgotten();
        if (!replayed) this.announcer.tell(this.state, message);
    }
  }

  private begin({ resumed, at, missed, model, tools, agent, declared_only }: Ready): void {
    const restarted = !resumed || at + 1 < this.state.time; // the clock of a resumed session restarts with its server
    const said = this.state.exchanges.length > 0;
    const join = resumed ? null : (this.joining ?? (said ? this.id : null));
    if (restarted && said) this.archive(resumed ? SAME_SESSION : NEW_SESSION);
    else if (!resumed) this.reset();
    this.joining = null;
    this.state.declaredOnly = new Set(declared_only);
    this.state.agent = agent;
    this.offset = performance.now() / 1000 - at;
    this.composer.calm("");
    this.composer.trouble(missed > 0 ? `${missed} older events of this session are not kept any more` : "");
    this.header.model(model);
    this.learn(tools);
    if (this.keeps && (resumed || join !== null)) void this.recall(join);
  }

  /** The names are known at once; what was declared of them, and all that was sent, is asked for. */
  private learn(names: readonly string[]): void {
    this.tools.name(names);
    this.server
      .told()
      .then(({ id, tools, setup, choices }) => {
        this.id = id;
        this.tools.tell(tools);
        this.setup.show(setup, choices);
      })
      .catch(() => {}); // the line is away: it is asked for again when it is back
  }

  /** Show the conversation before this session. `join`: id of the listed session to which this one is added. */
  private async recall(join: string | null): Promise<void> {
    const { live } = this;
    try {
      if (join !== null) await this.server.join(join);
      if (this.past.length > 0) return;
      const before = await this.server.past();
      if (before.messages.length === 0 || this.past.length > 0 || live !== this.live) return;
      const state = stateOf(before, this.state.keys);
      this.past = [...state.exchanges];
      this.past.push(divider(state, before.knows ? SAME_SESSION : NEW_SESSION));
      this.state.keys = state.keys;
      this.draw();
    } catch (error) {
      this.composer.trouble(reasonOf(error));
    }
  }

  /** Correct the divider above: the service could not resume the session, so the model does not know what was said. */
  private forgotten(): void {
    const [item] = this.past.at(-1)?.items ?? [];
    if (item?.kind !== "note" || item.text !== SAME_SESSION || this.state.exchanges.some(hasRows)) return;
    const state = initial([], this.state.keys);
    this.past.splice(-1, 1, divider(state, NEW_SESSION));
    this.state.keys = state.keys;
  }

  /** What was said in a session that is over stays, above a line. */
  private archive(line: string): void {
    this.past.push(...lose(this.state), divider(this.state, line));
    this.state = initial([], this.state.keys);
    this.offset = Infinity;
    this.draw();
  }

  private reset(): void {
    this.state = initial([], this.state.keys);
    this.past = [];
    this.offset = Infinity;
    this.id = null;
    this.draw();
  }

  private take(entry: Entry): void {
    reduce(this.state, entry);
    this.draw();
  }

  /** The page's own session, or the recording. */
  private get shown(): State {
    return this.replay?.state ?? this.state;
  }

  private get exchanges(): Exchange[] {
    return [...this.past, ...this.shown.exchanges];
  }

  private now(): number {
    if (this.replay !== null) return this.replay.position;
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
      const all = this.exchanges;
      const timed = all.filter(hasRows);
      timed.forEach((exchange, n) => this.numbers.set(exchange, n + 1));
      this.sending.update([...this.early, ...this.live.waiting.map(({ ref, text }) => ({ key: this.keyOf(ref), text }))], now);
      this.conversation.update(all, now, this.early.length > 0 || this.live.waiting.length > 0);
      this.timeline.update(timed, now);
      setText(byId("timeline-none"), this.isFiltered(timed) ? (this.wanted.text === "" ? "No call has failed" : "Nothing here has these words") : "");
      this.overview.update(all, now);
      byId("timeline-filter").classList.toggle("idle", all.length === 0);
      this.header.update(this.shown);
      this.tabs.update(this.shown);
      this.composer.busy(this.busy);
    });
  }

  private tick(): void {
    const levels = this.live.levels();
    this.composer.levels(this.replay === null ? levels : { ...levels, output: this.replay.level });
    if (this.live.sending) this.speech.hear(levels.input, performance.now() / 1000);
    this.replay?.tick(performance.now() / 1000);
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

  /** Wait until the session is open. Meanwhile the page shows the text as not sent yet. */
  private async opened(text: string): Promise<void> {
    const typed = { key: ++this.state.keys, text };
    this.early.push(typed);
    this.draw();
    await this.opening;
    this.early = this.early.filter((each) => each !== typed);
    this.draw();
  }

  private async show(kind: VideoKind | null): Promise<void> {
    if (kind === null) this.live.closeVideo();
    else await this.live.openVideo(kind);
  }

  private async export(kind: string): Promise<void> {
    try {
      if (kind === "transcript") {
        download("conversation.md", transcriptOf(this.exchanges, byId("agent").textContent ?? ""), "text/markdown");
        return;
      }
      if (this.replay !== null) throw new Error("this is a recording already: a session can be exported");
      const text = await this.server.exported(kind);
      if (kind === "recording") download("conversation.jsonl", text, "application/jsonl");
      else download("test_conversation.py", text, "text/x-python");
    } catch (error) {
      this.composer.trouble(reasonOf(error));
    }
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof LiveError || error instanceof Error ? error.message : String(error);

/** Storage for the token of this tab's session. It has one key for all URLs of the relay, because choices change the URL. */
const TOKENS = {
  getItem: (): string | null => sessionStorage.getItem(TOKEN),
  setItem: (_: string, token: string): void => sessionStorage.setItem(TOKEN, token),
  removeItem: (): void => sessionStorage.removeItem(TOKEN),
};

/** Whether a page of this browser holds the session of this token: see `claim.ts` of the client. */
async function isHeld(token: string): Promise<boolean> {
  const locks = await navigator.locks?.query();
  return locks?.held?.some(({ name }) => name === `livetools ${token}`) ?? false;
}

/** Draw the eye to something for a moment. */
function flash(found: Element | null | undefined): void {
  found?.classList.remove("found");
  void found?.getBoundingClientRect(); // forces a reflow, which restarts the animation
  found?.classList.add("found");
}

// The page listens before anything is known: somebody may type already.
await new Page().start();
