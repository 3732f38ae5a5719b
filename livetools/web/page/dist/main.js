// The page: one client, one state, and the views that follow it.
import { LiveClient, LiveError } from "../../dist/client.js";
import { Announcer } from "./announcer.js";
import { archivedFrames, setupOf, stateOf } from "./archive.js";
import { Composer } from "./composer.js";
import { ExchangeView, SendingView } from "./conversation.js";
import { byId, List, setText } from "./dom.js";
import { download, transcriptOf } from "./exports.js";
import { Header } from "./header.js";
import { Overview } from "./overview.js";
import { Replay } from "./replay.js";
import { Server } from "./server.js";
import { Sessions } from "./sessions.js";
import { Setup } from "./setup.js";
import { Side } from "./side.js";
import { SpeechEnd } from "./speech.js";
import { current, divider, initial, isBusy, lose, reduce } from "./state.js";
import { Tabs } from "./tabs.js";
import { ExchangeBars, hasRows, idOf } from "./timeline.js";
import { Tools } from "./tools.js";
const TICK = 100; // milliseconds between drawings of what grows with time
const NO_SESSION = "There is no session any more. “New session” begins another one.";
const NEW_SESSION = "a new session: the model does not know the conversation above";
const TOKEN = "livetools token"; // in the tab's own storage
const CHOICES = "livetools choices"; // the same
const SAME_SESSION = "the session continues: the model knows the conversation above";
class Page {
    choices = ""; // the key of what was chosen for this page's sessions
    state = initial();
    live = this.client();
    offset = Infinity; // between this page's clock and the session's
    drawing = false;
    past = []; // the exchanges of earlier sessions, and the dividers after them
    joining = null; // id of the listed session to which the next one is added
    id = null; // of the page's session, among those that are kept
    keeps = false; // the server keeps sessions
    replay = null; // the recording that is shown in place of a session
    early = []; // texts typed before the session is open
    sending = new List(byId("waiting"), (typed) => new SendingView(typed));
    refs = new Map(); // of the texts that are on their way: their keys
    numbers = new WeakMap(); // of turns on the timeline
    release = () => { }; // of the button of push-to-talk
    opening; // of the session
    wanted = { text: "", failures: false };
    server = new Server(() => this.live.ready?.token ?? "");
    overview = new Overview((run) => this.reveal(run));
    tools = new Tools();
    setup = new Setup((choices) => void this.choose(choices));
    sessions;
    tabs;
    header;
    announcer = new Announcer(byId("announcer"));
    composer;
    speech = new SpeechEnd((at) => this.take({ type: "speech_ended", at: at - this.offset }));
    conversation;
    timeline;
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
        const trouble = (error) => this.composer.trouble(reasonOf(error));
        this.sessions = new Sessions({
            list: () => this.server.sessions(),
            reopen: (session) => this.reopen(session),
            delete: (session) => this.delete(session),
            show: async (file) => this.watch(await this.server.recording(file)),
        }, trouble);
        this.tabs = new Tabs((view) => {
            if (view !== "tools")
                this.tools.clear();
            if (view === "sessions")
                this.sessions.refresh().catch(trouble);
        });
        this.conversation = new Side("conversation", () => new ExchangeView(this.decide));
        this.timeline = new Side("timeline", (exchange) => this.bars(exchange));
        this.release = this.live.holdToTalk(this.composer.talk);
        this.listenToFilter();
        window.setInterval(() => this.tick(), TICK);
    }
    decide = {
        approve: (id) => this.live.approve(id),
        refuse: (id, reason) => this.live.refuse(id, reason),
        respond: (id, value) => this.live.respond(id, value),
        reveal: (run) => this.reveal(run),
    };
    bars(exchange) {
        const actions = {
            frames: async (call) => archivedFrames(exchange, call) ?? (await this.server.frames(call)),
            opened: (run) => this.point(run),
            asked: (run) => {
                this.tabs.show("conversation");
                this.point(run);
            },
        };
        return new ExchangeBars((each) => this.numbers.get(each) ?? 0, actions, this.wanted);
    }
    listenToFilter() {
        byId("timeline-search").addEventListener("input", ({ target }) => {
            this.wanted.text = target.value.trim().toLocaleLowerCase();
            this.draw();
        });
        byId("failures").addEventListener("click", () => this.filter(this.wanted.text, !this.wanted.failures));
    }
    filter(text, failures) {
        Object.assign(this.wanted, { text, failures });
        if (text === "")
            byId("timeline-search").value = "";
        byId("failures").setAttribute("aria-pressed", String(failures));
        this.draw();
    }
    /** Whether there are turns, and the filter hides them all. */
    isFiltered(timed) {
        if (timed.length === 0 || (this.wanted.text === "" && !this.wanted.failures))
            return false;
        return [...byId("timeline").children].every((turn) => turn.hidden);
    }
    /** Open a call on the timeline. Clears the filter if it hides the call. */
    reveal(run) {
        this.tabs.show("timeline");
        const button = document.getElementById(idOf(run));
        if (button === null) {
            if (this.wanted.text === "" && !this.wanted.failures)
                return;
            this.filter("", false);
            requestAnimationFrame(() => this.reveal(run)); // when it is drawn
            return;
        }
        if (button.getAttribute("aria-expanded") === "false")
            button.click();
        button.scrollIntoView({ block: "start" });
        this.timeline.stay();
        button.focus();
        flash(button.parentElement);
    }
    /** Show where in the conversation a call was made. */
    point(run) {
        const card = document.getElementById(`said-${run.key}`);
        card?.scrollIntoView({ block: "nearest" });
        this.conversation.stay();
        flash(card);
    }
    /** Begin a session, or resume the one of this tab. Where the server lets nobody in, the page says why. */
    start() {
        this.opening = this.enter().catch((error) => {
            this.header.line("closed", reasonOf(error));
            this.composer.enable("closed");
            this.composer.trouble(reasonOf(error));
            this.draw();
        });
        return this.opening;
    }
    async enter() {
        const known = await this.server.facts(); // before the session is open
        this.header.tell(known);
        this.tools.tell(known.tools);
        this.setup.offer(known.choices);
        this.sessions.tell(known.history);
        this.keeps = known.history;
        if (known.choices !== null)
            await this.chooseAgain();
        if (known.replay)
            this.watch(await this.server.recording());
        else
            await this.open();
    }
    async open() {
        try {
            await this.live.connect();
        }
        catch (error) {
            if (this.state.line !== "failed")
                this.composer.trouble(reasonOf(error)); // else its reason has been told
        }
    }
    /** Another client in the place of this one, which is returned: nothing that it says counts any more. */
    leave() {
        const old = this.live;
        this.release();
        this.live = this.client();
        this.release = this.live.holdToTalk(this.composer.talk);
        this.composer.calm("");
        this.composer.trouble("");
        if (this.replay !== null)
            this.state.keys = Math.max(this.state.keys, this.replay.state.keys); // none is given twice
        this.replay?.close();
        this.replay = null;
        this.header.recording("");
        return old;
    }
    renew() {
        const old = this.leave();
        this.opening = old.end().then(async () => {
            this.reset();
            await this.open();
        });
    }
    /** Begin a session with these choices. */
    async choose(choices) {
        try {
            this.choices = Object.keys(choices).length > 0 ? await this.server.choose(choices) : "";
        }
        catch (error) {
            return this.composer.trouble(reasonOf(error));
        }
        sessionStorage.setItem(CHOICES, JSON.stringify(choices));
        this.renew();
    }
    /** What was chosen in this tab, before it was reloaded or the server started again, holds for its next session too. */
    async chooseAgain() {
        const saved = JSON.parse(sessionStorage.getItem(CHOICES) ?? "{}");
        if (Object.keys(saved).length === 0)
            return;
        try {
            this.choices = await this.server.choose(saved);
        }
        catch (error) {
            sessionStorage.removeItem(CHOICES);
            return this.composer.trouble(reasonOf(error));
        }
        this.leave();
    }
    /** Leave this page's session, which the relay keeps for a while, and reopen another one. */
    async reopen(session) {
        const token = await this.server.open(session.id);
        if (token !== null && (await isHeld(token)))
            throw new LiveError("this session is open in another tab");
        await this.leave().disconnect();
        this.reset();
        if (token === null)
            TOKENS.removeItem();
        else
            TOKENS.setItem("", token);
        this.joining = token === null ? session.id : null;
        this.tabs.show("conversation");
        await (this.opening = this.open());
    }
    async delete(session) {
        await this.server.delete(session.id);
        if (session.own)
            this.renew();
    }
    /** Show a recording in place of a session. */
    watch(recording) {
        void this.leave().disconnect();
        this.reset();
        const closed = () => {
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
    client() {
        const url = new URL(this.choices === "" ? "/live/" : `/live/?choices=${this.choices}`, location.href);
        const live = new LiveClient({ url, storage: TOKENS });
        live.on("message", ({ message, replayed }) => {
            if (live === this.live)
                this.hear(message, replayed);
        });
        live.on("state", ({ state, reason }) => {
            if (live !== this.live)
                return;
            this.header.line(state, reason);
            this.composer.enable(state);
            if (state === "closed")
                this.composer.trouble(reason);
            this.draw();
        });
        live.on("typed", () => live === this.live && this.draw());
        live.on("rejected", ({ text, reason }) => {
            if (live !== this.live)
                return;
            this.composer.giveBack(text);
            this.composer.trouble(`this message was not sent: ${reason}`);
        });
        live.on("playback", ({ canPlay }) => live === this.live && this.composer.silent(!canPlay));
        live.on("speech", () => {
            if (current(this.state)?.answered === null)
                this.take({ type: "sound", at: this.now() });
        });
        live.on("microphone", ({ on, sending, reason }) => {
            this.composer.microphone(on, sending);
            if (reason)
                this.composer.trouble(reason);
        });
        live.on("video", ({ kind, stream, reason }) => {
            this.composer.video(kind, stream);
            if (reason)
                this.composer.trouble(reason);
        });
        return live;
    }
    hear(message, replayed) {
        switch (message.type) {
            case "ready":
                this.begin(message);
                return;
            case "error":
                if (message.ref === undefined)
                    this.composer.trouble(message.message); // else the text comes back
                return;
            case "ended":
                this.take({ ...message, at: message.at ?? this.now() });
                if (message.error === null)
                    this.composer.calm(NO_SESSION);
                else
                    this.composer.trouble(NO_SESSION);
                return;
            case "VideoChunk": // an avatar has no place on this page
            case "alive":
            case "pong":
                return;
            default:
                this.take(message);
                if (message.type === "agent")
                    this.learn(message.tools);
                if (message.type === "Reconnected" && !message.state_restored)
                    this.forgotten();
                if (!replayed)
                    this.announcer.tell(this.state, message);
        }
    }
    begin({ resumed, at, missed, model, tools, agent, declared_only }) {
        const restarted = !resumed || at + 1 < this.state.time; // the clock of a resumed session restarts with its server
        const said = this.state.exchanges.length > 0;
        const join = resumed ? null : (this.joining ?? (said ? this.id : null));
        if (restarted && said)
            this.archive(resumed ? SAME_SESSION : NEW_SESSION);
        else if (!resumed)
            this.reset();
        this.joining = null;
        this.state.declaredOnly = new Set(declared_only);
        this.state.agent = agent;
        this.offset = performance.now() / 1000 - at;
        this.composer.calm("");
        this.composer.trouble(missed > 0 ? `${missed} older events of this session are not kept any more` : "");
        this.header.model(model);
        this.learn(tools);
        if (this.keeps && (resumed || join !== null))
            void this.recall(join);
    }
    /** The names are known at once; what was declared of them, and all that was sent, is asked for. */
    learn(names) {
        this.tools.name(names);
        this.server
            .told()
            .then(({ id, tools, setup, choices }) => {
            this.id = id;
            this.tools.tell(tools);
            this.setup.show(setup, choices);
        })
            .catch(() => { }); // the line is away: it is asked for again when it is back
    }
    /** Show the conversation before this session. `join`: id of the listed session to which this one is added. */
    async recall(join) {
        const { live } = this;
        try {
            if (join !== null)
                await this.server.join(join);
            if (this.past.length > 0)
                return;
            const before = await this.server.past();
            if (before.messages.length === 0 || this.past.length > 0 || live !== this.live)
                return;
            const state = stateOf(before, this.state.keys);
            this.past = [...state.exchanges];
            this.past.push(divider(state, before.knows ? SAME_SESSION : NEW_SESSION));
            this.state.keys = state.keys;
            this.draw();
        }
        catch (error) {
            this.composer.trouble(reasonOf(error));
        }
    }
    /** Correct the divider above: the service could not resume the session, so the model does not know what was said. */
    forgotten() {
        const [item] = this.past.at(-1)?.items ?? [];
        if (item?.kind !== "note" || item.text !== SAME_SESSION || this.state.exchanges.some(hasRows))
            return;
        const state = initial([], this.state.keys);
        this.past.splice(-1, 1, divider(state, NEW_SESSION));
        this.state.keys = state.keys;
    }
    /** What was said in a session that is over stays, above a line. */
    archive(line) {
        this.past.push(...lose(this.state), divider(this.state, line));
        this.state = initial([], this.state.keys);
        this.offset = Infinity;
        this.draw();
    }
    reset() {
        this.state = initial([], this.state.keys);
        this.past = [];
        this.offset = Infinity;
        this.id = null;
        this.draw();
    }
    take(entry) {
        reduce(this.state, entry);
        this.draw();
    }
    /** The page's own session, or the recording. */
    get shown() {
        return this.replay?.state ?? this.state;
    }
    get exchanges() {
        return [...this.past, ...this.shown.exchanges];
    }
    now() {
        if (this.replay !== null)
            return this.replay.position;
        return Number.isFinite(this.offset) ? performance.now() / 1000 - this.offset : this.state.time;
    }
    get busy() {
        return isBusy(this.state) || this.live.pending > 0;
    }
    /** Draw once before the browser does, however much has changed. */
    draw() {
        if (this.drawing)
            return;
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
    tick() {
        const levels = this.live.levels();
        this.composer.levels(this.replay === null ? levels : { ...levels, output: this.replay.level });
        if (this.live.sending)
            this.speech.hear(levels.input, performance.now() / 1000);
        this.replay?.tick(performance.now() / 1000);
        if (isBusy(this.state))
            this.draw();
        else
            this.composer.busy(this.busy);
    }
    keyOf(ref) {
        const known = this.refs.get(ref) ?? ++this.state.keys;
        this.refs.set(ref, known);
        return known;
    }
    async send(text) {
        await this.opened(text);
        if (this.live.state === "ended" || this.live.state === "closed")
            throw new LiveError(NO_SESSION);
        void this.live.player?.resume();
        this.live.sendText(text);
    }
    /** Wait until the session is open. Meanwhile the page shows the text as not sent yet. */
    async opened(text) {
        const typed = { key: ++this.state.keys, text };
        this.early.push(typed);
        this.draw();
        await this.opening;
        this.early = this.early.filter((each) => each !== typed);
        this.draw();
    }
    async show(kind) {
        if (kind === null)
            this.live.closeVideo();
        else
            await this.live.openVideo(kind);
    }
    async export(kind) {
        try {
            if (kind === "transcript") {
                download("conversation.md", transcriptOf(this.exchanges, byId("agent").textContent ?? ""), "text/markdown");
                return;
            }
            if (this.replay !== null)
                throw new Error("this is a recording already: a session can be exported");
            const text = await this.server.exported(kind);
            if (kind === "recording")
                download("conversation.jsonl", text, "application/jsonl");
            else
                download("test_conversation.py", text, "text/x-python");
        }
        catch (error) {
            this.composer.trouble(reasonOf(error));
        }
    }
}
const reasonOf = (error) => error instanceof LiveError || error instanceof Error ? error.message : String(error);
/** Storage for the token of this tab's session. It has one key for all URLs of the relay, because choices change the URL. */
const TOKENS = {
    getItem: () => sessionStorage.getItem(TOKEN),
    setItem: (_, token) => sessionStorage.setItem(TOKEN, token),
    removeItem: () => sessionStorage.removeItem(TOKEN),
};
/** Whether a page of this browser holds the session of this token: see `claim.ts` of the client. */
async function isHeld(token) {
    const locks = await navigator.locks?.query();
    return locks?.held?.some(({ name }) => name === `livetools ${token}`) ?? false;
}
/** Draw the eye to something for a moment. */
function flash(found) {
    found?.classList.remove("found");
    void found?.getBoundingClientRect(); // forces a reflow, which restarts the animation
    found?.classList.add("found");
}
// The page listens before anything is known: somebody may type already.
await new Page().start();
