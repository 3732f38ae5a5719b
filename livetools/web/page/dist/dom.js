// Elements, made and kept in order by key. Nothing is parsed as HTML: what a model says is text.
/** An element with classes, attributes (`null` leaves one out) and children: `element("p.note", { id: "x" }, "text")`. */
export function element(tag, classes = "", attributes = {}, ...children) {
    const made = document.createElement(tag);
    if (classes)
        made.className = classes;
    for (const [name, value] of Object.entries(attributes))
        if (value !== null)
            made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null));
    return made;
}
/** The element of this id, which the page has. */
export function byId(id) {
    const found = document.getElementById(id);
    if (found === null)
        throw new Error(`the page has no element #${id}`);
    return found;
}
/** Set a text, if it is another one: what does not change is not laid out again. */
export function setText(node, text) {
    if (node.textContent !== text)
        node.textContent = text;
}
/** Set an attribute, or take it away with `null`, if it is another one. */
export function setAttribute(node, name, value) {
    if (value === null)
        node.removeAttribute(name);
    else if (node.getAttribute(name) !== value)
        node.setAttribute(name, value);
}
/** The children of `parent`, one a value, made once a key and kept in the order of the values. */
export class List {
    parent;
    make;
    views = new Map();
    constructor(parent, make) {
        this.parent = parent;
        this.make = make;
    }
    update(values, now) {
        const gone = new Set(this.views.keys());
        let next = this.parent.firstElementChild;
        for (const value of values) {
            gone.delete(value.key);
            let view = this.views.get(value.key);
            if (view === undefined)
                this.views.set(value.key, (view = this.make(value)));
            view.update(value, now);
            if (view.root === next)
                next = next.nextElementSibling;
            else
                this.parent.insertBefore(view.root, next);
        }
        for (const key of gone) {
            this.views.get(key)?.root.remove();
            this.views.delete(key);
        }
    }
}
