/** The events of the client, and the handlers that a page has for them. */
/** The handlers of a page, by the type of their event. */
export class Handlers {
    all = new Map();
    /** Call `handler` for each event of this type. Returns a function that removes the handler. */
    on(type, handler) {
        const handlers = this.all.get(type) ?? new Set();
        this.all.set(type, handlers.add(handler));
        return () => handlers.delete(handler);
    }
    tell(type, event) {
        for (const handler of this.all.get(type) ?? [])
            handler(event);
    }
}
