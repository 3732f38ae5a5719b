// A recording, as it went: its own clock, which can be stopped, moved and made faster.
import { keepFrames } from "./archive.js";
import { byId, setAttribute, setText } from "./dom.js";
import { duration } from "./format.js";
import { ReplaySound } from "./replay_sound.js";
import { initial, lose, reduce } from "./state.js";
const LONGEST = 2; // seconds of silence that are waited for: what is longer is cut
export class Replay {
    conversation;
    keys;
    changed;
    /** Seconds of the recording that are shown. */
    position;
    state;
    shown = 0; // messages
    playing = false;
    speed = 1;
    last = 0; // the time of the page when the clock last moved
    waited = 0; // seconds since something happened
    end;
    off = new AbortController();
    sound;
    /** `changed` is called when there is something else to draw, `closed` when the user has seen enough. */
    constructor(conversation, keys, changed, closed) {
        this.conversation = conversation;
        this.keys = keys;
        this.changed = changed;
        this.sound = new ReplaySound(conversation);
        this.end = Math.max(0, ...conversation.messages.slice(-1).map(({ at }) => at));
        this.position = this.end;
        this.state = this.rebuilt();
        const { signal } = this.off;
        byId("replay").hidden = false;
        setText(byId("replay-name"), conversation.name);
        byId("replay-play").addEventListener("click", () => this.toggle(), { signal });
        byId("replay-close").addEventListener("click", closed, { signal });
        const place = byId("replay-place");
        place.max = String(this.end);
        place.addEventListener("input", () => this.seek(Number(place.value)), { signal });
        const speed = byId("replay-speed");
        speed.addEventListener("change", () => this.hasten(Number(speed.value)), { signal });
        this.hasten(Number(speed.value));
        this.show();
    }
    get name() {
        return this.conversation.name;
    }
    /** How loud the model is, from 0 to 1. */
    get level() {
        return this.sound.level;
    }
    /** Let the time pass; `now` is the page's, in seconds. */
    tick(now) {
        if (!this.playing)
            return;
        let passed = (now - this.last) * this.speed;
        this.last = now;
        const next = this.conversation.messages[this.shown]?.at ?? this.end;
        this.waited += passed;
        if (this.waited > LONGEST * this.speed && next > this.position)
            passed = next - this.position;
        this.forward(Math.min(this.end, this.position + passed));
        if (this.speed === 1)
            this.sound.play(this.position);
        if (this.position >= this.end)
            this.stop();
        this.show();
        this.changed();
    }
    close() {
        this.off.abort();
        this.sound.close();
        byId("replay").hidden = true;
    }
    toggle() {
        if (this.playing) {
            this.sound.seek(this.position);
            return this.stop();
        }
        this.seek(this.position >= this.end ? 0 : this.position);
        this.playing = true;
        this.last = performance.now() / 1000;
        this.waited = 0;
        this.show();
    }
    stop() {
        this.playing = false;
        this.show();
    }
    /** Speech is heard at its own speed alone. */
    hasten(speed) {
        this.speed = speed;
        this.sound.seek(this.position);
    }
    seek(position) {
        this.position = position;
        this.sound.seek(position > 0 ? position : -1);
        this.waited = 0;
        this.state = this.rebuilt();
        this.show();
        this.changed();
    }
    forward(position) {
        const { messages } = this.conversation;
        const before = this.shown;
        this.position = position;
        while (this.shown < messages.length && messages[this.shown].at <= position)
            reduce(this.state, messages[this.shown++]);
        if (this.shown > before)
            this.waited = 0;
        this.settle();
    }
    rebuilt() {
        this.state = initial([], this.keys);
        this.shown = 0;
        this.forward(this.position);
        return this.state;
    }
    settle() {
        if (this.shown === this.conversation.messages.length)
            lose(this.state); // the recording is over: end what is still open
        keepFrames(this.state.exchanges, this.conversation.frames);
    }
    show() {
        setText(byId("replay-play"), this.playing ? "Pause" : "Play");
        const place = byId("replay-place");
        place.value = String(this.position);
        const told = `${duration(this.position)} of ${duration(this.end)}`;
        setAttribute(place, "aria-valuetext", told);
        setText(byId("replay-time"), told);
    }
}
