// The official JavaScript SDK against a fake server: tools, cancellation, interruption, resumption, a 1011 close.
// Prints one JSON object of what it saw.
import { GoogleGenAI, Modality } from "@google/genai";

const ai = new GoogleGenAI({ apiKey: "fake", httpOptions: { baseUrl: process.env.FAKE_URL } });
const saw = { said: [], cancelled: [], interrupted: 0, closes: [] };
let handle;
let waiting = [];

async function open(resume) {
  const state = {};
  state.closed = new Promise((resolve) => (state.close = resolve));
  state.session = await ai.live.connect({
    model: process.env.MODEL,
    config: {
      responseModalities: [Modality.AUDIO],
      outputAudioTranscription: {},
      sessionResumption: resume ? { handle: resume } : {},
      tools: [{ functionDeclarations: [{ name: "work" }, { name: "slow", behavior: "BLOCKING" }] }],
    },
    callbacks: {
      onmessage: (message) => hear(state.session, message),
      onclose: (event) => (saw.closes.push([event.code, event.reason]), state.close()),
      onerror: () => {},
    },
  });
  return state;
}

let text = "";
function hear(session, message) {
  for (const call of message.toolCall?.functionCalls ?? []) {
    if (call.name === "slow") { waiting.push(call); next("call"); continue; }
    session.sendToolResponse({ functionResponses: [{ id: call.id, name: call.name, response: { output: "done" } }] });
  }
  if (message.toolCallCancellation) { saw.cancelled.push(...message.toolCallCancellation.ids); next("cancelled"); }
  if (message.sessionResumptionUpdate?.newHandle) { handle = message.sessionResumptionUpdate.newHandle; next("handle"); }
  const content = message.serverContent ?? {};
  if (content.interrupted) saw.interrupted++;
  text += content.outputTranscription?.text ?? "";
  if (content.turnComplete) { if (text) saw.said.push(text); if (text) next("turn"); text = ""; }
}

const events = {};
function next(kind) { (events[kind] ??= { count: 0, wake: [] }).count++; events[kind].wake.splice(0).forEach((f) => f()); }
async function until(kind, count) {
  while ((events[kind]?.count ?? 0) < count) await new Promise((resolve) => (events[kind] ??= { count: 0, wake: [] }).wake.push(resolve));
}
const say = (session, words) =>
  session.sendClientContent({ turns: [{ role: "user", parts: [{ text: words }] }], turnComplete: true });

const first = await open();
say(first.session, "work");
await until("turn", 1);
say(first.session, "slow");
await until("call", 1);
say(first.session, "never mind");
await until("turn", 2);
await until("handle", 2);
first.session.close();
await first.closed;
const second = await open(handle);
say(second.session, "still there?");
await until("turn", 3);
say(second.session, "fail");
await second.closed;
console.log(JSON.stringify(saw));
process.exit(0);
