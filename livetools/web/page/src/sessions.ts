// The sessions of today: reopened, deleted; and recordings that are opened from a file.

import { byId, element, setText } from "./dom.js";

/** A session that the server has kept. Times are seconds since the epoch. */
export interface Kept {
  id: string;
  began: number;
  used: number;
  title: string;
  model: string;
  /** Whether its file can be read. */
  readable: boolean;
  /** Whether it is open, in a tab or for one that comes back. */
  open: boolean;
  /** Whether it is this page's. */
  own: boolean;
}

export interface SessionActions {
  list(): Promise<Kept[]>;
  reopen(session: Kept): Promise<void>;
  delete(session: Kept): Promise<void>;
  /** Show the recording in a file. */
  show(file: File): Promise<void>;
}

const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });

export class Sessions {
  private kept = true; // sessions are, on this server

  /** `trouble` is called with each error. */
  constructor(
    private readonly actions: SessionActions,
    private readonly trouble: (error: unknown) => void,
  ) {
    const file = byId<HTMLInputElement>("recording-file");
    byId("open-recording").addEventListener("click", () => file.click());
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      file.value = "";
      if (chosen !== undefined) this.attempt(actions.show(chosen));
    });
  }

  /** Whether the server keeps sessions. */
  tell(kept: boolean): void {
    this.kept = kept;
  }

  /** Ask for the list, and show it. */
  async refresh(): Promise<void> {
    const list = byId("sessions");
    list.setAttribute("aria-busy", "true");
    try {
      this.draw(await this.actions.list());
    } finally {
      list.setAttribute("aria-busy", "false");
    }
  }

  private draw(sessions: readonly Kept[]): void {
    byId("sessions").replaceChildren(...sessions.map((session) => this.entry(session)));
    byId("sessions-empty").hidden = sessions.length > 0;
    const none = "Sessions appear here once something was said in them.";
    setText(byId("sessions-none"), this.kept ? none : "Sessions are not kept: livetools web was started with --no-history.");
  }

  private entry(session: Kept): HTMLElement {
    const { title, readable, own } = session;
    const name = readable ? title || "(no words)" : "This session cannot be read";
    const open = element(
      "button",
      "reopen",
      { type: "button", "aria-current": own ? "true" : null },
      element("span", "title", { dir: "auto" }, name),
      element("span", "about", {}, about(session)),
    );
    open.disabled = own;
    open.addEventListener("click", () => this.attempt(this.actions.reopen(session)));
    const remove = element("button", "remove", { type: "button", "aria-label": `Delete session: ${name}`, title: "Delete it" }, "Delete");
    remove.addEventListener("click", () => this.attempt(this.actions.delete(session)));
    return element("li", readable ? "" : "broken", {}, open, remove);
  }

  private attempt(action: Promise<void>): void {
    action.then(() => this.refresh()).catch(this.trouble);
  }
}

function about({ began, used, model, open, own, readable }: Kept): string {
  const today = new Date(began * 1000).toDateString() === new Date().toDateString();
  const from = (today ? TIME : DAY).format(began * 1000);
  const until = TIME.format(used * 1000);
  const when = from.endsWith(until) ? from : `${from} – ${until}`;
  const what = own ? "this one" : open ? "still open" : "";
  return [when, what, readable ? model : ""].filter(Boolean).join(" · ");
}
