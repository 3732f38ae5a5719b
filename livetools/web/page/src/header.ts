// The header of the page: the agent and its model, the state of the connection, latency, tokens and cost.

import type { State as LineState } from "../../dist/client.js";
import { byId, setAttribute, setText } from "./dom.js";
import { duration } from "./format.js";
import { isGone, runs, waitsForPerson, type State } from "./state.js";
import type { Offered } from "./setup.js";
import type { Declared } from "./tools.js";

/** What the server knows before a session is open. */
export interface Facts {
  /** The agent, as on the command line. */
  title: string;
  model: string;
  tools: Declared[];
  pretend: boolean;
  /** Whether a recording is shown first; whether sessions are kept; what can be chosen for one (`null`: nothing). */
  replay: boolean;
  history: boolean;
  choices: Offered | null;
}

export interface HeaderActions {
  renew(): void;
  export(kind: string): void;
}

const LINES: Record<LineState, string> = {
  closed: "offline",
  connecting: "connecting…",
  ready: "connected",
  reconnecting: "page reconnecting…",
  ended: "ended",
};
const COUNT = new Intl.NumberFormat("en");

/** To the millisecond, which is what one compares, as long as that is a short word. */
const latency = (milliseconds: number): string =>
  milliseconds < 10_000 ? `${milliseconds} ms` : duration(milliseconds / 1000);

export class Header {
  private page: LineState = "closed";
  private reason = "";
  private title = document.title;
  private recorded = "";
  private pretend = false;

  constructor(actions: HeaderActions) {
    byId("renew").addEventListener("click", () => actions.renew());
    const menu = byId<HTMLDetailsElement>("export");
    for (const button of menu.querySelectorAll<HTMLButtonElement>("[data-export]")) {
      button.addEventListener("click", () => {
        menu.open = false;
        actions.export(button.dataset["export"] ?? "");
      });
    }
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary")?.focus();
      event.stopPropagation();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!menu.contains(target as Node)) menu.open = false;
    });
  }

  /** Show what is known before a session is open. */
  tell(facts: Facts): void {
    this.title = `${facts.title} · livetools`;
    document.title = this.title;
    setText(byId("agent"), facts.title);
    setAttribute(byId("agent"), "title", facts.title);
    setText(byId("model"), facts.model);
    this.pretend = facts.pretend;
    byId("pretend").hidden = !facts.pretend;
  }

  /** Set the state of this page's connection to the relay. */
  line(state: LineState, reason: string): void {
    this.page = state;
    this.reason = reason;
  }

  /** The model of the session. */
  model(name: string): void {
    setText(byId("model"), name);
  }

  /** A recording is shown in place of a session; `""`: none. */
  recording(name: string): void {
    this.recorded = name;
    byId("pretend").hidden = name !== "" || !this.pretend;
  }

  update(state: State): void {
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
    const title = waiting.length === 0 ? this.title : `(${waiting.length}) ${waiting[0]!.call.name} waits · ${this.title}`;
    if (document.title !== title) document.title = title;
    setText(byId("tokens"), COUNT.format(state.tokens));
    setText(byId("price"), state.cost === null ? "price unknown" : `$${state.cost.toFixed(state.cost < 1 ? 4 : 2)}`);
  }

  /** The state that the dot shows, its words, and the reason. The session may end, or lose its model, before this page does. */
  private standing(state: State): [string, string, string] {
    if (this.recorded !== "") return ["ended", "recording", this.recorded];
    if (isGone(state.line)) return [state.line, LINES.ended, state.lineNote];
    if (this.page !== "ready") return [this.page, LINES[this.page], this.reason];
    if (state.line === "reconnecting") return ["reconnecting", "reconnecting…", state.lineNote];
    return ["connected", LINES.ready, this.reason];
  }
}
