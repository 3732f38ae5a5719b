// The functions that the model may call now: their names at the top of the page, all that is declared of them in a panel.

import { byId, element, setText } from "./dom.js";

/** A function as it was declared. */
export interface Declared {
  name: string;
  description: string;
  /** Its parameters as a schema of the service; `null` for none. */
  parameters: Schema | null;
  /** Whether a call may wait for a person; whether it has a handler. */
  approval: boolean;
  handled: boolean;
}

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

export class Tools {
  private all: Declared[] = [];
  private names: string[] = [];
  private readonly search = byId<HTMLInputElement>("tools-search");

  constructor() {
    this.search.addEventListener("input", () => this.draw());
  }

  /** What is declared. */
  tell(tools: readonly Declared[]): void {
    this.all = [...tools];
    this.name(tools.map(({ name }) => name));
  }

  /** The names alone, which are known first. */
  name(names: readonly string[]): void {
    this.names = [...names];
    setText(byId("all-tools"), names.length === 1 ? "1 tool" : `${names.length} tools`);
    this.draw();
  }

  /** Look for nothing in particular. */
  clear(): void {
    if (this.search.value === "") return;
    this.search.value = "";
    this.draw();
  }

  private draw(): void {
    const words = this.search.value.trim().toLocaleLowerCase().split(/\s+/);
    const found = this.names
      .map((name) => this.all.find((tool) => tool.name === name) ?? { name, description: "", parameters: null, approval: false, handled: true })
      .filter(({ name, description }) => {
        const text = `${name} ${description}`.toLocaleLowerCase();
        return words.every((word) => text.includes(word));
      });
    const none = this.names.length === 0 ? "no tools" : "no tool has these words";
    const fill = (list: string, items: HTMLElement[]): void =>
      byId(list).replaceChildren(...(items.length > 0 ? items : [element("li", "none", {}, none)]));
    fill("tools", found.map(({ name, description }) => element("li", "", { title: description || null }, name)));
    fill("declared", found.map(about));
    setText(byId("tools-count"), found.length === this.names.length ? "" : `${found.length} of ${this.names.length}`);
  }
}

function about({ name, description, parameters, approval, handled }: Declared): HTMLElement {
  const marks = [approval ? "may ask for an approval" : "", handled ? "" : "answered on this page"].filter(Boolean);
  const given = Object.entries(parameters?.properties ?? {});
  const rows = given.map(([key, schema]) =>
    element(
      "tr",
      "",
      {},
      element("td", "", {}, element("code", "", {}, key)),
      element("td", "", {}, `${typeOf(schema)}${parameters?.required?.includes(key) ? "" : ", optional"}`),
      element("td", "", { dir: "auto" }, schema.description ?? ""),
    ),
  );
  return element(
    "li",
    "",
    {},
    element("code", "", {}, name),
    element("span", "marks", {}, marks.join(" · ")),
    element("p", "", { dir: "auto" }, description),
    rows.length > 0 ? element("table", "", { "aria-label": `Parameters of ${name}` }, element("tbody", "", {}, ...rows)) : null,
  );
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const type = [schema.type ?? "any"].flat().join(" | ").toLowerCase();
  return schema.items === undefined ? type : `${type} of ${typeOf(schema.items)}`;
}
