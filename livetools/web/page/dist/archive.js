// A conversation that is over: one that the server kept, or a recording. Its messages make the same state as live ones.
import { initial, lose, reduce } from "./state.js";
/** Which frames belong to an exchange that is not of the page's own session. */
const kept = new WeakMap();
/** The frames of a call in such an exchange; `undefined`: the server has them. */
export function archivedFrames(exchange, call) {
    const frames = kept.get(exchange);
    return frames && (naming(frames, call.id) ?? naming(frames, call.name) ?? []);
}
function naming(frames, name) {
    const wanted = JSON.stringify(name);
    const found = frames.filter(({ frame }) => JSON.stringify(frame).includes(wanted));
    return found.length > 0 ? found : null;
}
/** Say that these exchanges have these frames. */
export function keepFrames(exchanges, frames) {
    for (const exchange of exchanges)
        kept.set(exchange, frames);
}
/** The state at the end of a finished conversation. `keys`: how many keys the page has already used. */
export function stateOf({ messages, frames }, keys) {
    const state = initial([], keys);
    for (const entry of messages)
        reduce(state, entry);
    keepFrames(lose(state), frames);
    return state;
}
/** The setup message of a conversation, and the functions that it declares. */
export function setupOf({ frames }) {
    const found = frames.map(({ frame }) => frame.setup).find((setup) => setup !== undefined);
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
