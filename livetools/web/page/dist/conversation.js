// The left side: what was said on both sides, the calls between, and the questions of tools that want an approval.
import { element, List, setAttribute, setText } from "./dom.js";
import { called, plain, pretty, result, short, STATES, stateOf } from "./format.js";
/** Stands for speech that the service does not write down, or has not yet. */
export const NO_TRANSCRIPT = "(no transcript)";
const WHO = { user: "You", model: "Model", thought: "Thought", code: "Code" };
/** One exchange: its items in order. */
export class ExchangeView {
    root = element("div", "exchange");
    items;
    drawn = -1; // the revision
    constructor(decide) {
        this.items = new List(this.root, (item) => itemView(item, decide));
    }
    update(exchange, now) {
        if (exchange.revision === this.drawn)
            return;
        this.drawn = exchange.revision;
        this.items.update(exchange.items, now);
    }
}
function itemView(item, decide) {
    switch (item.kind) {
        case "message":
            return new MessageView(item);
        case "note":
            return new NoteView(item);
        case "call":
            return new CallView(item, decide);
    }
}
class MessageView {
    root;
    text = element("span", "final");
    interim = element("span", "interim");
    mark = element("span", "mark");
    constructor(item) {
        const how = item.voice ? element("span", "voice", { title: "spoken" }, "spoken") : null;
        this.root = element("article", `item ${item.role}`, { "aria-label": WHO[item.role] }, element("p", "who", {}, WHO[item.role], how), element(item.role === "code" ? "pre" : "p", "text", {}, this.text, this.interim, this.mark));
    }
    update(item) {
        setText(this.text, item.text || (item.interim ? "" : item.open ? "…" : NO_TRANSCRIPT));
        setText(this.interim, item.interim);
        setText(this.mark, item.interrupted ? "interrupted" : "");
        this.root.classList.toggle("open", item.open);
        this.root.classList.toggle("interrupted", item.interrupted);
    }
}
class NoteView {
    root;
    constructor(note) {
        this.root = element("p", `item note ${note.tone}`, {}, note.text);
    }
    update() { }
}
/** A call in a line; while it waits for an approval, a card with its arguments and the two answers. */
class CallView {
    decide;
    root = element("div", "item call");
    sign = element("span", "sign", { "aria-hidden": "true" });
    what;
    came = element("span", "came");
    question = null;
    constructor(item, decide) {
        this.decide = decide;
        this.what = element("code", "what", {}, called(item.run.call));
        this.root.append(element("p", "brief", {}, this.sign, " ", this.what, " ", this.came));
    }
    update({ run }) {
        setAttribute(this.root, "data-state", run.state);
        setText(this.sign, STATES[run.state].sign);
        setText(this.came, outcome(run));
        if (run.state === "approval" && this.question === null)
            this.ask(run);
        if (run.state !== "approval" && this.question !== null)
            this.answered();
    }
    ask(run) {
        const { name, args } = run.call;
        const reason = element("input", "", { type: "text", "aria-label": "Reason", placeholder: "Reason (optional)" });
        const approve = element("button", "primary", { type: "button" }, `Approve ${name}`);
        const refuse = element("button", "", { type: "button" }, `Refuse ${name}`);
        const decide = (act) => () => {
            approve.disabled = refuse.disabled = act(); // false: the line is away, and it can be tried again
        };
        approve.addEventListener("click", decide(() => this.decide.approve(run.call.id)));
        refuse.addEventListener("click", decide(() => this.decide.refuse(run.call.id, reason.value)));
        this.question = element("div", "question", { role: "group", "aria-label": `${name} waits for your approval` }, element("p", "", {}, element("strong", "", {}, name), " waits for your approval. It would be called with:"), element("pre", "", { tabindex: "0", "aria-label": "Arguments" }, pretty(args)), element("div", "answers", {}, approve, refuse, reason));
        this.root.append(this.question);
    }
    answered() {
        const focused = this.question?.contains(document.activeElement) ?? false;
        this.question?.remove();
        this.question = null;
        if (focused)
            document.getElementById("message")?.focus();
    }
}
function outcome(run) {
    const last = run.progress[run.progress.length - 1];
    switch (run.state) {
        case "finished":
            return `→ ${run.response === null ? "" : plain(result(run.response))}`;
        case "failed":
        case "refused":
            return `→ ${STATES[run.state].word}${run.response === null ? "" : `: ${plain(result(run.response))}`}`;
        case "running":
            return last === undefined ? "running…" : `… ${short(last.value)}`;
        default:
            return stateOf(run);
    }
}
