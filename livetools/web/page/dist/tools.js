// The functions that the model may call now: their names at the top of the page, all that is declared of them in a panel.
import { byId, element, setText } from "./dom.js";
export class Tools {
    all = [];
    names = [];
    search = byId("tools-search");
    constructor() {
        this.search.addEventListener("input", () => this.draw());
    }
    /** What is declared. */
    tell(tools) {
        this.all = [...tools];
        this.name(tools.map(({ name }) => name));
    }
    /** The names alone, which are known first. */
    name(names) {
        this.names = [...names];
        setText(byId("all-tools"), names.length === 1 ? "1 tool" : `${names.length} tools`);
        this.draw();
    }
    /** Look for nothing in particular. */
    clear() {
        if (this.search.value === "")
            return;
        this.search.value = "";
        this.draw();
    }
    draw() {
        const words = this.search.value.trim().toLocaleLowerCase().split(/\s+/);
        const found = this.names
            .map((name) => this.all.find((tool) => tool.name === name) ?? { name, description: "", parameters: null, approval: false, handled: true })
            .filter(({ name, description }) => {
            const text = `${name} ${description}`.toLocaleLowerCase();
            return words.every((word) => text.includes(word));
        });
        const none = this.names.length === 0 ? "no tools" : "no tool has these words";
        const fill = (list, items) => byId(list).replaceChildren(...(items.length > 0 ? items : [element("li", "none", {}, none)]));
        fill("tools", found.map(({ name, description }) => element("li", "", { title: description || null }, name)));
        fill("declared", found.map(about));
        setText(byId("tools-count"), found.length === this.names.length ? "" : `${found.length} of ${this.names.length}`);
    }
}
function about({ name, description, parameters, approval, handled }) {
    const marks = [approval ? "may ask for an approval" : "", handled ? "" : "answered on this page"].filter(Boolean);
    const given = Object.entries(parameters?.properties ?? {});
    const rows = given.map(([key, schema]) => element("tr", "", {}, element("td", "", {}, element("code", "", {}, key)), element("td", "", {}, `${typeOf(schema)}${parameters?.required?.includes(key) ? "" : ", optional"}`), element("td", "", { dir: "auto" }, schema.description ?? "")));
    return element("li", "", {}, element("code", "", {}, name), element("span", "marks", {}, marks.join(" · ")), element("p", "", { dir: "auto" }, description), rows.length > 0 ? element("table", "", { "aria-label": `Parameters of ${name}` }, element("tbody", "", {}, ...rows)) : null);
}
function typeOf(schema) {
    if (schema.enum !== undefined)
        return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    const type = [schema.type ?? "any"].flat().join(" | ").toLowerCase();
    return schema.items === undefined ? type : `${type} of ${typeOf(schema.items)}`;
}
