// What the model of this session was told: its instructions in words, and the whole of the setup as it was sent.

import { byId, element } from "./dom.js";
import { pretty } from "./format.js";

interface Content {
  parts?: { text?: string }[];
}

/** A setup as it goes over the wire. */
export type SetupMessage = Record<string, unknown> & { systemInstruction?: Content; model?: string };

export function showSetup(setup: SetupMessage): void {
  const words = (setup.systemInstruction?.parts ?? []).map(({ text }) => text ?? "").join("\n");
  byId("setup").replaceChildren(
    section("Instructions", element("p", words ? "words" : "words count", { dir: "auto" }, words || "none")),
    section("Setup, as it was sent", element("pre", "", { tabindex: "0", "aria-label": "Setup" }, pretty(setup))),
  );
}

const section = (title: string, body: HTMLElement): HTMLElement =>
  element("section", "", {}, element("h3", "", {}, title), body);
