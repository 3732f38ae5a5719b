// What the page shows, as one value, and how each entry of the log changes it. No DOM, no clock, no network: the same
// entries make the same state, live and after a reload.
export const isGone = (line) => line === "ended" || line === "failed";
/** Seconds after the end of an exchange from which on what the model says is an exchange of its own. */
const AFTERTHOUGHT = 5;
/** An empty conversation. `keys`: how many were given before, on the same page. */
export const initial = (declaredOnly = [], keys = 0) => ({
    line: "closed",
    lineNote: "",
    exchanges: [],
    tokens: 0,
    cost: null,
    latency: null,
    calls: 0,
    agent: null,
    time: 0,
    spoken: null,
    declaredOnly: new Set(declaredOnly),
    keys,
});
/** An exchange that separates an earlier conversation from the one below it, with `text` as its only note. */
export function divider(state, text) {
    const exchange = begin(state, "model", state.time);
    note(state, text, state.time, "divider");
    return Object.assign(exchange, { ended: state.time, complete: true });
}
/** End everything that is open in a conversation whose session is gone. Returns its exchanges. */
export function lose(state) {
    finishAll(state, state.time);
    for (const exchange of state.exchanges)
        exchange.revision++;
    return state.exchanges;
}
const OVER = new Set(["finished", "failed", "refused", "cancelled"]);
/** Whether a call has come to its end; one that is lost may still run. */
export const isOver = (run) => OVER.has(run.state) || run.ended !== null;
/** Whether a call waits for a person: to be let run, or to be answered. */
export const waitsForPerson = (run) => run.state === "approval" || run.state === "answer";
export function runs(exchange) {
    return exchange.items.flatMap((item) => (item.kind === "call" ? [item.run] : []));
}
export function current(state) {
    return state.exchanges[state.exchanges.length - 1];
}
/** Whether an answer is under way: something is said, or a call that it waits for is open. */
export function isBusy(state) {
    const exchange = current(state);
    if (exchange === undefined || exchange.interrupted || isGone(state.line))
        return false;
    return exchange.ended === null || runs(exchange).some((run) => !isOver(run) && run.state !== "lost");
}
/** Whether the answer or a call of an exchange is not over. */
export const isOpen = (exchange) => (exchange.ended === null && !exchange.interrupted) || runs(exchange).some((run) => !isOver(run));
/** When everything of an exchange is over, or `now` while something is not. */
export function endOf(exchange, now) {
    if (isOpen(exchange))
        return Math.max(now, exchange.began);
    const last = exchange.items.flatMap((item) => item.kind === "call" ? [item.run.ended ?? item.run.began] : item.kind === "message" ? [item.last] : []);
    return Math.max(exchange.began, exchange.ended ?? exchange.began, ...last);
}
/** The state after one more entry. Changes `state` in place and returns it: entries come by the thousand. */
export function reduce(state, entry) {
    apply(state, entry);
    const late = "call" in entry ? owner(state, entry.call.id) : entry.type === "approved" ? owner(state, entry.id) : undefined;
    const touched = entry.type === "ended" ? state.exchanges : state.exchanges.slice(-2);
    for (const exchange of new Set(late === undefined ? touched : [...touched, late]))
        exchange.revision++;
    return state;
}
function apply(state, entry) {
    const time = entry.at;
    state.time = Math.max(state.time, time);
    switch (entry.type) {
        case "SessionStarted":
            return line(state, "connected");
        case "ended":
            return ended(state, entry, time);
        case "user_text": {
            close(state, time);
            const exchange = begin(state, "text", time);
            exchange.asked = time;
            append(state, exchange, "user", entry.text, time, false).open = false;
            return state;
        }
        case "VoiceActivity":
            return entry.kind === "start" ? speechBegan(state, time) : speechEnded(state, time, false);
        case "speech_ended":
            state.spoken = time;
            return speechEnded(state, time, true);
        case "InputTranscript":
            return inputTranscript(state, entry.text, entry.interim ?? false, time);
        case "sound":
            answering(state, time);
            return state;
        case "TextChunk":
        case "OutputTranscript":
            if (entry.text)
                append(state, answering(state, time), "model", entry.text, time, entry.type === "OutputTranscript");
            return state;
        case "ThoughtChunk":
            append(state, currentOrNew(state, time), "thought", entry.text, time, false);
            return state;
        case "CodeChunk":
            append(state, currentOrNew(state, time), "code", entry.code, time, false).open = false;
            return state;
        case "ToolStarted":
        case "ApprovalRequested":
        case "ToolProgress":
        case "ToolFinished":
        case "ToolCancelled":
        case "ToolLost":
            return called(state, entry);
        case "approved":
            return approved(state, entry.id, time);
        case "Interrupted":
            return interrupted(state, time);
        case "TurnComplete":
            return turnComplete(state, entry.reason, entry.status, time);
        case "UsageUpdate":
            return counted(state, entry.usage);
        default:
            return noteEvent(state, entry);
    }
}
/** Notes for events that are neither messages nor calls. */
function noteEvent(state, entry) {
    const time = entry.at;
    switch (entry.type) {
        case "GoAway":
            return note(state, `the service ends this connection${inSeconds(entry.time_left)}`, time);
        case "Reconnecting":
            line(state, "reconnecting", `attempt ${entry.attempt}`);
            return note(state, `the line is away: ${entry.cause}`, time, "warning");
        case "Reconnected":
            line(state, "connected");
            return note(state, `connected again${entry.state_restored ? "" : ", to a new session"}`, time);
        case "Stalled":
            return note(state, `waiting for ${entry.waiting_for} since ${Math.round(entry.seconds)} s`, time, "warning");
        case "agent":
            state.declaredOnly = new Set(entry.declared_only);
            state.agent = entry.name;
            return state;
        case "HandedOff":
            return note(state, `handed off to ${entry.name ?? "another agent"}`, time);
        case "InputDropped":
            return note(state, `input was not sent: ${entry.reason}`, time, "warning");
        default:
            return state;
    }
}
const inSeconds = (seconds) => (seconds === null ? "" : ` in ${Math.round(seconds)} s`);
function line(state, to, note = "") {
    state.line = to;
    state.lineNote = note;
    return state;
}
function ended(state, { message, error }, time) {
    finishAll(state, time);
    const began = state.line !== "closed";
    line(state, error === null ? "ended" : "failed", message);
    if (error === null)
        return note(state, "the session is over", time);
    return note(state, `${began ? "the session has ended" : "no session could be opened"}: ${message}`, time, "error");
}
function finishAll(state, time) {
    const exchange = current(state);
    if (exchange !== undefined)
        finish(exchange, time);
    for (const each of state.exchanges) {
        for (const run of runs(each)) {
            if (!isOver(run))
                Object.assign(run, { state: run.state === "lost" ? "lost" : "cancelled", ended: time });
        }
    }
}
const key = (state) => ++state.keys;
function begin(state, origin, time) {
    const exchange = {
        key: key(state),
        revision: 0,
        origin,
        began: time,
        asked: null,
        measured: false,
        answered: null,
        ended: null,
        complete: false,
        interrupted: false,
        items: [],
    };
    state.exchanges.push(exchange);
    return exchange;
}
/** Close the messages of the current exchange, and end it if it was answered: something else begins. */
function close(state, time) {
    const exchange = current(state);
    if (exchange === undefined)
        return;
    for (const item of exchange.items)
        if (item.kind === "message" && item.open)
            closeMessage(item);
    if (exchange.answered !== null)
        exchange.ended ??= time;
}
function closeMessage(item) {
    item.open = false;
    item.text += item.interim;
    item.interim = "";
}
/** The exchange to which output of the model belongs: the current one, or a new one. */
function currentOrNew(state, time) {
    const exchange = current(state);
    const asked = state.spoken; // the end of speech at the microphone, if neither the service nor a transcript has reported it
    if (exchange !== undefined) {
        const over = exchange.ended !== null || exchange.interrupted;
        const end = endOf(exchange, time);
        const spoken = asked !== null && asked > end;
        if (!over || (!spoken && end + AFTERTHOUGHT >= time))
            return exchange;
        if (!spoken)
            return begin(state, "model", time);
    }
    if (asked === null)
        return begin(state, "model", time);
    return Object.assign(beginVoice(state, asked), { asked, measured: true });
}
/** As {@link currentOrNew}, for output that the user hears or reads. The first output gives the latency. */
function answering(state, time) {
    const exchange = currentOrNew(state, time);
    if (exchange.ended !== null)
        Object.assign(exchange, { ended: null, complete: false, interrupted: false }); // reopen it
    if (exchange.answered === null) {
        exchange.answered = time;
        if (exchange.asked !== null) {
            const calls = callTime(exchange, time);
            state.latency = Math.max(0, Math.round((time - exchange.asked - calls) * 1000));
            state.calls = Math.round(calls * 1000);
        }
    }
    return exchange;
}
/** Seconds of an exchange, until `now`, in which one of its calls ran or waited for a person. */
function callTime(exchange, now) {
    let seconds = 0;
    let until = exchange.asked ?? exchange.began;
    for (const run of runs(exchange)) {
        // in the order of their beginnings, so that what overlaps counts once
        const end = Math.min(run.ended ?? now, now);
        seconds += Math.max(0, end - Math.max(run.began, until));
        until = Math.max(until, end);
    }
    return seconds;
}
function append(state, exchange, role, text, time, voice) {
    const last = exchange.items[exchange.items.length - 1];
    if (last?.kind === "message" && last.role === role && last.open) {
        last.text += text;
        last.last = time;
        return last;
    }
    if (last?.kind === "message" && last.open)
        closeMessage(last);
    const item = newMessage(state, role, text, time, voice);
    exchange.items.push(item);
    return item;
}
const newMessage = (state, role, text, time, voice) => ({
    kind: "message",
    key: key(state),
    role,
    voice,
    text,
    interim: "",
    began: time,
    last: time,
    open: true,
    interrupted: false,
});
function speechBegan(state, time) {
    const exchange = current(state);
    // Speech that begins, ends and begins again before anything was answered is one question.
    if (exchange?.origin === "voice" && exchange.answered === null && exchange.ended === null && !exchange.interrupted) {
        exchange.asked = null;
        return state;
    }
    close(state, time);
    beginVoice(state, time);
    return state;
}
/** A spoken question, with a message for its words: they may come late, or never. */
function beginVoice(state, time) {
    const exchange = begin(state, "voice", time);
    exchange.items.push(newMessage(state, "user", "", time, true));
    return exchange;
}
function speechEnded(state, time, measured) {
    const exchange = current(state);
    if (exchange?.origin !== "voice" || exchange.answered !== null || (exchange.measured && !measured))
        return state;
    Object.assign(exchange, { asked: time, measured });
    return state;
}
/** The user's words, as the service heard them: they may come in the middle of the answer, or after it. */
function inputTranscript(state, text, interim, time) {
    let exchange = current(state);
    let mine = exchange && spokenMessage(exchange);
    const over = exchange === undefined || exchange.interrupted || exchange.ended !== null;
    const missing = mine !== undefined && mine.text === ""; // the words of a question that is answered already
    if (exchange === undefined || (over && !missing)) {
        exchange = beginVoice(state, time);
        mine = spokenMessage(exchange);
    }
    if (mine === undefined) {
        mine = newMessage(state, "user", "", time, true);
        const typed = exchange.items.findIndex((each) => !(each.kind === "message" && each.role === "user"));
        exchange.items.splice(typed < 0 ? exchange.items.length : typed, 0, mine);
    }
    if (interim)
        Object.assign(mine, { interim: text, open: true });
    else
        Object.assign(mine, { text: mine.text + text, interim: "", last: time, open: !over });
    return state;
}
const spokenMessage = (exchange) => exchange.items.find((item) => item.kind === "message" && item.role === "user" && item.voice);
/** The exchange that a call belongs to, the newest of this id. */
const owner = (state, id) => state.exchanges.findLast((exchange) => runs(exchange).some(({ call }) => call.id === id));
function find(state, id) {
    const exchange = owner(state, id);
    return exchange && runs(exchange).findLast(({ call }) => call.id === id);
}
function start(state, call, time) {
    const exchange = currentOrNew(state, time);
    const last = exchange.items[exchange.items.length - 1];
    if (last?.kind === "message" && last.open && last.role !== "user")
        closeMessage(last);
    const run = {
        key: key(state),
        call,
        state: unblocked(state, call),
        whole: true,
        began: time,
        asked: null,
        timeout: null,
        approved: null,
        ended: null,
        progress: [],
        response: null,
        error: null,
        delivery: null,
    };
    exchange.items.push({ kind: "call", key: run.key, run });
    return run;
}
/** The state of a call that nobody has to approve. */
const unblocked = (state, call) => (state.declaredOnly.has(call.name) ? "answer" : "running");
function called(state, entry) {
    const { call, at: time } = entry;
    if (entry.type === "ToolStarted") {
        start(state, call, time);
        return state;
    }
    const run = find(state, call.id) ?? start(state, call, time);
    switch (entry.type) {
        case "ApprovalRequested":
            Object.assign(run, { state: "approval", asked: time, timeout: entry.timeout, whole: !entry.truncated });
            break;
        case "ToolProgress":
            run.progress.push({ time, value: entry.value });
            break;
        case "ToolFinished":
            toolFinished(run, entry.response, entry.error, time);
            break;
        case "ToolCancelled":
            Object.assign(run, { state: "cancelled", ended: time });
            break;
        case "ToolLost":
            Object.assign(run, { state: "lost", delivery: entry.delivery });
            break;
    }
    return state;
}
/** How the answer begins where a person, or the tool's own rule, said no. */
const NOT_APPROVED = "the call was not approved";
function toolFinished(run, response, error, time) {
    run.response = response;
    run.error = error;
    run.ended ??= time;
    if (run.state === "cancelled" || run.state === "lost")
        return;
    if (error === null)
        run.state = "finished";
    else
        run.state = String(response["error"] ?? "").startsWith(NOT_APPROVED) ? "refused" : "failed";
}
function approved(state, id, time) {
    const run = find(state, id);
    if (run?.state === "approval")
        Object.assign(run, { state: unblocked(state, run.call), approved: time });
    return state;
}
function finish(exchange, time) {
    for (const item of exchange.items)
        if (item.kind === "message")
            closeMessage(item);
    exchange.ended ??= time;
}
/** Whether the model has begun to answer, and neither ended nor was cut off. */
const isUnderWay = (exchange) => !exchange.complete && !exchange.interrupted && (exchange.answered !== null || runs(exchange).length > 0);
function interrupted(state, time) {
    const open = state.exchanges.findLast((each) => isUnderWay(each)) ?? current(state); // else it was stopped before it began
    if (open === undefined || open.complete)
        return state;
    const last = [...open.items].reverse().find((item) => item.kind === "message" && item.role === "model");
    open.interrupted = true;
    if (last !== undefined)
        Object.assign(last, { interrupted: true, last: open.ended === null ? time : last.last });
    finish(open, time);
    return state;
}
function turnComplete(state, reason, status, time) {
    const exchange = current(state);
    if (exchange === undefined)
        return state;
    const before = state.exchanges[state.exchanges.length - 2];
    const silent = exchange.answered === null && runs(exchange).length === 0;
    if (silent && before?.interrupted && !before.complete) {
        before.complete = true; // this end is the interrupted turn's: the new question has not been answered yet
        return state;
    }
    for (const item of exchange.items)
        if (item.kind === "message" && item.role !== "user")
            closeMessage(item);
    if (status !== "IN_PROGRESS") {
        finish(exchange, time);
        exchange.complete = true;
    }
    const told = reason !== null && reason !== "CONNECTION_REPLACED" && reason !== "NOTHING_PENDING";
    if (told)
        note(state, `the turn ended: ${reason}`, time, "warning");
    return state;
}
function counted(state, usage) {
    state.tokens += usage.total_tokens;
    if (typeof usage.cost === "number")
        state.cost = (state.cost ?? 0) + usage.cost;
    return state;
}
function note(state, text, time, tone = "info") {
    const exchange = current(state) ?? begin(state, "model", time);
    const item = { kind: "note", key: key(state), text, time, tone };
    if (exchange.items.length === 0 && exchange.origin === "model")
        exchange.ended = time;
    exchange.items.push(item);
    return state;
}
