/** The typed turns in their order, until the relay has accepted or refused each. */
export class TypedTurns {
    waiting = [];
    count = 0;
    get all() {
        return this.waiting;
    }
    add(text) {
        const typed = { ref: `${Date.now().toString(36)}-${++this.count}`, text };
        this.waiting.push(typed);
        return typed;
    }
    /** What became of one of them, by what the relay says; `null` if it says nothing of them. */
    settled(message) {
        switch (message.type) {
            case "user_text":
                return this.remove((typed) => (message.ref ? typed.ref === message.ref : typed.text === message.text));
            case "error":
                return this.remove((typed) => typed.ref === message.ref);
            default:
                return null;
        }
    }
    /** All of them, which wait no longer. */
    clear() {
        const all = this.waiting;
        this.waiting = [];
        return all;
    }
    remove(is) {
        const place = this.waiting.findIndex(is);
        return place < 0 ? null : this.waiting.splice(place, 1)[0];
    }
}
