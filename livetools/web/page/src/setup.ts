// The setup of this session: its instructions as text, the whole setup message, and a form with changes for the next
// session.

import { byId, element, setText } from "./dom.js";
import { pretty } from "./format.js";
import type { Declared } from "./tools.js";

interface Content {
  parts?: { text?: string }[];
}

interface SpeechConfig {
  languageCode?: string;
  voiceConfig?: { prebuiltVoiceConfig?: { voiceName?: string } };
}

/** A setup as it goes over the wire. */
export type SetupMessage = Record<string, unknown> & {
  systemInstruction?: Content;
  model?: string;
  generationConfig?: { speechConfig?: SpeechConfig };
  tools?: { functionDeclarations?: (Partial<Declared> & { name: string; parametersJsonSchema?: Declared["parameters"] })[] }[];
};

/** What can be chosen for a session. What is absent is as the agent has it. */
export type Choices = Partial<Record<Choice, string>>;
type Choice = (typeof CHOICES)[number];
const CHOICES = ["model", "voice", "language", "instructions"] as const;

/** The models and voices that are known, as suggestions. */
export type Offered = Record<"models" | "voices", string[]>;

export class Setup {
  private chosen: Choices = {};
  private told: Record<Choice, string> = { model: "", voice: "", language: "", instructions: "" };

  /** `begin` begins a session with these choices. */
  constructor(begin: (choices: Choices) => void) {
    byId("choices").addEventListener("submit", (event) => {
      event.preventDefault();
      begin(this.wanted());
    });
    byId("choices-reset").addEventListener("click", () => begin({}));
  }

  /** What may be chosen; `null`: nothing. */
  offer(offered: Offered | null): void {
    byId("choices").hidden = offered === null;
    for (const kind of ["models", "voices"] as const) {
      const names = offered?.[kind] ?? [];
      byId(`known-${kind}`).replaceChildren(...names.map((value) => element("option", "", { value })));
    }
  }

  /** Show the setup of the session. `chosen`: the values in it that were chosen on this page. */
  show(setup: SetupMessage, chosen: Choices): void {
    const words = (setup.systemInstruction?.parts ?? []).map(({ text }) => text ?? "").join("\n");
    const speech = setup.generationConfig?.speechConfig;
    this.chosen = chosen;
    this.told = {
      model: (setup.model ?? "").replace(/^.*\//, ""),
      voice: speech?.voiceConfig?.prebuiltVoiceConfig?.voiceName ?? "",
      language: speech?.languageCode ?? "",
      instructions: words,
    };
    for (const name of CHOICES) field(name).value = this.told[name];
    byId("choices-reset").hidden = Object.keys(chosen).length === 0;
    const changed = CHOICES.filter((name) => name in chosen);
    setText(byId("choices-state"), changed.length > 0 ? `Changed on this page: ${changed.join(", ")}.` : "");
    byId("setup").replaceChildren(
      section("told", "Instructions", element("p", words ? "words" : "words count", { dir: "auto" }, words || "none")),
      section("", "Setup, as it was sent", element("pre", "", { tabindex: "0", "aria-label": "Setup" }, pretty(setup))),
    );
  }

  /** What differs from the agent: what was chosen before, and what was changed just now. An empty field chooses nothing. */
  private wanted(): Choices {
    const wanted: Choices = {};
    for (const name of CHOICES) {
      const value = field(name).value.trim();
      if (value !== "" && (value !== this.told[name] || name in this.chosen)) wanted[name] = value;
    }
    return wanted;
  }
}

const field = (name: Choice): HTMLInputElement | HTMLTextAreaElement => byId(`choice-${name}`);

const section = (classes: string, title: string, body: HTMLElement): HTMLElement =>
  element("section", classes, {}, element("h3", "", {}, title), body);
