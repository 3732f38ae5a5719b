// What the page asks of its server beside the session itself, in the name of that session.

import type { Conversation } from "./archive.js";
import type { Call } from "./state.js";
import type { Facts } from "./header.js";
import type { Kept } from "./sessions.js";
import type { Choices, SetupMessage } from "./setup.js";
import type { Frame } from "./timeline.js";
import type { Declared } from "./tools.js";

/** The setup of a session, its tools, and the choices made for it. */
export interface Told {
  /** Of the session, among those that are kept. */
  id: string;
  tools: Declared[];
  setup: SetupMessage;
  choices: Choices;
}

export class Server {
  /** `token` is that of the page's session. */
  constructor(private readonly token: () => string) {}

  /** What the server knows before a session is open. */
  async facts(): Promise<Facts> {
    return await this.json<Facts>("/facts.json");
  }

  async told(): Promise<Told> {
    return await this.json<Told>("/session.json");
  }

  async frames({ id, name }: Call): Promise<Frame[]> {
    return await this.json<Frame[]>(`/frames?${new URLSearchParams({ id, name })}`);
  }

  async exported(kind: string): Promise<string> {
    return await (await this.ask(`/export/${kind}`)).text();
  }

  /** What was said before the page's session began. */
  async past(): Promise<Conversation> {
    return await this.json<Conversation>("/past");
  }

  async sessions(): Promise<Kept[]> {
    return await this.json<Kept[]>("/sessions.json");
  }

  /** The token that resumes a listed session, or `null` if the service cannot resume it. */
  async open(id: string): Promise<string | null> {
    return (await this.json<{ token: string | null }>(`/sessions/${id}/open`, { method: "POST" })).token;
  }

  /** Add the page's session to this listed one: they become one entry of the list. */
  async join(id: string): Promise<void> {
    await this.ask(`/sessions/${id}/join`, { method: "POST" });
  }

  async delete(id: string): Promise<void> {
    await this.ask(`/sessions/${id}`, { method: "DELETE" });
  }

  /** A key for these choices, which the page's next session names. */
  async choose(choices: Choices): Promise<string> {
    return (await this.json<{ key: string }>("/choices", { method: "POST", body: JSON.stringify(choices) })).key;
  }

  /** The recording of `--replay`, or the one in a file. */
  async recording(file?: File): Promise<Conversation> {
    if (file === undefined) return await this.json<Conversation>("/replay");
    return { ...(await this.json<Conversation>("/recording", { method: "POST", body: file })), name: file.name };
  }

  private async json<T>(path: string, options: RequestInit = {}): Promise<T> {
    return (await (await this.ask(path, options)).json()) as T;
  }

  private async ask(path: string, options: RequestInit = {}): Promise<Response> {
    const answer = await fetch(path, { ...options, headers: { "livetools-session": this.token() } });
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  }
}
