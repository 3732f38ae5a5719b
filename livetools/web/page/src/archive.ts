// A conversation that is over: one that the server kept, or a recording. Its messages make the same state as live ones.

import type { SetupMessage } from "./setup.js";
import type { Frame } from "./timeline.js";
import type { Declared } from "./tools.js";
import { initial, lose, reduce, type Call, type Entry, type Exchange, type State } from "./state.js";

/** What the server tells of a conversation that is over. */
export interface Conversation {
  name: string;
  /** Whether the model of the session that follows it knows what was said. */
  knows: boolean;
  messages: Entry[];
  frames: Frame[];
}

/** Which frames belong to an exchange that is not of the page's own session. */
const kept = new WeakMap<Exchange, Frame[]>();

/** The frames of a call in such an exchange; `undefined`: the server has them. */
export function archivedFrames(exchange: Exchange, call: Call): Frame[] | undefined {
  const frames = kept.get(exchange);
  return frames && (naming(frames, call.id) ?? naming(frames, call.name) ?? []);
}

function naming(frames: Frame[], name: string): Frame[] | null {
  const wanted = JSON.stringify(name);
  const found = frames.filter(({ frame }) => JSON.stringify(frame).includes(wanted));
  return found.length > 0 ? found : null;
}

/** Say that these exchanges have these frames. */
export function keepFrames(exchanges: readonly Exchange[], frames: Frame[]): void {
  for (const exchange of exchanges) kept.set(exchange, frames);
}

/** The state at the end of a finished conversation. `keys`: how many keys the page has already used. */
export function stateOf({ messages, frames }: Conversation, keys: number): State {
  const state = initial([], keys);
  for (const entry of messages) reduce(state, entry);
  keepFrames(lose(state), frames);
  return state;
}

/** The setup message of a conversation, and the functions that it declares. */
export function setupOf({ frames }: Conversation): { setup: SetupMessage; tools: Declared[] } {
  const found = frames.map(({ frame }) => (frame as { setup?: SetupMessage }).setup).find((setup) => setup !== undefined);
  const setup = found ?? {};
  const declared = (setup.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
  const tools = declared.map(({ name, description, parameters, parametersJsonSchema }) => ({
    name,
    description: description ?? "",
    parameters: parameters ?? parametersJsonSchema ?? null,
    approval: false,
    handled: true,
  }));
  return { setup, tools };
}
