// The setup of this session: its instructions as text, the whole setup message, and a form with changes for the next
// session.
import { byId, element, setText } from "./dom.js";
import { pretty } from "./format.js";
const CHOICES = ["model", "voice", "language", "instructions"];
export class Setup {
    chosen = {};
    told = { model: "", voice: "", language: "", instructions: "" };
    /** `begin` begins a session with these choices. */
    constructor(begin) {
        byId("choices").addEventListener("submit", (event) => {
            event.preventDefault();
            begin(this.wanted());
        });
        byId("choices-reset").addEventListener("click", () => begin({}));
    }
    /** What may be chosen; `null`: nothing. */
    offer(offered) {
        byId("choices").hidden = offered === null;
        for (const kind of ["models", "voices"]) {
            const names = offered?.[kind] ?? [];
            byId(`known-${kind}`).replaceChildren(...names.map((value) => element("option", "", { value })));
        }
    }
    /** Show the setup of the session. `chosen`: the values in it that were chosen on this page. */
    show(setup, chosen) {
        const words = (setup.systemInstruction?.parts ?? []).map(({ text }) => text ?? "").join("\n");
        const speech = setup.generationConfig?.speechConfig;
        this.chosen = chosen;
        this.told = {
            model: (setup.model ?? "").replace(/^.*\//, ""),
            voice: speech?.voiceConfig?.prebuiltVoiceConfig?.voiceName ?? "",
            language: speech?.languageCode ?? "",
            instructions: words,
        };
        for (const name of CHOICES)
            field(name).value = this.told[name];
        byId("choices-reset").hidden = Object.keys(chosen).length === 0;
        const changed = CHOICES.filter((name) => name in chosen);
        setText(byId("choices-state"), changed.length > 0 ? `Changed on this page: ${changed.join(", ")}.` : "");
        byId("setup").replaceChildren(section("told", "Instructions", element("p", words ? "words" : "words count", { dir: "auto" }, words || "none")), section("", "Setup, as it was sent", element("pre", "", { tabindex: "0", "aria-label": "Setup" }, pretty(setup))));
    }
    /** What differs from the agent: what was chosen before, and what was changed just now. An empty field chooses nothing. */
    wanted() {
        const wanted = {};
        for (const name of CHOICES) {
            const value = field(name).value.trim();
            if (value !== "" && (value !== this.told[name] || name in this.chosen))
                wanted[name] = value;
        }
        return wanted;
    }
}
const field = (name) => byId(`choice-${name}`);
const section = (classes, title, body) => element("section", classes, {}, element("h3", "", {}, title), body);
