// The left side: what was said on both sides, the calls between, and the questions of tools that want an approval.
import { element, List, setAttribute, setText } from "./dom.js";
import { called, plain, pretty, result, short, STATES, stateOf, visible } from "./format.js";
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
/** A call in a line; while it waits for a person, a card with its arguments and the answers. */
class CallView {
    decide;
    root = element("div", "item call");
    sign = element("span", "sign", { "aria-hidden": "true" });
    what;
    came = element("span", "came");
    question = null;
    asking = null; // what the card is for
    constructor(item, decide) {
        this.decide = decide;
        this.what = element("code", "what", {}, visible(called(item.run.call)));
        this.root.append(element("p", "brief", {}, this.sign, " ", this.what, " ", this.came));
    }
    update({ run }) {
        setAttribute(this.root, "data-state", run.state);
        setText(this.sign, STATES[run.state].sign);
        setText(this.came, outcome(run));
        if (run.state === this.asking)
            return;
        this.decided();
        if (run.state === "approval" && run.whole)
            this.ask(run, "waits for your approval", "", this.approval(run));
        if (run.state === "answer")
            this.ask(run, "waits for your answer", ": it has no handler", this.answer(run));
    }
    ask(run, waits, why, answers) {
        const { name, args } = run.call;
        this.asking = run.state;
        this.question = element("div", "question", { role: "group", "aria-label": `${name} ${waits}` }, element("p", "", {}, element("strong", "", {}, name), ` ${waits}${why}`), element("pre", "", { tabindex: "0", "aria-label": "Arguments" }, visible(pretty(args))), answers);
        this.root.append(this.question);
    }
    /** Two buttons, and the reason that goes with the second. */
    approval({ call: { id, name } }) {
        const reason = element("input", "", { type: "text", "aria-label": "Reason", placeholder: "Reason for a refusal" });
        const approve = element("button", "primary", { type: "button" }, `Approve ${name}`);
        const refuse = element("button", "", { type: "button" }, `Refuse ${name}`);
        once([approve, refuse], approve, () => this.decide.approve(id));
        once([approve, refuse], refuse, () => this.decide.refuse(id, reason.value));
        return element("div", "answers", {}, approve, refuse, reason);
    }
    /** A field for the result, JSON or text, and a button for each kind of end. */
    answer({ call: { id, name } }) {
        const result = element("input", "", { type: "text", "aria-label": "Result", placeholder: "Result, as text or JSON" });
        const answer = element("button", "primary", { type: "button" }, `Answer ${name}`);
        const fail = element("button", "", { type: "button", title: "The model reads the text as an error" }, `Fail ${name}`);
        once([answer, fail], answer, () => this.decide.respond(id, valueOf(result.value)));
        once([answer, fail], fail, () => this.decide.respond(id, new Error(result.value || "it failed")));
        result.addEventListener("keydown", (event) => {
            if (event.key === "Enter")
                answer.click();
        });
        return element("div", "answers", {}, result, answer, fail);
    }
    decided() {
        const focused = this.question?.contains(document.activeElement) ?? false;
        this.question?.remove();
        this.question = this.asking = null;
        if (focused)
            document.getElementById("message")?.focus();
    }
}
/** Let a button act; after it has, neither may again. While the line is away it can be tried again. */
function once(all, button, act) {
    button.addEventListener("click", () => {
        const done = act();
        for (const each of all)
            each.disabled = done;
    });
}
/** JSON where it is, and text where it is not. */
function valueOf(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return text;
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
