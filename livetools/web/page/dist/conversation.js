// The left side: what was said on both sides, the calls between, and the questions of tools that want an approval.
import { element, List, setAttribute, setText } from "./dom.js";
import { came, plain, pretty, result, short, STATES, stateOf, visible } from "./format.js";
/** Placeholder for speech whose transcript has not arrived, or never will. */
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
        const counts = exchange.items.some((item) => item.kind === "call" && item.run.state === "approval"); // the seconds left
        if (exchange.revision === this.drawn && !counts)
            return;
        this.drawn = exchange.revision;
        this.items.update(exchange.items, now);
    }
}
/** A typed turn that is on its way: it shows at once, and says so. */
export class SendingView {
    root;
    constructor({ text }) {
        this.root = element("article", "item user sending", { "aria-label": "You" }, element("p", "who", {}, "You · sending…"), element("p", "text", { dir: "auto" }, text));
    }
    update() { }
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
        this.root = element("article", `item ${item.role}`, { "aria-label": WHO[item.role] }, element("p", "who", {}, WHO[item.role], how), element(item.role === "code" ? "pre" : "p", "text", { dir: item.role === "code" ? "ltr" : "auto" }, this.text, this.interim, this.mark));
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
    constructor({ tone, text }) {
        this.root =
            tone === "divider"
                ? element("div", "item divider", { role: "separator", "aria-label": text }, element("span", "", {}, text))
                : element("p", `item note ${tone}`, {}, text);
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
    value = element("bdi", "value");
    left = null; // how long there is to decide
    question = null;
    asking = null; // what the card is for
    constructor(item, decide) {
        this.decide = decide;
        this.what = element("code", "what", {}, ...written(item.run));
        const open = element("button", "", { type: "button", title: "Show it on the timeline" }, this.what);
        open.addEventListener("click", () => decide.reveal(item.run));
        this.root.id = `said-${item.run.key}`;
        this.root.append(element("p", "brief", {}, this.sign, " ", open, " ", this.came, this.value));
    }
    update({ run }, now) {
        setAttribute(this.root, "data-state", run.state);
        setText(this.sign, STATES[run.state].sign);
        const [words, value] = outcome(run);
        setText(this.came, words);
        setText(this.value, value);
        if (run.state !== this.asking)
            this.change(run);
        if (this.left !== null)
            setText(this.left, remaining(run, now));
    }
    /** Another question is to be asked, or none any more. */
    change(run) {
        this.decided();
        if (run.state === "approval" && run.whole)
            this.ask(run, "waits for your approval", "", this.approval(run));
        if (run.state === "answer")
            this.ask(run, "waits for your answer", ": it has no handler", this.answer(run));
    }
    ask(run, waits, why, answers) {
        const { name, args } = run.call;
        this.asking = run.state;
        this.question = element("div", "question", { role: "group", "aria-label": `${name} ${waits}` }, element("p", "", {}, (this.left = element("span", "left", { role: "timer" })), element("strong", "", {}, name), ` ${waits}${why}`), element("pre", "", { tabindex: "0", "aria-label": "Arguments" }, visible(pretty(args))), answers);
        this.root.append(this.question);
    }
    /** Two buttons, and the reason that goes with the second. */
    approval({ call: { id, name } }) {
        const reason = element("input", "", { type: "text", dir: "auto", "aria-label": "Reason", placeholder: "Reason for a refusal" });
        const approve = element("button", "primary", { type: "button" }, `Approve ${name}`);
        const refuse = element("button", "", { type: "button" }, `Refuse ${name}`);
        once([approve, refuse], approve, () => this.decide.approve(id));
        once([approve, refuse], refuse, () => this.decide.refuse(id, reason.value));
        onEnter(reason, () => refuse.click());
        return element("div", "answers", {}, approve, refuse, reason);
    }
    /** A field for the result, JSON or text, and a button for each kind of end. */
    answer({ call: { id, name } }) {
        const result = element("input", "", { type: "text", dir: "auto", "aria-label": "Result", placeholder: "Result, as text or JSON" });
        const answer = element("button", "primary", { type: "button" }, `Answer ${name}`);
        const fail = element("button", "", { type: "button", title: "The model reads the text as an error" }, `Fail ${name}`);
        once([answer, fail], answer, () => this.decide.respond(id, valueOf(result.value)));
        once([answer, fail], fail, () => this.decide.respond(id, new Error(result.value || "it failed")));
        onEnter(result, () => answer.click());
        return element("div", "answers", {}, result, answer, fail);
    }
    decided() {
        const focused = this.question?.contains(document.activeElement) ?? false;
        this.question?.remove();
        this.question = this.asking = this.left = null;
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
function onEnter(field, act) {
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing)
            return;
        event.preventDefault();
        act();
    });
}
/** How long there is to decide: `24 s left`. */
function remaining({ asked, timeout }, now) {
    if (asked === null || timeout === null)
        return "";
    return `${Math.ceil(Math.min(timeout, Math.max(0, asked + timeout - now)))} s left`; // the clocks differ a little
}
/** A call as Python would write it, each value in the direction of its own script. */
function written({ call: { name, args } }) {
    const given = Object.entries(args).flatMap(([key, value], n) => [
        visible(`${n > 0 ? ", " : ""}${key}=`),
        element("bdi", "", {}, visible(short(value))),
    ]);
    return [visible(`${name}(`), ...given, ")"];
}
/** What has become of a call, in words, and the value that belongs to it. */
function outcome(run) {
    const last = run.progress[run.progress.length - 1];
    const value = run.response === null ? null : result(run.response);
    switch (run.state) {
        case "finished":
            return ["→ ", came(run)];
        case "failed":
        case "refused":
            return [`→ ${STATES[run.state].word}${run.response === null ? "" : ": "}`, run.response === null ? "" : plain(value)];
        case "running":
            return last === undefined ? ["running…", ""] : ["… ", short(last.value)];
        default:
            return [stateOf(run), ""];
    }
}
