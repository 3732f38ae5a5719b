// How values are written for people.
const SHORT = 160; // characters of a value within a line
/** `203 ms`, `1.24 s`, `2 min 5 s`. */
export function duration(seconds) {
    if (seconds < 1)
        return `${Math.max(0, Math.round(seconds * 1000))} ms`;
    if (seconds < 60)
        return `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1)} s`;
    return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
/** A place on a scale: `0`, `200 ms`, `1 s`, `2.5 s`. */
export function tick(seconds) {
    if (seconds === 0)
        return "0";
    return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${Number(seconds.toFixed(2))} s`;
}
/** A call as Python would write it: `get_weather(city="Oslo")`. */
export function called(call) {
    const given = Object.entries(call.args).map(([name, value]) => `${name}=${short(value)}`);
    return `${call.name}(${given.join(", ")})`;
}
/** A value in a line. */
export const short = (value) => cut(JSON.stringify(value, withoutBytes) ?? "null");
const cut = (text) => (text.length <= SHORT ? text : `${text.slice(0, SHORT)}…`);
/** A value over several lines. */
export const pretty = (value) => JSON.stringify(value, withoutBytes, 2) ?? "null";
const BYTES = /^[A-Za-z0-9+/_-]{200,}={0,2}$/;
const IMAGES = { iVBORw: "image/png", "/9j/": "image/jpeg", R0lGOD: "image/gif", UklGR: "image/webp" };
/** Replacer for `JSON.stringify()`: shows the size of base64 data in its place. */
function withoutBytes(_, value) {
    return typeof value === "string" && BYTES.test(value) ? `‹${Math.round((value.length * 3) / 4).toLocaleString("en")} bytes›` : value;
}
/** The pictures in a value, as URLs. */
export function images(value) {
    if (Array.isArray(value))
        return value.flatMap(images);
    if (typeof value === "object" && value !== null)
        return Object.values(value).flatMap(images);
    if (typeof value !== "string" || !BYTES.test(value))
        return [];
    const type = Object.entries(IMAGES).find(([head]) => value.startsWith(head))?.[1];
    return type === undefined ? [] : [`data:${type};base64,${value}`];
}
/** Text with every character that shows nothing, or moves others, as its escape: `\\u202e`. */
export const visible = (text) => text.replace(/(?![ \n])[\p{C}\p{Z}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
/** The value of a response, without its wrapping. */
export function result(response) {
    const keys = Object.keys(response);
    const [key] = keys;
    const wrapped = keys.length === 1 && key !== undefined && ["output", "result", "content", "error"].includes(key);
    return wrapped ? response[key] : response;
}
/** Text as it is, everything else as JSON; in a line, where it fits. */
export const plain = (value) => typeof value === "string" && !BYTES.test(value) ? (value.length <= 600 ? value : `${value.slice(0, 600)}…`) : short(value);
/** Whether a result says nothing: what a generator yielded says it in its place. */
export const isEmpty = (value) => value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
/** What came of a call: its result, or what it yielded where the result says nothing. */
export function came(run) {
    const value = run.response === null ? "" : result(run.response);
    if (isEmpty(value) && run.progress.length > 0)
        return run.progress.map((each) => plain(each.value)).join(", ");
    return run.response === null ? "" : plain(value);
}
/** What a state is called, and the sign that tells it apart without its colour. */
export const STATES = {
    approval: { word: "waiting for approval", sign: "?" },
    answer: { word: "waiting for your answer", sign: "?" },
    running: { word: "running", sign: "▶" },
    finished: { word: "finished", sign: "✓" },
    failed: { word: "failed", sign: "✗" },
    refused: { word: "refused", sign: "⊘" },
    cancelled: { word: "cancelled", sign: "–" },
    lost: { word: "lost", sign: "⚡" },
};
/** The state of a call, with what becomes of a lost one. */
export function stateOf(run) {
    const { word } = STATES[run.state];
    if (run.state !== "lost")
        return word;
    if (run.ended === null)
        return "lost with the line, still running";
    return run.delivery === "text" ? "lost with the line, result sent as text" : "lost with the line, result dropped";
}
