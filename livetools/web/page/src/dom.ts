// Elements, made and kept in order by key. Nothing is parsed as HTML: what a model says is text.

type Child = Node | string | null;

/** An element with classes, attributes (`null` leaves one out) and children: `element("p.note", { id: "x" }, "text")`. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  classes = "",
  attributes: Record<string, string | null> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children.filter((child): child is Node | string => child !== null));
  return made;
}

/** The element of this id, which the page has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found as T;
}

/** Set a text, if it is another one: what does not change is not laid out again. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or take it away with `null`, if it is another one. */
export function setAttribute(node: Element, name: string, value: string | null): void {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Something of the state that has an element of its own. */
export interface View<T> {
  readonly root: HTMLElement;
  update(value: T, now: number): void;
}

/** The children of `parent`, one a value, made once a key and kept in the order of the values. */
export class List<T extends { key: number }> {
  private readonly views = new Map<number, View<T>>();

  constructor(
    private readonly parent: HTMLElement,
    private readonly make: (value: T) => View<T>,
  ) {}

  update(values: readonly T[], now: number): void {
    const gone = new Set(this.views.keys());
    let next = this.parent.firstElementChild;
    for (const value of values) {
      gone.delete(value.key);
      let view = this.views.get(value.key);
      if (view === undefined) this.views.set(value.key, (view = this.make(value)));
      view.update(value, now);
      if (view.root === next) next = next.nextElementSibling;
      else this.parent.insertBefore(view.root, next);
    }
    for (const key of gone) {
      this.views.get(key)?.root.remove();
      this.views.delete(key);
    }
  }
}
