// The right side: each exchange with a scale of time of its own, what was said and called as bars on it.
import { element, List, setAttribute, setText } from "./dom.js";
import { called, duration, images, pretty, short, STATES, stateOf, tick } from "./format.js";
import { endOf, isOpen, isOver } from "./state.js";
/** The id of the button of a call. */
export const idOf = (run) => `call-${run.key}`;
const FAILURES = new Set(["failed", "refused", "cancelled", "lost"]);
/** Whether a row is one that is looked for. */
function isWanted(row, { text, failures }) {
    if (failures && !("run" in row && FAILURES.has(row.run.state)))
        return false;
    if (text === "")
        return true;
    const words = "run" in row ? [called(row.run.call), stateOf(row.run), pretty(row.run.response), ...row.run.progress.map(({ value }) => pretty(value))] : [row.message.text];
    return words.some((each) => each.toLocaleLowerCase().includes(text));
}
const TICK_WIDTH = 70; // pixels that a tick and its text need
const SHORTEST = 0.25; // seconds that a scale shows at least
const ORIGINS = { text: "typed", voice: "spoken", model: "by the model" };
/** Whether there is something of an exchange to be drawn: notes alone have no bars. */
export const hasRows = (exchange) => exchange.origin !== "model" || exchange.items.some((item) => item.kind !== "note");
/** Redraws the ticks of a scale that has another width now. */
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => scales.get(target)?.()));
const scales = new WeakMap();
export class ExchangeBars {
    numberOf;
    wanted;
    root;
    number = element("span");
    about = element("span", "about");
    axis = element("div", "axis", { "aria-hidden": "true" });
    rows = element("ol", "rows");
    list;
    scale = { began: 0, length: SHORTEST };
    constructor(numberOf, actions, wanted) {
        this.numberOf = numberOf;
        this.wanted = wanted;
        const title = element("h3", "title", {}, this.number, this.about);
        this.root = element("li", "turn", {}, title, this.axis, this.rows);
        scales.set(this.axis, () => this.draw());
        widths.observe(this.axis);
        this.list = new List(this.rows, (row) => {
            const scale = () => this.scale;
            return "run" in row ? new CallRow(scale, actions) : new MessageRow(scale);
        });
    }
    drawn = -1; // the revision
    filter = "false ";
    update(exchange, now) {
        const open = isOpen(exchange); // its bars grow with time, even without new events
        const { text, failures } = this.wanted;
        const filter = `${failures} ${text}`;
        setText(this.number, `Turn ${this.numberOf(exchange)}`);
        if (exchange.revision === this.drawn && filter === this.filter && !open)
            return;
        this.filter = filter;
        this.drawn = open ? -1 : exchange.revision;
        const end = endOf(exchange, now);
        this.scale = { began: exchange.began, length: Math.max(SHORTEST, end - exchange.began) };
        const took = end > exchange.began ? ` · ${duration(end - exchange.began)}` : "";
        setText(this.about, ` · ${ORIGINS[exchange.origin]}${took}${exchange.interrupted ? " · interrupted" : ""}`);
        this.draw();
        const rows = rowsOf(exchange, end).filter((row) => isWanted(row, this.wanted));
        this.list.update(rows, now);
        this.root.hidden = rows.length === 0 && filter !== "false ";
    }
    draw() {
        const step = niceStep(this.scale.length, Math.min(4, Math.max(1, this.axis.clientWidth / TICK_WIDTH)));
        const ticks = [];
        for (let n = 0; n * step < this.scale.length * 0.85; n++)
            ticks.push(tick(n * step));
        const drawn = `${ticks.join("|")}/${this.scale.length}`;
        if (this.axis.dataset["drawn"] === drawn)
            return;
        this.axis.dataset["drawn"] = drawn;
        this.axis.replaceChildren(...ticks.map((text, n) => {
            const made = element("span", "", {}, text);
            made.style.left = `${((n * step) / this.scale.length) * 100}%`;
            return made;
        }));
    }
}
/** A step between ticks: 1, 2 or 5 times a power of ten, so that there are about so many on a scale. */
function niceStep(length, ticks) {
    const least = length / ticks;
    const power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 5].find((times) => times * power >= least) ?? 10);
}
function rowsOf(exchange, end) {
    const rows = [];
    const last = exchange.items.findLast((item) => item.kind !== "note");
    const spoken = { from: exchange.began, until: exchange.asked ?? exchange.answered ?? end };
    for (const item of exchange.items) {
        if (item.kind === "call") {
            rows.push({ key: item.key, from: item.run.began, until: item.run.ended ?? end, run: item.run });
        }
        else if (item.kind === "message") {
            const until = item.open ? end : item === last && !item.interrupted ? (exchange.ended ?? item.last) : item.last;
            const { role, text, interrupted } = item;
            const voice = role === "user" && item.voice && exchange.origin === "voice";
            rows.push({ key: item.key, from: item.began, until, ...(voice ? spoken : {}), message: { role, text, interrupted } });
        }
    }
    return rows;
}
function place(bar, scale, from, until) {
    const left = Math.min(1, Math.max(0, (from - scale.began) / scale.length));
    const right = Math.min(1, Math.max(left, (until - scale.began) / scale.length));
    bar.style.left = `${(left * 100).toFixed(2)}%`;
    bar.style.width = `${((right - left) * 100).toFixed(2)}%`;
}
const NAMES = { user: "you", model: "model", thought: "thought", code: "code" };
class MessageRow {
    scale;
    root;
    name = element("span", "name");
    bar = element("span", "bar");
    constructor(scale) {
        this.scale = scale;
        this.root = element("li", "row", {}, this.name, element("span", "track", {}, this.bar));
    }
    update(row) {
        if (!("message" in row))
            return;
        setText(this.name, NAMES[row.message.role]);
        setAttribute(this.root, "data-role", row.message.role);
        setAttribute(this.root, "title", row.message.text.slice(0, 300) || null);
        this.root.classList.toggle("interrupted", row.message.interrupted);
        place(this.bar, this.scale(), row.from, row.until);
    }
}
class CallRow {
    scale;
    actions;
    root = element("li", "row call");
    button;
    name = element("span", "name");
    bar = element("span", "bar");
    wait = element("span", "wait");
    ticks = element("span", "ticks");
    state = element("span", "state");
    details = null;
    constructor(scale, actions) {
        this.scale = scale;
        this.actions = actions;
        this.button = element("button", "open", { type: "button", "aria-expanded": "false" }, this.name, element("span", "track", {}, this.wait, this.bar, this.ticks), this.state);
        this.root.append(this.button);
    }
    update(row) {
        if (!("run" in row))
            return;
        const { run } = row;
        if (!this.button.id)
            this.listen(run);
        const took = isOver(run) || run.state === "lost" ? ` · ${duration(row.until - row.from)}` : "";
        setAttribute(this.root, "data-state", run.state);
        setText(this.name, run.call.name);
        setText(this.state, `${STATES[run.state].sign} ${stateOf(run)}${took}`);
        setAttribute(this.button, "aria-label", `Call ${called(run.call)}: ${stateOf(run)}${took}`);
        place(this.wait, this.scale(), row.from, run.approved ?? row.from);
        place(this.bar, this.scale(), run.approved ?? row.from, row.until);
        this.drawProgress(run);
        this.details?.update(run);
    }
    drawProgress(run) {
        const { began, length } = this.scale();
        while (this.ticks.childElementCount < run.progress.length)
            this.ticks.append(element("i"));
        run.progress.forEach(({ time, value }, n) => {
            const tick = this.ticks.children[n];
            tick.style.left = `${((time - began) / length) * 100}%`;
            tick.title = short(value);
        });
    }
    listen(run) {
        this.button.id = idOf(run);
        this.button.addEventListener("click", () => {
            if (this.details === null) {
                this.details = new Details(run, this.actions);
                this.actions.opened(run);
                this.root.append(this.details.root);
            }
            else {
                this.details.root.remove();
                this.details = null;
            }
            this.button.setAttribute("aria-expanded", String(this.details !== null));
            setAttribute(this.button, "aria-controls", this.details?.root.id ?? null);
        });
    }
}
/** What a click on a call opens: arguments, progress, result or error, frames. */
class Details {
    actions;
    root;
    parts = new Map();
    shown = "";
    constructor(run, actions) {
        this.actions = actions;
        const back = element("button", "", { type: "button" }, "Show in the conversation");
        back.addEventListener("click", () => actions.asked(run));
        this.root = element("div", "details", { id: `details-${run.key}` }, element("p", "back", {}, back));
        this.update(run);
    }
    update(run) {
        const shown = `${run.state} ${run.progress.length} ${run.ended}`;
        if (shown === this.shown)
            return;
        this.shown = shown;
        this.part("Arguments", pretty(run.call.args));
        if (run.progress.length > 0) {
            this.part("Yields and progress", run.progress.map(({ time, value }) => `${duration(time - run.began)}  ${short(value)}`).join("\n"));
        }
        if (run.response !== null)
            this.part(run.error === null ? "Result" : `Error (${run.error})`, pretty(run.response));
        for (const url of images(run.response).slice(this.pictures))
            this.picture(url);
        void this.showFrames(run.call);
    }
    pictures = 0;
    picture(url) {
        this.pictures++;
        this.root.append(element("section", "", {}, element("img", "", { src: url, alt: "An image of the result" })));
    }
    part(title, text) {
        let body = this.parts.get(title);
        if (body === undefined) {
            body = element("pre", "", { tabindex: "0", "aria-label": title });
            const frames = this.parts.get("Frames")?.parentElement ?? null; // they stay the last
            this.root.insertBefore(element("section", "", {}, element("h4", "", {}, title), body), frames);
            this.parts.set(title, body);
        }
        setText(body, text);
    }
    async showFrames(call) {
        try {
            const frames = await this.actions.frames(call);
            this.part("Frames", frames.map(frameText).join("\n\n") || "no frame names this call");
        }
        catch (error) {
            this.part("Frames", `the frames cannot be had: ${error instanceof Error ? error.message : String(error)}`);
        }
    }
}
function frameText({ time, direction, connection, frame }) {
    const arrow = direction === "client" ? "→ sent" : "← received";
    return `${time.toFixed(3)} s  ${arrow}, connection ${connection}\n${pretty(frame)}`;
}
