// The right side: each exchange with a scale of time of its own, what was said and called as bars on it.

import { element, List, setAttribute, setText, type View } from "./dom.js";
import { called, duration, images, pretty, short, STATES, stateOf, tick } from "./format.js";
import { endOf, isOpen, isOver, type Call, type Exchange, type Run, type Message } from "./state.js";

/** One frame of the session, as the server kept it: media are left out. */
export interface Frame {
  time: number;
  direction: "client" | "server";
  connection: number;
  frame: unknown;
}

/** The id of the button of a call. */
export const idOf = (run: Run): string => `call-${run.key}`;

/** What is looked for on the timeline. */
export interface Wanted {
  text: string;
  failures: boolean;
}

const FAILURES: ReadonlySet<string> = new Set(["failed", "refused", "cancelled", "lost"]);

/** Whether a row is one that is looked for. */
function isWanted(row: Row, { text, failures }: Wanted): boolean {
  if (failures && !("run" in row && FAILURES.has(row.run.state))) return false;
  if (text === "") return true;
  const words = "run" in row ? [called(row.run.call), stateOf(row.run), pretty(row.run.response), ...row.run.progress.map(({ value }) => pretty(value))] : [row.message.text];
  return words.some((each) => each.toLocaleLowerCase().includes(text));
}

/** What a call on the timeline asks for. */
export interface CallActions {
  /** Its frames. */
  frames(call: Call): Promise<Frame[]>;
  /** It was opened: show where it was made in the conversation. */
  opened(run: Run): void;
  /** Show it in the conversation, where that is another view. */
  asked(run: Run): void;
}

const TICK_WIDTH = 70; // pixels that a tick and its text need
const SHORTEST = 0.25; // seconds that a scale shows at least
const ORIGINS: Record<Exchange["origin"], string> = { text: "typed", voice: "spoken", model: "by the model" };

/** One row of an exchange: something said, or a call. */
type Row = { key: number; from: number; until: number } & ({ message: Pick<Message, "role" | "text" | "interrupted"> } | { run: Run });

/** The scale of an exchange, from its beginning to its end. */
interface Scale {
  began: number;
  length: number;
}

/** Whether there is something of an exchange to be drawn: notes alone have no bars. */
export const hasRows = (exchange: Exchange): boolean =>
  exchange.origin !== "model" || exchange.items.some((item) => item.kind !== "note");

/** Redraws the ticks of a scale that has another width now. */
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => scales.get(target)?.()));
const scales = new WeakMap<Element, () => void>();

export class ExchangeBars implements View<Exchange> {
  readonly root: HTMLElement;
  private readonly number = element("span");
  private readonly about = element("span", "about");
  private readonly axis = element("div", "axis", { "aria-hidden": "true" });
  private readonly rows = element("ol", "rows");
  private readonly list: List<Row>;
  private scale: Scale = { began: 0, length: SHORTEST };

  constructor(
    private readonly numberOf: (exchange: Exchange) => number,
    actions: CallActions,
    private readonly wanted: Readonly<Wanted>,
  ) {
    const title = element("h3", "title", {}, this.number, this.about);
    this.root = element("li", "turn", {}, title, this.axis, this.rows);
    scales.set(this.axis, () => this.draw());
    widths.observe(this.axis);
    this.list = new List<Row>(this.rows, (row) => {
      const scale = () => this.scale;
      return "run" in row ? new CallRow(scale, actions) : new MessageRow(scale);
    });
  }

  private drawn = -1; // the revision
  private filter = "false ";

  update(exchange: Exchange, now: number): void {
    const open = isOpen(exchange); // its bars grow with time, even without new events
    const { text, failures } = this.wanted;
    const filter = `${failures} ${text}`;
    setText(this.number, `Turn ${this.numberOf(exchange)}`);
    if (exchange.revision === this.drawn && filter === this.filter && !open) return;
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

  private draw(): void {
    const step = niceStep(this.scale.length, Math.min(4, Math.max(1, this.axis.clientWidth / TICK_WIDTH)));
    const ticks: string[] = [];
    for (let n = 0; n * step < this.scale.length * 0.85; n++) ticks.push(tick(n * step));
    const drawn = `${ticks.join("|")}/${this.scale.length}`;
    if (this.axis.dataset["drawn"] === drawn) return;
    this.axis.dataset["drawn"] = drawn;
    this.axis.replaceChildren(
      ...ticks.map((text, n) => {
        const made = element("span", "", {}, text);
        made.style.left = `${((n * step) / this.scale.length) * 100}%`;
        return made;
      }),
    );
  }
}

/** A step between ticks: 1, 2 or 5 times a power of ten, so that there are about so many on a scale. */
function niceStep(length: number, ticks: number): number {
  const least = length / ticks;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((times) => times * power >= least) ?? 10);
}

function rowsOf(exchange: Exchange, end: number): Row[] {
  const rows: Row[] = [];
  const last = exchange.items.findLast((item) => item.kind !== "note");
  const spoken = { from: exchange.began, until: exchange.asked ?? exchange.answered ?? end };
  for (const item of exchange.items) {
    if (item.kind === "call") {
      rows.push({ key: item.key, from: item.run.began, until: item.run.ended ?? end, run: item.run });
    } else if (item.kind === "message") {
      const until = item.open ? end : item === last && !item.interrupted ? (exchange.ended ?? item.last) : item.last;
      const { role, text, interrupted } = item;
      const voice = role === "user" && item.voice && exchange.origin === "voice";
      rows.push({ key: item.key, from: item.began, until, ...(voice ? spoken : {}), message: { role, text, interrupted } });
    }
  }
  return rows;
}

function place(bar: HTMLElement, scale: Scale, from: number, until: number): void {
  const left = Math.min(1, Math.max(0, (from - scale.began) / scale.length));
  const right = Math.min(1, Math.max(left, (until - scale.began) / scale.length));
  bar.style.left = `${(left * 100).toFixed(2)}%`;
  bar.style.width = `${((right - left) * 100).toFixed(2)}%`;
}

const NAMES: Record<Message["role"], string> = { user: "you", model: "model", thought: "thought", code: "code" };

class MessageRow implements View<Row> {
  readonly root: HTMLElement;
  private readonly name = element("span", "name");
  private readonly bar = element("span", "bar");

  constructor(private readonly scale: () => Scale) {
    this.root = element("li", "row", {}, this.name, element("span", "track", {}, this.bar));
  }

  update(row: Row): void {
    if (!("message" in row)) return;
    setText(this.name, NAMES[row.message.role]);
    setAttribute(this.root, "data-role", row.message.role);
    setAttribute(this.root, "title", row.message.text.slice(0, 300) || null);
    this.root.classList.toggle("interrupted", row.message.interrupted);
    place(this.bar, this.scale(), row.from, row.until);
  }
}

class CallRow implements View<Row> {
  readonly root = element("li", "row call");
  private readonly button: HTMLButtonElement;
  private readonly name = element("span", "name");
  private readonly bar = element("span", "bar");
  private readonly wait = element("span", "wait");
  private readonly ticks = element("span", "ticks");
  private readonly state = element("span", "state");
  private details: Details | null = null;

  constructor(
    private readonly scale: () => Scale,
    private readonly actions: CallActions,
  ) {
    this.button = element(
      "button",
      "open",
      { type: "button", "aria-expanded": "false" },
      this.name,
      element("span", "track", {}, this.wait, this.bar, this.ticks),
      this.state,
    );
    this.root.append(this.button);
  }

  update(row: Row): void {
    if (!("run" in row)) return;
    const { run } = row;
    if (!this.button.id) this.listen(run);
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

  private drawProgress(run: Run): void {
    const { began, length } = this.scale();
    while (this.ticks.childElementCount < run.progress.length) this.ticks.append(element("i"));
    run.progress.forEach(({ time, value }, n) => {
      const tick = this.ticks.children[n] as HTMLElement;
      tick.style.left = `${((time - began) / length) * 100}%`;
      tick.title = short(value);
    });
  }

  private listen(run: Run): void {
    this.button.id = idOf(run);
    this.button.addEventListener("click", () => {
      if (this.details === null) {
        this.details = new Details(run, this.actions);
        this.actions.opened(run);
        this.root.append(this.details.root);
      } else {
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
  readonly root: HTMLElement;
  private readonly parts = new Map<string, HTMLElement>();
  private shown = "";

  constructor(
    run: Run,
    private readonly actions: CallActions,
  ) {
    const back = element("button", "", { type: "button" }, "Show in the conversation");
    back.addEventListener("click", () => actions.asked(run));
    this.root = element("div", "details", { id: `details-${run.key}` }, element("p", "back", {}, back));
    this.update(run);
  }

  update(run: Run): void {
    const shown = `${run.state} ${run.progress.length} ${run.ended}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.part("Arguments", pretty(run.call.args));
    if (run.progress.length > 0) {
      this.part("Yields and progress", run.progress.map(({ time, value }) => `${duration(time - run.began)}  ${short(value)}`).join("\n"));
    }
    if (run.response !== null) this.part(run.error === null ? "Result" : `Error (${run.error})`, pretty(run.response));
    for (const url of images(run.response).slice(this.pictures)) this.picture(url);
    void this.showFrames(run.call);
  }

  private pictures = 0;

  private picture(url: string): void {
    this.pictures++;
    this.root.append(element("section", "", {}, element("img", "", { src: url, alt: "An image of the result" })));
  }

  private part(title: string, text: string): void {
    let body = this.parts.get(title);
    if (body === undefined) {
      body = element("pre", "", { tabindex: "0", "aria-label": title });
      const frames = this.parts.get("Frames")?.parentElement ?? null; // they stay the last
      this.root.insertBefore(element("section", "", {}, element("h4", "", {}, title), body), frames);
      this.parts.set(title, body);
    }
    setText(body, text);
  }

  private async showFrames(call: Call): Promise<void> {
    try {
      const frames = await this.actions.frames(call);
      this.part("Frames", frames.map(frameText).join("\n\n") || "no frame names this call");
    } catch (error) {
      this.part("Frames", `the frames cannot be had: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function frameText({ time, direction, connection, frame }: Frame): string {
  const arrow = direction === "client" ? "→ sent" : "← received";
  return `${time.toFixed(3)} s  ${arrow}, connection ${connection}\n${pretty(frame)}`;
}

