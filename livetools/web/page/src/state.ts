// What the page shows, as one value, and how each entry of the log changes it. No DOM, no clock, no network: the same
// entries make the same state, live and after a reload.

import type { Call, Ended, RelayMessage, Usage } from "../../dist/client.js";

export type { Call };

/** What the page itself hears: the first sound of an answer, the end of what its user says. */
export type Local = { type: "sound" } | { type: "speech_ended" };

/** One thing that happened: `at` in seconds since the session was opened. */
export type Entry = { at: number } & (Extract<RelayMessage, { at: number }> | Ended | Local);

/** `answer`: the function is only declared, and the user of the page enters its result. */
export type CallState = "approval" | "answer" | "running" | "finished" | "failed" | "refused" | "cancelled" | "lost";

/** A call, from its arrival to its end. Times as in `Entry`. */
export interface Run {
  key: number;
  call: Call;
  state: CallState;
  /** Whether the arguments are all here: a call that is not shown whole is refused by the relay, and asked of nobody. */
  whole: boolean;
  began: number;
  /** When a person was asked whether it may run, and when that person let it. */
  asked: number | null;
  /** Seconds from then that there are to decide. */
  timeout: number | null;
  approved: number | null;
  ended: number | null;
  progress: { time: number; value: unknown }[];
  response: Record<string, unknown> | null;
  error: string | null;
  /** How the result of a lost call reaches the model. */
  delivery: string | null;
}

/** Something said or typed: by whom, how, and whether more may come. */
export interface Message {
  kind: "message";
  key: number;
  role: "user" | "model" | "thought" | "code";
  voice: boolean;
  text: string;
  /** Words that the service may still take back. */
  interim: string;
  began: number;
  last: number;
  open: boolean;
  interrupted: boolean;
}

/** A note about the connection or the turn. */
export interface Note {
  kind: "note";
  key: number;
  text: string;
  time: number;
  /** `divider`: the items above belong to an earlier session, or to an earlier part of this one. */
  tone: "info" | "warning" | "error" | "divider";
}

export interface CallItem {
  kind: "call";
  key: number;
  run: Run;
}

export type Item = Message | Note | CallItem;

/** One exchange: what the user said, and all that came of it. */
export interface Exchange {
  key: number;
  /** Grows with every change: what is over and has not changed need not be drawn again. */
  revision: number;
  origin: "text" | "voice" | "model";
  began: number;
  /** When the user had finished speaking; typed text is finished when it is sent. */
  asked: number | null;
  /** Whether `asked` was measured with the page's microphone, which detects the end of speech before the service does. */
  measured: boolean;
  /** The first sound or word of the answer. */
  answered: number | null;
  ended: number | null;
  /** Whether `TurnComplete` arrived for it. */
  complete: boolean;
  interrupted: boolean;
  items: Item[];
}

/** `ended` is an end as it should be, `failed` one that an error made. */
export type Line = "closed" | "connecting" | "connected" | "reconnecting" | "ending" | "ended" | "failed";

export const isGone = (line: Line): boolean => line === "ended" || line === "failed";

export interface State {
  line: Line;
  lineNote: string;
  exchanges: Exchange[];
  tokens: number;
  /** US dollars; null while no turn has named a price. */
  cost: number | null;
  /** Milliseconds from the last question to its answer, without those in which a call ran or waited for a person. */
  latency: number | null;
  /** Those milliseconds. */
  calls: number;
  /** The agent that a hand-off made active. */
  agent: string | null;
  time: number;
  /** When the page's microphone last heard the end of something said. */
  spoken: number | null;
  /** Functions without a handler. */
  declaredOnly: ReadonlySet<string>;
  keys: number;
}

/** Seconds after the end of an exchange from which on what the model says is an exchange of its own. */
const AFTERTHOUGHT = 5;

/** An empty conversation. `keys`: how many were given before, on the same page. */
export const initial = (declaredOnly: Iterable<string> = [], keys = 0): State => ({
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
export function divider(state: State, text: string): Exchange {
  const exchange = begin(state, "model", state.time);
  note(state, text, state.time, "divider");
  return Object.assign(exchange, { ended: state.time, complete: true });
}

/** End everything that is open in a conversation whose session is gone. Returns its exchanges. */
export function lose(state: State): Exchange[] {
  finishAll(state, state.time);
  for (const exchange of state.exchanges) exchange.revision++;
  return state.exchanges;
}

const OVER: ReadonlySet<CallState> = new Set(["finished", "failed", "refused", "cancelled"]);

/** Whether a call has come to its end; one that is lost may still run. */
export const isOver = (run: Run): boolean => OVER.has(run.state) || run.ended !== null;

/** Whether a call waits for a person: to be let run, or to be answered. */
export const waitsForPerson = (run: Run): boolean => run.state === "approval" || run.state === "answer";

export function runs(exchange: Exchange): Run[] {
  return exchange.items.flatMap((item) => (item.kind === "call" ? [item.run] : []));
}

export function current(state: State): Exchange | undefined {
  return state.exchanges[state.exchanges.length - 1];
}

/** Whether an answer is under way: something is said, or a call that it waits for is open. */
export function isBusy(state: State): boolean {
  const exchange = current(state);
  if (exchange === undefined || exchange.interrupted || isGone(state.line)) return false;
  return exchange.ended === null || runs(exchange).some((run) => !isOver(run) && run.state !== "lost");
}

/** Whether the answer or a call of an exchange is not over. */
export const isOpen = (exchange: Exchange): boolean =>
  (exchange.ended === null && !exchange.interrupted) || runs(exchange).some((run) => !isOver(run));

/** When everything of an exchange is over, or `now` while something is not. */
export function endOf(exchange: Exchange, now: number): number {
  if (isOpen(exchange)) return Math.max(now, exchange.began);
  const last = exchange.items.flatMap((item) =>
    item.kind === "call" ? [item.run.ended ?? item.run.began] : item.kind === "message" ? [item.last] : [],
  );
  return Math.max(exchange.began, exchange.ended ?? exchange.began, ...last);
}

/** The state after one more entry. Changes `state` in place and returns it: entries come by the thousand. */
export function reduce(state: State, entry: Entry): State {
  apply(state, entry);
  const late = "call" in entry ? owner(state, entry.call.id) : entry.type === "approved" ? owner(state, entry.id) : undefined;
  const touched = entry.type === "ended" ? state.exchanges : state.exchanges.slice(-2);
  for (const exchange of new Set(late === undefined ? touched : [...touched, late])) exchange.revision++;
  return state;
}

function apply(state: State, entry: Entry): State {
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
      if (entry.text) append(state, answering(state, time), "model", entry.text, time, entry.type === "OutputTranscript");
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
function noteEvent(state: State, entry: Entry): State {
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

const inSeconds = (seconds: number | null): string => (seconds === null ? "" : ` in ${Math.round(seconds)} s`);

function line(state: State, to: Line, note = ""): State {
  state.line = to;
  state.lineNote = note;
  return state;
}

function ended(state: State, { message, error }: Pick<Ended, "message" | "error">, time: number): State {
  finishAll(state, time);
  const began = state.line !== "closed";
  line(state, error === null ? "ended" : "failed", message);
  if (error === null) return note(state, "the session is over", time);
  return note(state, `${began ? "the session has ended" : "no session could be opened"}: ${message}`, time, "error");
}

function finishAll(state: State, time: number): void {
  const exchange = current(state);
  if (exchange !== undefined) finish(exchange, time);
  for (const each of state.exchanges) {
    for (const run of runs(each)) {
      if (!isOver(run)) Object.assign(run, { state: run.state === "lost" ? "lost" : "cancelled", ended: time });
    }
  }
}

const key = (state: State): number => ++state.keys;

function begin(state: State, origin: Exchange["origin"], time: number): Exchange {
  const exchange: Exchange = {
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
function close(state: State, time: number): void {
  const exchange = current(state);
  if (exchange === undefined) return;
  for (const item of exchange.items) if (item.kind === "message" && item.open) closeMessage(item);
  if (exchange.answered !== null) exchange.ended ??= time;
}

function closeMessage(item: Message): void {
  item.open = false;
  item.text += item.interim;
  item.interim = "";
}

/** The exchange to which output of the model belongs: the current one, or a new one. */
function currentOrNew(state: State, time: number): Exchange {
  const exchange = current(state);
  const asked = state.spoken; // the end of speech at the microphone, if neither the service nor a transcript has reported it
  if (exchange !== undefined) {
    const over = exchange.ended !== null || exchange.interrupted;
    const end = endOf(exchange, time);
    const spoken = asked !== null && asked > end;
    if (!over || (!spoken && end + AFTERTHOUGHT >= time)) return exchange;
    if (!spoken) return begin(state, "model", time);
  }
  if (asked === null) return begin(state, "model", time);
  return Object.assign(beginVoice(state, asked), { asked, measured: true });
}

/** As {@link currentOrNew}, for output that the user hears or reads. The first output gives the latency. */
function answering(state: State, time: number): Exchange {
  const exchange = currentOrNew(state, time);
  if (exchange.ended !== null) Object.assign(exchange, { ended: null, complete: false, interrupted: false }); // reopen it
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
function callTime(exchange: Exchange, now: number): number {
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

function append(state: State, exchange: Exchange, role: Message["role"], text: string, time: number, voice: boolean): Message {
  const last = exchange.items[exchange.items.length - 1];
  if (last?.kind === "message" && last.role === role && last.open) {
    last.text += text;
    last.last = time;
    return last;
  }
  if (last?.kind === "message" && last.open) closeMessage(last);
  const item = newMessage(state, role, text, time, voice);
  exchange.items.push(item);
  return item;
}

const newMessage = (state: State, role: Message["role"], text: string, time: number, voice: boolean): Message => ({
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

function speechBegan(state: State, time: number): State {
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
function beginVoice(state: State, time: number): Exchange {
  const exchange = begin(state, "voice", time);
  exchange.items.push(newMessage(state, "user", "", time, true));
  return exchange;
}

function speechEnded(state: State, time: number, measured: boolean): State {
  const exchange = current(state);
  if (exchange?.origin !== "voice" || exchange.answered !== null || (exchange.measured && !measured)) return state;
  Object.assign(exchange, { asked: time, measured });
  return state;
}

/** The user's words, as the service heard them: they may come in the middle of the answer, or after it. */
function inputTranscript(state: State, text: string, interim: boolean, time: number): State {
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
  if (interim) Object.assign(mine, { interim: text, open: true });
  else Object.assign(mine, { text: mine.text + text, interim: "", last: time, open: !over });
  return state;
}

const spokenMessage = (exchange: Exchange): Message | undefined =>
  exchange.items.find((item): item is Message => item.kind === "message" && item.role === "user" && item.voice);

/** The exchange that a call belongs to, the newest of this id. */
const owner = (state: State, id: string): Exchange | undefined =>
  state.exchanges.findLast((exchange) => runs(exchange).some(({ call }) => call.id === id));

function find(state: State, id: string): Run | undefined {
  const exchange = owner(state, id);
  return exchange && runs(exchange).findLast(({ call }) => call.id === id);
}

function start(state: State, call: Call, time: number): Run {
  const exchange = currentOrNew(state, time);
  const last = exchange.items[exchange.items.length - 1];
  if (last?.kind === "message" && last.open && last.role !== "user") closeMessage(last);
  const run: Run = {
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
const unblocked = (state: State, call: Call): CallState => (state.declaredOnly.has(call.name) ? "answer" : "running");

type CallEvent = Extract<Entry, { call: Call }>;

function called(state: State, entry: CallEvent): State {
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

function toolFinished(run: Run, response: Record<string, unknown>, error: string | null, time: number): void {
  run.response = response;
  run.error = error;
  run.ended ??= time;
  if (run.state === "cancelled" || run.state === "lost") return;
  if (error === null) run.state = "finished";
  else run.state = String(response["error"] ?? "").startsWith(NOT_APPROVED) ? "refused" : "failed";
}

function approved(state: State, id: string, time: number): State {
  const run = find(state, id);
  if (run?.state === "approval") Object.assign(run, { state: unblocked(state, run.call), approved: time });
  return state;
}

function finish(exchange: Exchange, time: number): void {
  for (const item of exchange.items) if (item.kind === "message") closeMessage(item);
  exchange.ended ??= time;
}

/** Whether the model has begun to answer, and neither ended nor was cut off. */
const isUnderWay = (exchange: Exchange): boolean =>
  !exchange.complete && !exchange.interrupted && (exchange.answered !== null || runs(exchange).length > 0);

function interrupted(state: State, time: number): State {
  const open = state.exchanges.findLast((each) => isUnderWay(each)) ?? current(state); // else it was stopped before it began
  if (open === undefined || open.complete) return state;
  const last = [...open.items].reverse().find((item): item is Message => item.kind === "message" && item.role === "model");
  open.interrupted = true;
  if (last !== undefined) Object.assign(last, { interrupted: true, last: open.ended === null ? time : last.last });
  finish(open, time);
  return state;
}

function turnComplete(state: State, reason: string | null, status: string | null, time: number): State {
  const exchange = current(state);
  if (exchange === undefined) return state;
  const before = state.exchanges[state.exchanges.length - 2];
  const silent = exchange.answered === null && runs(exchange).length === 0;
  if (silent && before?.interrupted && !before.complete) {
    before.complete = true; // this end is the interrupted turn's: the new question has not been answered yet
    return state;
  }
  for (const item of exchange.items) if (item.kind === "message" && item.role !== "user") closeMessage(item);
  if (status !== "IN_PROGRESS") {
    finish(exchange, time);
    exchange.complete = true;
  }
  const told = reason !== null && reason !== "CONNECTION_REPLACED" && reason !== "NOTHING_PENDING";
  if (told) note(state, `the turn ended: ${reason}`, time, "warning");
  return state;
}

function counted(state: State, usage: Usage & { cost?: unknown }): State {
  state.tokens += usage.total_tokens;
  if (typeof usage.cost === "number") state.cost = (state.cost ?? 0) + usage.cost;
  return state;
}

function note(state: State, text: string, time: number, tone: Note["tone"] = "info"): State {
  const exchange = current(state) ?? begin(state, "model", time);
  const item: Note = { kind: "note", key: key(state), text, time, tone };
  if (exchange.items.length === 0 && exchange.origin === "model") exchange.ended = time;
  exchange.items.push(item);
  return state;
}
