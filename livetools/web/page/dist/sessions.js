// The sessions of today: reopened, deleted; and recordings that are opened from a file.
import { byId, element, setText } from "./dom.js";
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });
export class Sessions {
    actions;
    trouble;
    kept = true; // sessions are, on this server
    /** `trouble` is called with each error. */
    constructor(actions, trouble) {
        this.actions = actions;
        this.trouble = trouble;
        const file = byId("recording-file");
        byId("open-recording").addEventListener("click", () => file.click());
        file.addEventListener("change", () => {
            const [chosen] = file.files ?? [];
            file.value = "";
            if (chosen !== undefined)
                this.attempt(actions.show(chosen));
        });
    }
    /** Whether the server keeps sessions. */
    tell(kept) {
        this.kept = kept;
    }
    /** Ask for the list, and show it. */
    async refresh() {
        const list = byId("sessions");
        list.setAttribute("aria-busy", "true");
        try {
            this.draw(await this.actions.list());
        }
        finally {
            list.setAttribute("aria-busy", "false");
        }
    }
    draw(sessions) {
        byId("sessions").replaceChildren(...sessions.map((session) => this.entry(session)));
        byId("sessions-empty").hidden = sessions.length > 0;
        const none = "Sessions appear here once something was said in them.";
        setText(byId("sessions-none"), this.kept ? none : "Sessions are not kept: livetools web was started with --no-history.");
    }
    entry(session) {
        const { title, readable, own } = session;
        const name = readable ? title || "(no words)" : "This session cannot be read";
        const open = element("button", "reopen", { type: "button", "aria-current": own ? "true" : null }, element("span", "title", { dir: "auto" }, name), element("span", "about", {}, about(session)));
        open.disabled = own;
        open.addEventListener("click", () => this.attempt(this.actions.reopen(session)));
        const remove = element("button", "remove", { type: "button", "aria-label": `Delete session: ${name}`, title: "Delete it" }, "Delete");
        remove.addEventListener("click", () => this.attempt(this.actions.delete(session)));
        return element("li", readable ? "" : "broken", {}, open, remove);
    }
    attempt(action) {
        action.then(() => this.refresh()).catch(this.trouble);
    }
}
function about({ began, used, model, open, own, readable }) {
    const today = new Date(began * 1000).toDateString() === new Date().toDateString();
    const from = (today ? TIME : DAY).format(began * 1000);
    const until = TIME.format(used * 1000);
    const when = from.endsWith(until) ? from : `${from} – ${until}`;
    const what = own ? "this one" : open ? "still open" : "";
    return [when, what, readable ? model : ""].filter(Boolean).join(" · ");
}
