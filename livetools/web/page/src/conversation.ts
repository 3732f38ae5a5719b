// The left side: what was said on both sides, the calls between, and the questions of tools that want an approval.

import { element, List, setAttribute, setText, type View } from "./dom.js";
import { called, plain, pretty, result, short, STATES, stateOf } from "./format.js";
import type { CallItem, Exchange, Item, Note, Run, Message } from "./state.js";

/** What a person decides of a call. */
export interface Decide {
  approve(id: string): boolean;
  refuse(id: string, reason: string): boolean;
}

/** Stands for speech that the service does not write down, or has not yet. */
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
    if (exchange.revision === this.drawn) return;
    this.drawn = exchange.revision;
    this.items.update(exchange.items, now);
  }
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
      element(item.role === "code" ? "pre" : "p", "text", {}, this.text, this.interim, this.mark),
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

  constructor(note: Note) {
    this.root = element("p", `item note ${note.tone}`, {}, note.text);
  }

  update(): void {}
}

/** A call in a line; while it waits for an approval, a card with its arguments and the two answers. */
class CallView implements View<CallItem> {
  readonly root = element("div", "item call");
  private readonly sign = element("span", "sign", { "aria-hidden": "true" });
  private readonly what: HTMLElement;
  private readonly came = element("span", "came");
  private question: HTMLElement | null = null;

  constructor(
    item: CallItem,
    private readonly decide: Decide,
  ) {
    this.what = element("code", "what", {}, called(item.run.call));
    this.root.append(element("p", "brief", {}, this.sign, " ", this.what, " ", this.came));
  }

  update({ run }: CallItem): void {
    setAttribute(this.root, "data-state", run.state);
    setText(this.sign, STATES[run.state].sign);
    setText(this.came, outcome(run));
    if (run.state === "approval" && this.question === null) this.ask(run);
    if (run.state !== "approval" && this.question !== null) this.answered();
  }

  private ask(run: Run): void {
    const { name, args } = run.call;
    const reason = element("input", "", { type: "text", "aria-label": "Reason", placeholder: "Reason (optional)" });
    const approve = element("button", "primary", { type: "button" }, `Approve ${name}`);
    const refuse = element("button", "", { type: "button" }, `Refuse ${name}`);
    const decide = (act: () => boolean) => () => {
      approve.disabled = refuse.disabled = act(); // false: the line is away, and it can be tried again
    };
    approve.addEventListener("click", decide(() => this.decide.approve(run.call.id)));
    refuse.addEventListener("click", decide(() => this.decide.refuse(run.call.id, reason.value)));
    this.question = element(
      "div",
      "question",
      { role: "group", "aria-label": `${name} waits for your approval` },
      element("p", "", {}, element("strong", "", {}, name), " waits for your approval. It would be called with:"),
      element("pre", "", { tabindex: "0", "aria-label": "Arguments" }, pretty(args)),
      element("div", "answers", {}, approve, refuse, reason),
    );
    this.root.append(this.question);
  }

  private answered(): void {
    const focused = this.question?.contains(document.activeElement) ?? false;
    this.question?.remove();
    this.question = null;
    if (focused) document.getElementById("message")?.focus();
  }
}

function outcome(run: Run): string {
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
