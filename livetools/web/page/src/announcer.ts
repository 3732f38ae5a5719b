// Announcements for screen readers: whole answers, questions, and changes of the connection. Single words are not announced.

import type { Entry, State } from "./state.js";
import { element } from "./dom.js";
import { current } from "./state.js";

const KEPT = 20;

export class Announcer {
  constructor(private readonly region: HTMLElement) {}

  /** Tell what an entry means, if a person should hear of it. */
  tell(state: State, entry: Entry): void {
    const text = spoken(state, entry);
    if (!text) return;
    this.region.append(element("p", "", {}, text)); // one after the other: what comes at once is all read
    while (this.region.childElementCount > KEPT) this.region.firstElementChild?.remove();
  }
}

function spoken(state: State, entry: Entry): string {
  switch (entry.type) {
    case "ApprovalRequested":
      return `${entry.call.name} waits for your approval`;
    case "ToolStarted":
      return state.declaredOnly.has(entry.call.name) ? `${entry.call.name} waits for your answer` : "";
    case "ToolFinished":
      return entry.error === null ? "" : `${entry.call.name} failed`;
    case "HandedOff":
      return `you are with ${entry.name ?? "another agent"} now`;
    case "Interrupted":
      return "interrupted";
    case "TurnComplete":
      return answer(state);
    case "Reconnecting":
      return "the model's line is away";
    case "Reconnected":
      return "connected again";
    case "ended":
      return entry.error === null ? "the session is over" : `the session has ended: ${entry.message}`;
    default:
      return "";
  }
}

/** What the model has said in this exchange since the last call. */
function answer(state: State): string {
  let said: string[] = [];
  for (const item of current(state)?.items ?? []) {
    if (item.kind === "call" || (item.kind === "message" && item.role === "user")) said = [];
    else if (item.kind === "message" && item.role === "model") said.push(`Model: ${item.text}`);
  }
  return said.join(" ");
}
