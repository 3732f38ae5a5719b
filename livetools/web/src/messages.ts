// Made from the Python classes by `make web`. Do not edit.

/** Every event is numbered from 1 and bears its time, in seconds since the session was opened. */
export interface Stamp {
  seq: number;
  at: number;
  /** True where large values were left out. */
  truncated?: true;
}

/** One word of a transcript; `start` and `end` are seconds from the start of the audio, where told. */
export interface Word {
  word: string;
  start: number | null;
  end: number | null;
  speaker: string | null;
}

/** A function call as the model made it. */
export interface Call {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

/** Tokens, as the service counted them, of one turn or of several. */
export interface Usage {
  prompt_tokens: number;
  response_tokens: number;
  total_tokens: number;
  thoughts_tokens: number;
  tool_use_tokens: number;
  cached_tokens: number;
  raw: Record<string, unknown>;
  modalities: Record<string, number>;
  model: string;
  cost: number | null;
}

/** The setup is complete. `id` is the server's session id (Vertex), or `None`. */
export interface SessionStarted extends Stamp {
  type: "SessionStarted";
  id: string | null;
  voice_consent: string | null;
}

/** A piece of the model's text. */
export interface TextChunk extends Stamp {
  type: "TextChunk";
  text: string;
}

/** A piece of a thought summary. */
export interface ThoughtChunk extends Stamp {
  type: "ThoughtChunk";
  text: string;
}

/** A piece of an avatar's video (Vertex AI): for `video/mp4` a fragment with audio. */
export interface VideoChunk {
  type: "VideoChunk";
  data: string;
  mime_type: string;
}

/**
 * A piece of what the user said, as the service heard it. Join the pieces. Do not wait for `finished`: it is
 * often never true.
 */
export interface InputTranscript extends Stamp {
  type: "InputTranscript";
  text: string;
  finished: boolean;
  language: string | null;
  speaker: string | null;
  words: Array<Word>;
  interim: boolean;
  start: number | null;
  end: number | null;
}

/** A piece of the transcript of what the model says. `start` and `end` are seconds into the audio, where told. */
export interface OutputTranscript extends Stamp {
  type: "OutputTranscript";
  text: string;
  finished: boolean;
  language: string | null;
  words: Array<Word>;
  start: number | null;
  end: number | null;
  speaker: string | null;
}

/** A call arrived. Its handler serves it; if it has none, `session.respond` must answer it. */
export interface ToolStarted extends Stamp {
  type: "ToolStarted";
  call: Call;
  approval: boolean;
}

/** A tool reported `value` with `context.progress`, or a generator yielded it. */
export interface ToolProgress extends Stamp {
  type: "ToolProgress";
  call: Call;
  value: unknown;
}

/** A tool ended. `response` is the JSON object that the model gets, `elapsed` the seconds since the call came. */
export interface ToolFinished extends Stamp {
  type: "ToolFinished";
  call: Call;
  response: Record<string, unknown>;
  error: string | null;
  elapsed: number;
  ran: boolean;
}

/** The service cancelled the call; nothing is sent for it. */
export interface ToolCancelled extends Stamp {
  type: "ToolCancelled";
  call: Call;
}

/** The connection of the call is lost. `delivery` is `"text"` (the result follows as text) or `"dropped"`. */
export interface ToolLost extends Stamp {
  type: "ToolLost";
  call: Call;
  delivery: string;
}

/** A call waits for a person: answer with `session.approve(call)` or `session.refuse(call, reason)`. */
export interface ApprovalRequested extends Stamp {
  type: "ApprovalRequested";
  call: Call;
  timeout: number | null;
}

/** The model's turn was cut off. Discard the audio that you have not played yet. */
export interface Interrupted extends Stamp {
  type: "Interrupted";
}

/** The model has generated everything for this turn. Playback may still continue. */
export interface GenerationComplete extends Stamp {
  type: "GenerationComplete";
}

/** The model's turn is over. `reason` is `None`, or says why it ended early (`MALFORMED_FUNCTION_CALL` …). */
export interface TurnComplete extends Stamp {
  type: "TurnComplete";
  reason: string | null;
  status: string | null;
  waiting_for_input: boolean;
  first_output: number | null;
  last_output: number | null;
}

/** Tokens of the turn. */
export interface UsageUpdate extends Stamp {
  type: "UsageUpdate";
  usage: Usage;
}

/** The service heard speech begin (`kind="start"`) or end (`"end"`), `offset` seconds into the audio. */
export interface VoiceActivity extends Stamp {
  type: "VoiceActivity";
  kind: string;
  offset: number | null;
}

/** Code that the model runs, or its result (`language` is then the outcome, such as `OUTCOME_OK`). */
export interface CodeChunk extends Stamp {
  type: "CodeChunk";
  code: string;
  language: string;
  tool: string | null;
  id: string | null;
}

/** The sources of the answer, search results and URLs, as the service sent them. */
export interface Grounding extends Stamp {
  type: "Grounding";
  metadata: Record<string, unknown>;
}

/** The service will cut this connection in `time_left` seconds (`None`: it did not say). */
export interface GoAway extends Stamp {
  type: "GoAway";
  time_left: number | null;
}

/** The model now has another agent's instructions and tools. `name` is the agent's. */
export interface HandedOff extends Stamp {
  type: "HandedOff";
  name: string | null;
}

/** The connection is lost. Attempt number `attempt` to reconnect begins in `delay` seconds. */
export interface Reconnecting extends Stamp {
  type: "Reconnecting";
  attempt: number;
  delay: number;
  cause: string;
}

/** A new connection is open. `state_restored`: the service accepted the handle and remembers the conversation. */
export interface Reconnected extends Stamp {
  type: "Reconnected";
  state_restored: boolean;
}

/** Nothing came for `seconds`, although `waiting_for` is expected. */
export interface Stalled extends Stamp {
  type: "Stalled";
  waiting_for: string;
  seconds: number;
}

/** `count` frames of input were not sent, or not sent again; `reason` says why. */
export interface InputDropped extends Stamp {
  type: "InputDropped";
  count: number;
  reason: string;
}

/** The session is open. Events up to `seq` that follow are those that the page has missed. */
export interface Ready {
  type: "ready";
  token: string;
  resumed: boolean;
  seq: number;
  at: number;
  missed: number;
  model: string;
  tools: Array<string>;
  declared_only: Array<string>;
  activity: "automatic" | "manual";
  input_rate: number;
  output_rate: number;
  linger: number;
  agent: string | null;
  heartbeat: number;
}

/** A typed turn was accepted. It is sent to the model after those before it. */
export interface UserText {
  type: "user_text";
  seq: number;
  at: number;
  text: string;
  ref?: string;
}

/** The session has other tools, or another agent: after a hand-off, and when the program changed them. */
export interface AgentNow {
  type: "agent";
  seq: number;
  at: number;
  name: string | null;
  tools: Array<string>;
  declared_only: Array<string>;
}

/** The call may run: a page has approved it, or the tool's own rule needs no person. */
export interface Approved {
  type: "approved";
  seq: number;
  at: number;
  id: string;
}

/** The binary messages that follow are of this rate, in Hz. */
export interface AudioFormat {
  type: "audio_format";
  seq: number;
  at: number;
  rate: number;
}

/** Speech was dropped because no page has read it in time. */
export interface Dropped {
  type: "dropped";
  seq: number;
  at: number;
  seconds: number;
}

/** A message of the page was not accepted. The conversation continues. */
export interface Refused {
  type: "error";
  code: "bad_message" | "too_large" | "busy" | "refused";
  message: string;
  ref?: string;
}

/** The session is over, and the websocket is closed next. `error` is the class of what ended it. */
export interface Ended {
  type: "ended";
  seq?: number;
  at?: number;
  error: string | null;
  message: string;
  retryable: boolean;
}

/** Nothing else was sent for `ready.heartbeat` seconds. */
export interface Alive {
  type: "alive";
}

/** The answer to a `ping`. */
export interface Pong {
  type: "pong";
  id: number;
}

/** Continue the session of this token; `after` is the last `seq` that the page has. */
export interface Resume {
  type: "resume";
  token: string;
  after?: number;
}

/** A typed turn of the user. A `ref` comes back in its `user_text`, or in the `error` that refuses it. */
export interface Text {
  type: "text";
  text: string;
  ref?: string | null;
}

/** One frame of a camera or a screen: a JPEG or a PNG, in base64. About one a second is looked at. */
export interface Video {
  type: "video";
  data: string;
}

/** The microphone is off: the speech that was sent is complete. */
export interface AudioEnd {
  type: "audio_end";
}

/** The user begins to speak. Only where `ready.activity` is `manual`. */
export interface ActivityStart {
  type: "activity_start";
}

/** The user has spoken. */
export interface ActivityEnd {
  type: "activity_end";
}

/** Stop the model's turn. */
export interface Interrupt {
  type: "interrupt";
}

/** Let the call run that waits for an approval. */
export interface Approve {
  type: "approve";
  id: string;
}

/** Refuse the call that waits for an approval; the model reads the reason. */
export interface Refuse {
  type: "refuse";
  id: string;
  reason?: string;
}

/** Answer a call to a function that is only declared, and so runs in the page. `error`: it failed, and why. */
export interface Respond {
  type: "respond";
  id: string;
  value?: unknown;
  error?: string | null;
}

/** Ask for a `pong` with the same `id`: how long is the way? */
export interface Ping {
  type: "ping";
  id: number;
}

/** End the session now, not after the time it would be kept. */
export interface End {
  type: "end";
}

/** An event of the session. */
export type SessionEvent =
  | SessionStarted
  | TextChunk
  | ThoughtChunk
  | VideoChunk
  | InputTranscript
  | OutputTranscript
  | ToolStarted
  | ToolProgress
  | ToolFinished
  | ToolCancelled
  | ToolLost
  | ApprovalRequested
  | Interrupted
  | GenerationComplete
  | TurnComplete
  | UsageUpdate
  | VoiceActivity
  | CodeChunk
  | Grounding
  | GoAway
  | HandedOff
  | Reconnecting
  | Reconnected
  | Stalled
  | InputDropped;

/** What the relay sends as JSON. */
export type RelayMessage =
  | Ready
  | UserText
  | AgentNow
  | Approved
  | AudioFormat
  | Dropped
  | Refused
  | Ended
  | Alive
  | Pong
  | SessionEvent;

/** What a page sends as JSON. */
export type Command =
  | Resume
  | Text
  | Video
  | AudioEnd
  | ActivityStart
  | ActivityEnd
  | Interrupt
  | Approve
  | Refuse
  | Respond
  | Ping
  | End;

export const PROTOCOL = "livetools.v1";

export const RESUME = "livetools.resume";

export const INPUT_RATE = 16000;

export const OUTPUT_RATE = 24000;

export const MAX_TEXT = 65536;
