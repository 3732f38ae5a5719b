// The top of the page: who is talked to, how the line stands, what it costs.
import { byId, element, setAttribute, setText } from "./dom.js";
const LINES = {
    closed: "offline",
    connecting: "connecting…",
    ready: "connected",
    reconnecting: "page reconnecting…",
    ended: "ended",
};
const COUNT = new Intl.NumberFormat("en");
export class Header {
    page = "closed";
    reason = "";
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
    /** What is known before a session stands. */
    tell(facts) {
        document.title = `${facts.title} · livetools`;
        setText(byId("agent"), facts.title);
        setText(byId("model"), facts.model);
        byId("pretend").hidden = !facts.pretend;
        const tools = facts.tools.map(({ name, description }) => element("li", "", { title: description || null }, name));
        byId("tools").replaceChildren(...(tools.length > 0 ? tools : [element("li", "none", {}, "no tools")]));
    }
    /** How this page's own line to the relay stands. */
    line(state, reason) {
        this.page = state;
        this.reason = reason;
    }
    update(state) {
        const badge = byId("line");
        const [line, words, why] = this.standing(state);
        setAttribute(badge, "data-line", line);
        setAttribute(badge, "title", why || null);
        setText(byId("line-text"), words);
        setText(byId("latency"), state.latency === null ? "–" : `${state.latency} ms`);
        setText(byId("tokens"), COUNT.format(state.tokens));
        setText(byId("price"), state.cost === null ? "price unknown" : `$${state.cost.toFixed(state.cost < 1 ? 4 : 2)}`);
    }
    /** The state that the dot shows, its words, and the reason. The session may end, or lose its model, before this page does. */
    standing(state) {
        if (state.line === "ended")
            return ["ended", LINES.ended, state.lineNote];
        if (this.page !== "ready")
            return [this.page, LINES[this.page], this.reason];
        if (state.line === "reconnecting")
            return ["reconnecting", "reconnecting…", state.lineNote];
        return ["connected", LINES.ready, this.reason];
    }
}
