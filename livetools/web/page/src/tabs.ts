// What the right side shows; on a narrow screen, the only side. The first tab says when a call waits for a person.

import { byId, setText } from "./dom.js";
import { runs, waitsForPerson, type State } from "./state.js";

const WIDE = window.matchMedia("(min-width: 60.01rem)");

export class Tabs {
  private readonly buttons = document.querySelectorAll<HTMLButtonElement>("button[data-view]");

  private shown = "conversation";

  /** `changed` is called with what is shown from now on. */
  constructor(private readonly changed: (view: string) => void) {
    for (const button of this.buttons) {
      button.addEventListener("click", () => this.show(button.dataset["view"] ?? "conversation"));
    }
    byId("all-tools").addEventListener("click", () => {
      this.show("tools");
      byId("tools-search").focus();
    });
    this.show("conversation");
    WIDE.addEventListener("change", () => this.show(this.shown));
  }

  show(view: string): void {
    this.shown = view;
    document.querySelector("main")?.setAttribute("data-view", view);
    for (const each of this.buttons) {
      const { view: own } = each.dataset;
      // where the conversation is always there, its side is the timeline's unless another one is wanted
      const pressed = own === view || (own === "timeline" && view === "conversation" && WIDE.matches);
      each.setAttribute("aria-pressed", String(pressed));
    }
    this.changed(view);
  }

  update({ exchanges }: State): void {
    const waiting = exchanges.flatMap(runs).filter(waitsForPerson).length;
    const [conversation] = this.buttons;
    if (conversation !== undefined) setText(conversation, waiting > 0 ? `Conversation (${waiting})` : "Conversation");
  }
}
