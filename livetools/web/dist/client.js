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
import { Claim } from "./claim.js";
import { devices } from "./devices.js";
import { LiveError } from "./error.js";
import { Handlers } from "./events.js";
import { PageFunctions } from "./functions.js";
import { Heartbeat } from "./heartbeat.js";
import { hold } from "./hold.js";
import { INPUT_RATE, MAX_TEXT, OUTPUT_RATE, PROTOCOL, RESUME } from "./messages.js";
import { Microphone } from "./microphone.js";
import { Pictures } from "./pictures.js";
import { Player } from "./player.js";
import { TypedTurns } from "./typed.js";
import { Video } from "./video.js";
import { Voice } from "./voice.js";
export * from "./messages.js";
export { LiveError, Microphone, Player, Video };
const BACKLOG = 32_000; // bytes that the socket has not taken, past which sound is not worth sending any more
const FINAL = new Set([1000, 1011, 4400, 4409]); // close codes after which nobody comes back by itself
const AGAIN = 1013; // the session ended just when the page came back
const DEAD = 4000; // ours, of a line on which nothing comes any more: no socket has told it
const FIRST_PAUSE = 250; // milliseconds before the second try; each pause is twice as long as the one before
const LAST_PAUSE = 8000;
export class LiveClient {
    /** The relay's first word, with the model and its tools; `null` before. */
    ready = null;
    socket = null;
    current = "closed";
    opening = null;
    seen = 0; // the newest event that this page has
    rate = OUTPUT_RATE;
    tries = 0;
    retry;
    speaker = null;
    sink = "";
    repeated = false; // the texts, since `ready`
    last = null; // the last word of the session
    heartbeat = null;
    measured = null;
    handlers = new Handlers();
    typed = new TypedTurns();
    claim = new Claim();
    functions = new PageFunctions((id, value) => this.respond(id, value));
    voice;
    pictures;
    url;
    storage;
    attempts;
    constructor(options = {}) {
        const here = import.meta.url ?? document.baseURI; // a bundle that is no module has none
        this.url = new URL(options.url ?? ".", here);
        this.url.protocol = this.url.protocol.replace("http", "ws");
        this.storage = options.storage === undefined ? storageOfTab() : options.storage;
        this.attempts = options.attempts ?? 10;
        const worklet = options.worklet === undefined ? null : new URL(options.worklet, document.baseURI);
        this.voice = new Voice({
            rate: () => this.ready?.input_rate ?? INPUT_RATE,
            connected: () => this.session(),
            begin: () => void (this.ready?.activity === "manual" && this.send({ type: "activity_start" })),
            end: () => void this.send({ type: this.ready?.activity === "manual" ? "activity_end" : "audio_end" }),
            send: (pcm) => this.speak(pcm),
            tell: (microphone) => this.handlers.tell("microphone", microphone),
        }, worklet);
        this.pictures = new Pictures((data) => void ((this.socket?.bufferedAmount ?? 0) < BACKLOG && this.send({ type: "video", data })), (seen) => this.handlers.tell("video", seen));
    }
    get state() {
        return this.current;
    }
    /** Call `handler` for each event of this type. Returns a function that removes the handler. */
    on(type, handler) {
        return this.handlers.on(type, handler);
    }
    // The line
    /**
     * Begin a session, or resume the one of this tab. Resolves when the session is open. Rejects with a
     * {@link LiveError} if no session can be opened, or if `disconnect()` is called first. Until then, further calls
     * return the same promise.
     */
    connect() {
        if (this.opening !== null)
            return this.opening;
        if (this.current === "ready" || this.current === "reconnecting") {
            return Promise.reject(new LiveError("connect() was called already"));
        }
        this.play();
        this.seen = 0;
        this.tries = 0;
        this.last = null;
        this.functions.reset();
        this.typed.clear();
        const opening = this.settled().finally(() => {
            if (this.opening === opening)
                this.opening = null;
        });
        this.opening = opening;
        void this.dial("connecting");
        return opening;
    }
    /** Close the connection. The relay keeps the session for a while, and `connect()` resumes it. */
    async disconnect() {
        await this.leave("closed", LEFT);
    }
    /** End the session. */
    async end() {
        this.send({ type: "end" });
        this.storage?.removeItem(this.key);
        await this.leave("ended", "the page ended the session");
    }
    /** How well the line to the relay carries; `null` before it was measured. */
    get quality() {
        return this.measured;
    }
    /** Resolves at `ready`, rejects when there is no session. */
    settled() {
        const settled = new Promise((resolve, reject) => {
            const done = [
                this.on("ready", (ready) => (done.forEach((off) => off()), resolve(ready))),
                this.on("state", ({ state, reason }) => {
                    if (state !== "ended" && state !== "closed")
                        return;
                    done.forEach((off) => off());
                    if (reason === LEFT)
                        this.opening?.catch(() => { }); // the page asked for it: no unhandled rejection
                    reject(new LiveError(reason));
                }),
            ];
        });
        return settled;
    }
    /** Begin a session unless one is open. Resolves when it is open. */
    async session() {
        if (this.current === "ready" || this.current === "reconnecting")
            return;
        await this.connect();
    }
    async dial(state, reason = "") {
        this.enter(state, reason);
        let token = this.storage === null ? (this.ready?.token ?? null) : (this.storage?.getItem(this.key) ?? null);
        if (token !== null) {
            const tries = this.tries;
            const ours = await this.claim.take(token);
            if (this.current !== state || this.tries !== tries || this.socket !== null)
                return; // the page left meanwhile
            if (!ours)
                token = null; // another tab talks in that session: this one begins its own
        }
        const socket = new WebSocket(this.url, token === null ? [PROTOCOL] : [PROTOCOL, RESUME]);
        this.socket = socket;
        socket.binaryType = "arraybuffer";
        socket.onopen = () => {
            if (token !== null)
                this.send({ type: "resume", token, after: this.seen });
        };
        socket.onmessage = ({ data }) => {
            this.heartbeat?.sign();
            if (typeof data !== "string")
                return this.hear(data);
            const message = read(data);
            if (message !== null)
                this.take(message);
        };
        socket.onclose = ({ code, reason }) => this.lost(code, reason);
    }
    lost(code, reason) {
        const stood = this.current === "ready" || this.current === "reconnecting" || code === AGAIN;
        this.detach();
        if (code === 1000 || code === 1011)
            this.storage?.removeItem(this.key);
        if (FINAL.has(code)) {
            void this.release(code !== 1000); // a farewell is heard to its end
            return this.finish("ended", this.last?.message || reason || "the session is over");
        }
        if (!stood || this.tries >= this.attempts) {
            void this.release();
            return this.finish("closed", reason || "the server cannot be reached, or does not let this page in");
        }
        const pause = Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** this.tries++) * (0.8 + 0.4 * Math.random());
        this.enter("reconnecting", reason || "the line broke");
        this.retry = window.setTimeout(() => {
            this.retry = undefined;
            void this.dial("reconnecting");
        }, pause);
    }
    async leave(state, reason) {
        window.clearTimeout(this.retry);
        this.retry = undefined;
        const { socket } = this;
        this.detach();
        if (socket?.readyState === WebSocket.CONNECTING)
            socket.onopen = () => socket.close(1000); // else browsers complain
        else
            socket?.close(1000);
        this.claim.drop();
        this.finish(state, reason);
        this.opening = null;
        const { speaker } = this;
        this.speaker = null; // connect() has one of its own, however long this one takes to close
        speaker?.flush();
        await this.release();
        await speaker?.close();
    }
    /** Nothing that the old socket says counts any more. */
    detach() {
        this.heartbeat?.stop();
        this.heartbeat = null;
        if (this.measured !== null)
            this.judge("lost", null);
        if (this.socket === null)
            return;
        this.socket.onmessage = this.socket.onclose = this.socket.onopen = null;
        this.socket = null;
    }
    /** Devices are switched off, and nothing is heard any more, unless it may be played to its end. */
    async release(silence = true) {
        if (silence)
            this.speaker?.flush();
        this.closeVideo();
        await this.closeMicrophone();
    }
    enter(state, reason = "") {
        this.current = state;
        this.handlers.tell("state", { state, reason });
    }
    /** There is no session any more, and nobody comes back to it: what it has not taken goes back to the user. */
    finish(state, reason) {
        const unsent = this.typed.clear();
        this.enter(state, reason);
        for (const typed of unsent)
            this.handlers.tell("rejected", { ...typed, reason });
        if (unsent.length > 0)
            this.handlers.tell("typed", { waiting: this.typed.all });
    }
    get key() {
        return `livetools ${this.url.href}`;
    }
    // What the relay says
    take(message) {
        if (message.type === "alive")
            return;
        if (message.type === "pong")
            return this.heartbeat?.pong(message);
        if (message.type === "ready")
            this.begin(message);
        const replayed = message.type !== "ready" && "seq" in message && message.seq <= (this.ready?.seq ?? 0);
        switch (message.type) {
            case "Interrupted":
                this.speaker?.flush();
                break;
            case "audio_format":
                this.rate = playable(message.rate);
                break;
            case "agent":
                if (this.ready !== null)
                    Object.assign(this.ready, { tools: message.tools, declared_only: message.declared_only, agent: message.name });
                break;
            case "ended":
                this.last = message;
                break;
        }
        if (message.type !== "ready" && "seq" in message)
            this.seen = message.seq;
        const typed = this.typed.settled(message);
        this.functions.hear(message);
        this.handlers.tell("message", { message, replayed });
        this.handlers.tell(message.type, message);
        if (typed !== null)
            this.handlers.tell("typed", { waiting: this.typed.all });
        if (typed !== null && message.type === "error")
            this.handlers.tell("rejected", { ...typed, reason: message.message });
        this.catchUp();
    }
    begin(ready) {
        this.seen = ready.resumed ? Math.min(this.seen, ready.seq) : 0;
        if (!ready.resumed)
            this.functions.reset();
        this.ready = ready;
        this.rate = playable(ready.output_rate);
        this.tries = 0;
        this.repeated = false;
        this.storage?.setItem(this.key, ready.token);
        void this.claim.take(ready.token);
        this.voice.again();
        this.watch(ready.heartbeat);
        this.enter("ready");
    }
    watch(interval) {
        this.heartbeat?.stop();
        if (interval === undefined || !(interval >= 1))
            return; // a relay of an older version
        this.heartbeat = new Heartbeat(interval, {
            ping: (id) => void this.send({ type: "ping", id }),
            measured: (quality, milliseconds) => this.judge(quality, milliseconds / 1000),
            silent: (seconds) => {
                this.socket?.close(); // which may take as long again
                this.lost(DEAD, `nothing has come for ${Math.round(seconds)} s`);
            },
        });
    }
    judge(quality, seconds) {
        this.measured = quality;
        this.handlers.tell("quality", { quality, seconds });
    }
    /** Once all that was missed is known: the texts go out that the relay did not take before the line broke, functions run. */
    catchUp() {
        if (this.ready === null || this.seen < this.ready.seq)
            return;
        if (!this.repeated) {
            this.repeated = true;
            for (const { text, ref } of this.typed.all)
                this.send({ type: "text", text, ref });
        }
        this.functions.proceed(this.ready.declared_only);
    }
    hear(pcm) {
        this.speaker?.write(pcm, this.rate);
        this.handlers.tell("speech", { pcm, rate: this.rate });
    }
    send(command) {
        if (this.socket?.readyState !== WebSocket.OPEN)
            return false;
        this.socket.send(JSON.stringify(command));
        return true;
    }
    // What the user does
    /** A typed turn. While the line is away it waits, and is sent when it is back. Throws a {@link LiveError} where it cannot. */
    sendText(text) {
        if (text.trim() === "")
            return;
        if (this.current !== "ready" && this.current !== "reconnecting")
            throw new LiveError("there is no session: connect()");
        if (text.length > MAX_TEXT) {
            throw new LiveError(`a message has at most ${count(MAX_TEXT)} characters: this one has ${count(text.length)}`);
        }
        const { ref } = this.typed.add(text);
        if (this.current === "ready" && this.repeated)
            this.send({ type: "text", text, ref });
        this.handlers.tell("typed", { waiting: this.typed.all });
    }
    /** The typed turns that the relay has not accepted yet. */
    get waiting() {
        return this.typed.all;
    }
    /** Stop the model: it falls silent here at once, and its turn ends. */
    interrupt() {
        this.speaker?.flush();
        this.send({ type: "interrupt" });
    }
    /** Let a call run that waits (`ApprovalRequested`). False while the line is away. */
    approve(id) {
        return this.send({ type: "approve", id });
    }
    /** Refuse a call that waits; the model reads the reason. False while the line is away. */
    refuse(id, reason = "") {
        return this.send({ type: "refuse", id, reason });
    }
    /**
     * Answer a call to a function that is only declared (`ready.declared_only`), with any JSON value; an `Error` tells the
     * model that it failed, and why. False while the line is away.
     */
    respond(id, value) {
        if (value instanceof Error)
            return this.send({ type: "respond", id, value: null, error: value.message });
        return this.send({ type: "respond", id, value: value ?? null });
    }
    /**
     * Run `run` in this page for each call to a function that the server only declares. It is called with the arguments.
     * The value that it returns, or that its promise resolves to, is the result; an exception is sent to the model as an
     * error. `signal` is aborted when the call is cancelled. If the page is reloaded during a call, `run` is called again.
     * Returns a function that removes the handler.
     *
     *     live.tool("show_map", ({ city }) => { map.show(city); return "shown"; });
     */
    tool(name, run) {
        const off = this.functions.add(name, run);
        this.catchUp();
        return off;
    }
    // Sound
    /** Whether what the microphone hears goes out. */
    get sending() {
        return this.voice.sending;
    }
    /** How loud the microphone and the model are now, from 0 to 1: for meters, once a frame. */
    levels() {
        return { input: this.voice.level, output: this.speaker?.meter.level() ?? 0 };
    }
    /** Seconds of speech that are here and not heard yet. */
    get pending() {
        return this.speaker?.pending ?? 0;
    }
    /** What plays the model's speech: its volume, its audio context. `null` before `connect()`. */
    get player() {
        return this.speaker;
    }
    /** Whether the browser plays what the model says: it does not before the user has clicked or typed on the page. */
    get canPlay() {
        return this.speaker?.playing ?? false;
    }
    /** Let the model be heard: call it from a click. Rejects with a {@link LiveError} where the browser does not start. */
    async startAudio() {
        await this.play().resume();
    }
    play() {
        if (this.speaker === null) {
            const speaker = (this.speaker = new Player(OUTPUT_RATE, (canPlay) => this.handlers.tell("playback", { canPlay })));
            if (this.sink !== "")
                void speaker.use(this.sink).catch(() => { }); // it is gone: the browser's choice plays
            speaker.resume().catch(() => this.handlers.tell("playback", { canPlay: false }));
        }
        return this.speaker;
    }
    /**
     * Switch the microphone on, and send everything that it records. Begins a session if none is open. Rejects with a
     * {@link LiveError} whose message says what to do. `closeMicrophone()` cancels it at any point.
     */
    async openMicrophone() {
        await this.startTalking();
    }
    /** Switch the microphone off. */
    async closeMicrophone() {
        await this.voice.off();
    }
    /**
     * Push-to-talk: the button is down. Begins a session if none is open. `stopTalking()` stops sending, or cancels this
     * at any point; the microphone stays on for the next time. `holdToTalk(button)` calls both methods.
     */
    async startTalking() {
        await this.voice.start();
    }
    /** Push-to-talk: the button is up. What was said is heard now. */
    async stopTalking() {
        await this.voice.stop();
    }
    /**
     * Make `button` a push-to-talk button: the microphone sends only while the button is held, with a mouse, a finger, the
     * space bar or Enter. The first press begins the session. Errors are reported by the event `microphone`. Returns a
     * function that removes the handlers.
     */
    holdToTalk(button) {
        let pressed = false; // by this button: an open microphone stays open
        return hold(button, {
            down: () => {
                pressed = !this.sending;
                if (pressed)
                    void this.startTalking().catch((error) => this.trouble(error));
            },
            up: () => {
                if (pressed)
                    void this.stopTalking();
                pressed = false;
            },
        });
    }
    trouble(error) {
        const reason = error instanceof LiveError ? error.message : String(error);
        this.handlers.tell("microphone", { on: false, sending: false, reason });
    }
    speak(pcm) {
        if (this.socket?.readyState === WebSocket.OPEN && this.current === "ready" && this.socket.bufferedAmount < BACKLOG) {
            this.socket.send(pcm);
        }
        else {
            this.handlers.tell("unsent", { seconds: pcm.byteLength / 2 / INPUT_RATE });
        }
    }
    // Pictures
    /**
     * Show the model a camera or the screen, a frame a second. Resolves with the stream, for a preview; with one that has
     * ended where `closeVideo()` came first.
     */
    async openVideo(kind) {
        return await this.pictures.open(kind);
    }
    closeVideo(reason = "") {
        this.pictures.close(reason);
    }
    // Devices
    /** The microphones of this machine. Before the user has let the page use one, the browser tells neither id nor name. */
    async microphones() {
        return await devices("microphone");
    }
    /** The speakers and headphones. Empty where the browser does not let a page choose. */
    async speakers() {
        return await devices("speaker");
    }
    async cameras() {
        return await devices("camera");
    }
    /** Hear with this microphone from now on, also in the middle of a word; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    async useMicrophone(id) {
        await this.voice.use(id);
    }
    /** Play on this speaker from now on; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    async useSpeaker(id) {
        await this.speaker?.use(id);
        this.sink = id;
    }
    /** See with this camera from now on; `""`: the browser's choice. Rejects with a {@link LiveError}. */
    async useCamera(id) {
        await this.pictures.use(id);
    }
}
const LEFT = "the page left";
const count = (number) => new Intl.NumberFormat("en").format(number);
/** The session storage of this tab, or `null` if the browser blocks it. */
function storageOfTab() {
    try {
        return window.sessionStorage;
    }
    catch {
        return null;
    }
}
/** Parse a message of the relay. Returns `null` if `text` is not one. */
function read(text) {
    try {
        const message = JSON.parse(text);
        return typeof message?.type === "string" ? message : null;
    }
    catch {
        return null;
    }
}
/** A rate that every browser plays. */
const playable = (rate) => (rate >= 8000 && rate <= 96_000 ? rate : OUTPUT_RATE);
