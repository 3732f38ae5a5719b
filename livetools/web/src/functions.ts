import type { Call, RelayMessage } from "./messages.js";

/** A function of the page, in the place of one that the server has only declared. Arguments as the model gave them. */
export type PageFunction = (args: Record<string, never>, context: { call: Call; signal: AbortSignal }) => unknown;

/** Sends an answer; false while the connection is away. */
type Respond = (id: string, value: unknown) => boolean;

/**
 * The functions that run in the page. A call runs once, when it is known to be open: what is replayed to a page that
 * comes back may have been answered long ago. An answer that finds no connection waits for it.
 */
export class PageFunctions {
  private readonly functions = new Map<string, PageFunction>();
  private readonly open = new Map<string, Call>(); // asked, and not begun
  private readonly approval = new Set<string>(); // of those, what a person or the tool's own rule must let run first
  private readonly cut = new Set<string>(); // those whose arguments were too large to be told
  private declaredOnly: readonly string[] = [];
  private readonly running = new Map<string, AbortController>();
  private readonly begun = new Set<string>();
  private readonly answers = new Map<string, unknown>();

  constructor(private readonly respond: Respond) {}

  add(name: string, run: PageFunction): () => void {
    if (this.functions.has(name)) throw new TypeError(`tool(${JSON.stringify(name)}) has a function already: remove it first`);
    this.functions.set(name, run);
    return () => this.functions.delete(name);
  }

  /** What the relay says, live or replayed. */
  hear(message: RelayMessage): void {
    switch (message.type) {
      case "ToolStarted":
        if (message.truncated) this.cut.add(message.call.id);
        if (this.begun.has(message.call.id)) break;
        this.open.set(message.call.id, message.call);
        if (message.approval) this.approval.add(message.call.id);
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
  proceed(declaredOnly = this.declaredOnly): void {
    this.declaredOnly = declaredOnly;
    for (const [id, value] of this.answers) if (this.respond(id, value)) this.answers.delete(id);
    for (const [id, call] of this.open) {
      const run = this.functions.get(call.name);
      if (run === undefined || this.approval.has(id) || !declaredOnly.includes(call.name)) continue;
      this.open.delete(id);
      void this.run(call, this.cut.has(id) ? tooLarge : run);
    }
  }

  /** Another session: its calls are others. */
  reset(): void {
    for (const running of this.running.values()) running.abort();
    for (const known of [this.open, this.approval, this.cut, this.running, this.begun, this.answers]) known.clear();
  }

  private async run(call: Call, run: PageFunction): Promise<void> {
    const running = new AbortController();
    this.running.set(call.id, running);
    this.begun.add(call.id);
    let value: unknown;
    try {
      value = await run(call.args as Record<string, never>, { call, signal: running.signal });
    } catch (error) {
      value = error instanceof Error ? error : new Error(String(error));
    }
    if (running.signal.aborted) return; // cancelled, or of a session that is gone
    this.running.delete(call.id);
    if (!this.respond(call.id, value)) this.answers.set(call.id, value);
  }

  private forget(id: string): void {
    this.open.delete(id);
    this.approval.delete(id);
    this.cut.delete(id);
    this.answers.delete(id);
    this.running.get(id)?.abort();
    this.running.delete(id);
  }
}

const tooLarge: PageFunction = () => {
  throw new Error("the arguments are too large for a page");
};
