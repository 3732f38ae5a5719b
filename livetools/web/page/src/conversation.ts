// The left side: what was said on both sides, the calls between, and the questions of tools that want an approval.

import { element, List, setAttribute, setText, type View } from "./dom.js";
import { came, plain, pretty, result, short, STATES, stateOf, visible } from "./format.js";
import type { CallItem, CallState, Exchange, Item, Note, Run, Message } from "./state.js";

/** What a person decides of a call. */
export interface Decide {
  approve(id: string): boolean;
  refuse(id: string, reason: string): boolean;
  /** Answer in the place of a function without a handler. */
  respond(id: string, value: unknown): boolean;
  /** Show a call on the timeline, with all that is known of it. */
  reveal(run: Run): void;
}

/** Placeholder for speech whose transcript has not arrived, or never will. */
export const NO_TRANSCRIPT = "(no transcript)";

const WHO: Record<Message["role"], string> = { user: "You", model: "Model", thought: "Thought", code: "Code" };

/** One exchange: its items in order. */
export class ExchangeView implements View<Exchange> {
  readonly root = element("div", "exchange");
  private readonly items: List<Item>;
  private drawn = -1; // the revision

  constructor(decide: Decide) {
    this.items = new List<Item>(this.root, (item) => itemView(item, decide) as View<Item>);
  }

  update(exchange: Exchange, now: number): void {
    const counts = exchange.items.some((item) => item.kind === "call" && item.run.state === "approval"); // the seconds left
    if (exchange.revision === this.drawn && !counts) return;
    this.drawn = exchange.revision;
    this.items.update(exchange.items, now);
  }
}

/** A typed turn that is on its way: it shows at once, and says so. */
export class SendingView implements View<{ key: number; text: string }> {
  readonly root: HTMLElement;

  constructor({ text }: { text: string }) {
    this.root = element(
      "article",
      "item user sending",
      { "aria-label": "You" },
      element("p", "who", {}, "You · sending…"),
      element("p", "text", { dir: "auto" }, text),
    );
  }

  update(): void {}
}

function itemView(item: Item, decide: Decide): View<Message> | View<Note> | View<CallItem> {
  switch (item.kind) {
    case "message":
      return new MessageView(item);
    case "note":
      return new NoteView(item);
    case "call":
      return new CallView(item, decide);
  }
}

class MessageView implements View<Message> {
  readonly root: HTMLElement;
  private readonly text = element("span", "final");
  private readonly interim = element("span", "interim");
  private readonly mark = element("span", "mark");

  constructor(item: Message) {
    const how = item.voice ? element("span", "voice", { title: "spoken" }, "spoken") : null;
    this.root = element(
      "article",
      `item ${item.role}`,
      { "aria-label": WHO[item.role] },
      element("p", "who", {}, WHO[item.role], how),
      element(item.role === "code" ? "pre" : "p", "text", { dir: item.role === "code" ? "ltr" : "auto" }, this.text, this.interim, this.mark),
    );
  }

  update(item: Message): void {
    setText(this.text, item.text || (item.interim ? "" : item.open ? "…" : NO_TRANSCRIPT));
    setText(this.interim, item.interim);
    setText(this.mark, item.interrupted ? "interrupted" : "");
    this.root.classList.toggle("open", item.open);
    this.root.classList.toggle("interrupted", item.interrupted);
  }
}

class NoteView implements View<Note> {
  readonly root: HTMLElement;

  constructor({ tone, text }: Note) {
    this.root =
      tone === "divider"
        ? element("div", "item divider", { role: "separator", "aria-label": text }, element("span", "", {}, text))
        : element("p", `item note ${tone}`, {}, text);
  }

  update(): void {}
}

/** A call in a line; while it waits for a person, a card with its arguments and the answers. */
class CallView implements View<CallItem> {
  readonly root = element("div", "item call");
  private readonly sign = element("span", "sign", { "aria-hidden": "true" });
  private readonly what: HTMLElement;
  private readonly came = element("span", "came");
  private readonly value = element("bdi", "value");
  private left: HTMLElement | null = null; // how long there is to decide
  private question: HTMLElement | null = null;
  private asking: CallState | null = null; // what the card is for

  constructor(
    item: CallItem,
    private readonly decide: Decide,
  ) {
    this.what = element("code", "what", {}, ...written(item.run));
    const open = element("button", "", { type: "button", title: "Show it on the timeline" }, this.what);
    open.addEventListener("click", () => decide.reveal(item.run));
    this.root.id = `said-${item.run.key}`;
    this.root.append(element("p", "brief", {}, this.sign, " ", open, " ", this.came, this.value));
  }

  update({ run }: CallItem, now: number): void {
    setAttribute(this.root, "data-state", run.state);
    setText(this.sign, STATES[run.state].sign);
    const [words, value] = outcome(run);
    setText(this.came, words);
    setText(this.value, value);
    if (run.state !== this.asking) this.change(run);
    if (this.left !== null) setText(this.left, remaining(run, now));
  }

  /** Another question is to be asked, or none any more. */
  private change(run: Run): void {
    this.decided();
    if (run.state === "approval" && run.whole) this.ask(run, "waits for your approval", "", this.approval(run));
    if (run.state === "answer") this.ask(run, "waits for your answer", ": it has no handler", this.answer(run));
  }

  private ask(run: Run, waits: string, why: string, answers: HTMLElement): void {
    const { name, args } = run.call;
    this.asking = run.state;
    this.question = element(
      "div",
      "question",
      { role: "group", "aria-label": `${name} ${waits}` },
      element("p", "", {}, (this.left = element("span", "left", { role: "timer" })), element("strong", "", {}, name), ` ${waits}${why}`),
      element("pre", "", { tabindex: "0", "aria-label": "Arguments" }, visible(pretty(args))),
      answers,
    );
    this.root.append(this.question);
  }

  /** Two buttons, and the reason that goes with the second. */
  private approval({ call: { id, name } }: Run): HTMLElement {
    const reason = element("input", "", { type: "text", dir: "auto", "aria-label": "Reason", placeholder: "Reason for a refusal" });
    const approve = element("button", "primary", { type: "button" }, `Approve ${name}`);
    const refuse = element("button", "", { type: "button" }, `Refuse ${name}`);
    once([approve, refuse], approve, () => this.decide.approve(id));
    once([approve, refuse], refuse, () => this.decide.refuse(id, reason.value));
    onEnter(reason, () => refuse.click());
    return element("div", "answers", {}, approve, refuse, reason);
  }

  /** A field for the result, JSON or text, and a button for each kind of end. */
  private answer({ call: { id, name } }: Run): HTMLElement {
    const result = element("input", "", { type: "text", dir: "auto", "aria-label": "Result", placeholder: "Result, as text or JSON" });
    const answer = element("button", "primary", { type: "button" }, `Answer ${name}`);
    const fail = element("button", "", { type: "button", title: "The model reads the text as an error" }, `Fail ${name}`);
    once([answer, fail], answer, () => this.decide.respond(id, valueOf(result.value)));
    once([answer, fail], fail, () => this.decide.respond(id, new Error(result.value || "it failed")));
    onEnter(result, () => answer.click());
    return element("div", "answers", {}, result, answer, fail);
  }

  private decided(): void {
    const focused = this.question?.contains(document.activeElement) ?? false;
    this.question?.remove();
    this.question = this.asking = this.left = null;
    if (focused) document.getElementById("message")?.focus();
  }
}

/** Let a button act; after it has, neither may again. While the line is away it can be tried again. */
function once(all: HTMLButtonElement[], button: HTMLButtonElement, act: () => boolean): void {
  button.addEventListener("click", () => {
    const done = act();
    for (const each of all) each.disabled = done;
  });
}

/** JSON where it is, and text where it is not. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function onEnter(field: HTMLInputElement, act: () => void): void {
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    act();
  });
}

/** How long there is to decide: `24 s left`. */
function remaining({ asked, timeout }: Run, now: number): string {
  if (asked === null || timeout === null) return "";
  return `${Math.ceil(Math.min(timeout, Math.max(0, asked + timeout - now)))} s left`; // the clocks differ a little
}

/** A call as Python would write it, each value in the direction of its own script. */
function written({ call: { name, args } }: Run): (Node | string)[] {
  const given = Object.entries(args).flatMap(([key, value], n) => [
    visible(`${n > 0 ? ", " : ""}${key}=`),
    element("bdi", "", {}, visible(short(value))),
  ]);
  return [visible(`${name}(`), ...given, ")"];
}

/** What has become of a call, in words, and the value that belongs to it. */
function outcome(run: Run): [string, string] {
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
