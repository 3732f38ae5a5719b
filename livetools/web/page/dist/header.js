// The header of the page: the agent and its model, the state of the connection, latency, tokens and cost.
import { byId, setAttribute, setText } from "./dom.js";
import { duration } from "./format.js";
import { isGone, runs, waitsForPerson } from "./state.js";
const LINES = {
    closed: "offline",
    connecting: "connecting…",
    ready: "connected",
    reconnecting: "page reconnecting…",
    ended: "ended",
};
const COUNT = new Intl.NumberFormat("en");
/** To the millisecond, which is what one compares, as long as that is a short word. */
const latency = (milliseconds) => milliseconds < 10_000 ? `${milliseconds} ms` : duration(milliseconds / 1000);
export class Header {
    page = "closed";
    reason = "";
    title = document.title;
    recorded = "";
    pretend = false;
    constructor(actions) {
        byId("renew").addEventListener("click", () => actions.renew());
        const menu = byId("export");
        for (const button of menu.querySelectorAll("[data-export]")) {
            button.addEventListener("click", () => {
                menu.open = false;
                actions.export(button.dataset["export"] ?? "");
            });
        }
        menu.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || !menu.open)
                return;
            menu.open = false;
            menu.querySelector("summary")?.focus();
            event.stopPropagation();
        });
        document.addEventListener("pointerdown", ({ target }) => {
            if (!menu.contains(target))
                menu.open = false;
        });
    }
    /** Show what is known before a session is open. */
    tell(facts) {
        this.title = `${facts.title} · livetools`;
        document.title = this.title;
        setText(byId("agent"), facts.title);
        setAttribute(byId("agent"), "title", facts.title);
        setText(byId("model"), facts.model);
        this.pretend = facts.pretend;
        byId("pretend").hidden = !facts.pretend;
    }
    /** Set the state of this page's connection to the relay. */
    line(state, reason) {
        this.page = state;
        this.reason = reason;
    }
    /** The model of the session. */
    model(name) {
        setText(byId("model"), name);
    }
    /** A recording is shown in place of a session; `""`: none. */
    recording(name) {
        this.recorded = name;
        byId("pretend").hidden = name !== "" || !this.pretend;
    }
    update(state) {
        const badge = byId("line");
        const [line, words, why] = this.standing(state);
        setAttribute(badge, "data-line", line);
        setAttribute(badge, "title", why || null);
        setText(byId("line-text"), words);
        setText(byId("latency"), state.latency === null ? "–" : latency(state.latency));
        const calls = state.calls > 0 ? `from the end of the question to the answer, without ${duration(state.calls / 1000)} in calls` : null;
        setAttribute(byId("latency"), "title", calls);
        byId("active").hidden = state.agent === null;
        setText(byId("active"), state.agent ?? "");
        const waiting = state.exchanges.flatMap(runs).filter(waitsForPerson);
        const title = waiting.length === 0 ? this.title : `(${waiting.length}) ${waiting[0].call.name} waits · ${this.title}`;
        if (document.title !== title)
            document.title = title;
        setText(byId("tokens"), COUNT.format(state.tokens));
        setText(byId("price"), state.cost === null ? "price unknown" : `$${state.cost.toFixed(state.cost < 1 ? 4 : 2)}`);
    }
    /** The state that the dot shows, its words, and the reason. The session may end, or lose its model, before this page does. */
    standing(state) {
        if (this.recorded !== "")
            return ["ended", "recording", this.recorded];
        if (isGone(state.line))
            return [state.line, LINES.ended, state.lineNote];
        if (this.page !== "ready")
            return [this.page, LINES[this.page], this.reason];
        if (state.line === "reconnecting")
            return ["reconnecting", "reconnecting…", state.lineNote];
        return ["connected", LINES.ready, this.reason];
    }
}
