/**
 * The functions that run in the page. A call runs once, when it is known to be open: what is replayed to a page that
 * comes back may have been answered long ago. An answer that finds no connection waits for it.
 */
export class PageFunctions {
    respond;
    functions = new Map();
    open = new Map(); // asked, and not begun
    approval = new Set(); // of those, what a person or the tool's own rule must let run first
    cut = new Set(); // those whose arguments were too large to be told
    declaredOnly = [];
    running = new Map();
    begun = new Set();
    answers = new Map();
    constructor(respond) {
        this.respond = respond;
    }
    add(name, run) {
        if (this.functions.has(name))
            throw new TypeError(`tool(${JSON.stringify(name)}) has a function already: remove it first`);
        this.functions.set(name, run);
        return () => this.functions.delete(name);
    }
    /** What the relay says, live or replayed. */
    hear(message) {
        switch (message.type) {
            case "ToolStarted":
                if (message.truncated)
                    this.cut.add(message.call.id);
                if (this.begun.has(message.call.id))
                    break;
                this.open.set(message.call.id, message.call);
                if (message.approval)
                    this.approval.add(message.call.id);
                break;
            case "approved":
                this.approval.delete(message.id);
                break;
            case "ToolFinished":
            case "ToolCancelled":
                this.forget(message.call.id);
                break;
        }
    }
    /** All that has happened is known, and the connection is there: run what is open, send what could not be sent. */
    proceed(declaredOnly = this.declaredOnly) {
        this.declaredOnly = declaredOnly;
        for (const [id, value] of this.answers)
            if (this.respond(id, value))
                this.answers.delete(id);
        for (const [id, call] of this.open) {
            const run = this.functions.get(call.name);
            if (run === undefined || this.approval.has(id) || !declaredOnly.includes(call.name))
                continue;
            this.open.delete(id);
            void this.run(call, this.cut.has(id) ? tooLarge : run);
        }
    }
    /** Another session: its calls are others. */
    reset() {
        for (const running of this.running.values())
            running.abort();
        for (const known of [this.open, this.approval, this.cut, this.running, this.begun, this.answers])
            known.clear();
    }
    async run(call, run) {
        const running = new AbortController();
        this.running.set(call.id, running);
        this.begun.add(call.id);
        let value;
        try {
            value = await run(call.args, { call, signal: running.signal });
        }
        catch (error) {
            value = error instanceof Error ? error : new Error(String(error));
        }
        if (running.signal.aborted)
            return; // cancelled, or of a session that is gone
        this.running.delete(call.id);
        if (!this.respond(call.id, value))
            this.answers.set(call.id, value);
    }
    forget(id) {
        this.open.delete(id);
        this.approval.delete(id);
        this.cut.delete(id);
        this.answers.delete(id);
        this.running.get(id)?.abort();
        this.running.delete(id);
    }
}
const tooLarge = () => {
    throw new Error("the arguments are too large for a page");
};
