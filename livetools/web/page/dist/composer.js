// Where one types, speaks and stops.
import { LiveError } from "../../dist/client.js";
import { byId, setAttribute, setText } from "./dom.js";
const DRAFT = "livetools draft"; // in the tab's own storage
export class Composer {
    actions;
    message = byId("message");
    stop = byId("stop");
    hold = byId("hold");
    open = byId("microphone");
    preview = byId("preview");
    videos = { camera: byId("camera"), screen: byId("screen") };
    listening = false; // the microphone was opened, not only held
    seen = null;
    constructor(actions) {
        this.actions = actions;
        byId("composer").addEventListener("submit", (event) => {
            event.preventDefault();
            this.attempt(() => this.send());
        });
        this.message.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing)
                return;
            event.preventDefault();
            this.attempt(() => this.send());
        });
        this.stop.addEventListener("click", () => actions.stop());
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !this.stop.disabled)
                actions.stop();
        });
        byId("start-audio").addEventListener("click", () => this.attempt(() => actions.startAudio()));
        this.message.value = sessionStorage.getItem(DRAFT) ?? "";
        this.message.addEventListener("input", () => this.keep());
        this.open.addEventListener("click", () => this.attempt(() => this.toggleMicrophone()));
        for (const kind of ["camera", "screen"]) {
            this.videos[kind].addEventListener("click", () => this.attempt(() => actions.video(this.seen === kind ? null : kind)));
        }
    }
    /** The push-to-talk button, for `LiveClient.holdToTalk()`. */
    get talk() {
        return this.hold;
    }
    /** Show the button without which the model is not heard. */
    silent(silent) {
        byId("start-audio").hidden = !silent;
    }
    /** Give a text back that was not taken, above what was typed meanwhile. */
    giveBack(text) {
        this.message.value = this.message.value === "" ? text : `${text}\n${this.message.value}`;
        this.keep();
    }
    /** What is typed survives a reload, in this tab. */
    keep() {
        if (this.message.value === "")
            sessionStorage.removeItem(DRAFT);
        else
            sessionStorage.setItem(DRAFT, this.message.value);
    }
    /** Enable the controls that work in this state of the connection. */
    enable(state) {
        const gone = state === "ended" || state === "closed";
        for (const button of [this.hold, this.open, ...Object.values(this.videos)])
            button.disabled = state !== "ready";
        this.message.placeholder = gone ? "New session begins another one" : "Message";
    }
    /** Whether there is something to stop. */
    busy(busy) {
        if (this.stop.disabled !== busy)
            return;
        const focused = document.activeElement === this.stop;
        this.stop.disabled = !busy;
        if (focused && !busy)
            this.message.focus();
    }
    microphone(on, sending) {
        if (!on)
            this.listening = false;
        setAttribute(this.open, "aria-pressed", String(this.listening && sending));
    }
    video(kind, stream) {
        this.seen = kind;
        this.preview.hidden = stream === null;
        this.preview.srcObject = stream;
        if (stream !== null)
            this.preview.play().catch(() => { }); // it may be switched off before it plays
        for (const [name, button] of Object.entries(this.videos))
            setAttribute(button, "aria-pressed", String(name === kind));
    }
    levels({ input, output }) {
        show(byId("level-in"), input);
        show(byId("level-out"), output);
    }
    /** A sentence on what went wrong; none takes it away. */
    trouble(text) {
        const shown = byId("trouble");
        shown.hidden = text === "";
        setText(shown, text);
    }
    /** A sentence on an end as it should be. */
    calm(text) {
        const shown = byId("calm");
        shown.hidden = text === "";
        setText(shown, text);
    }
    async send() {
        const text = this.message.value;
        if (text.trim() === "")
            return;
        this.message.value = "";
        this.keep();
        try {
            await this.actions.send(text);
        }
        catch (error) {
            this.giveBack(text);
            throw error;
        }
    }
    async toggleMicrophone() {
        this.listening = !this.listening;
        try {
            await this.actions.microphone(this.listening);
        }
        catch (error) {
            this.listening = false;
            throw error;
        }
    }
    attempt(act) {
        this.trouble("");
        act().catch((error) => this.trouble(error instanceof LiveError ? error.message : String(error)));
    }
}
/** A level as a bar: its square root, for the ear hears loudness so. */
function show(meter, level) {
    const share = Math.min(1, Math.sqrt(level) * 1.4);
    setAttribute(meter, "aria-valuenow", String(Math.round(share * 100)));
    const bar = meter.firstElementChild;
    bar.style.transform = `scaleX(${share.toFixed(3)})`;
}
