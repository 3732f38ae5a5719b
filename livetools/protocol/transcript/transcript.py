"""The transcript: the conversation as ``contents``, with what the user sent, what the model said, and all calls.

A live session tells things as they happen; ``generateContent`` and a seeded session want them in a fixed
order: a function-call turn follows a user or a function-response turn, and is followed at once by one content
with as many function responses as it had calls. What happens is only noted: most conversations are never asked for.
When one is, or more was noted than may be kept, each note is placed among the *steps* (something said, or a batch of
calls), of which that list is made. The rules of placing:

- A response is next to its call, even if it came late. What the model said meanwhile follows.
- Calls that started with nothing between them are one batch. Words spoken just before share its content.
- A call that was cancelled, lost or is still open has a response that says so: a history with an unpaired
  call is refused by the next model that reads it (pydantic-ai#7977).
- What the service heard (``InputTranscript``) may arrive in the middle of the answer or after it; until the
  turn ends it belongs in front of the answer.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, TextIO, overload

from msgspec import Struct

from livetools.events import (
    SETTLED,
    Call,
    Event,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    TurnComplete,
)

from .steps import (
    STEP_OVERHEAD,
    Batch,
    Content,
    Part,
    Slot,
    Step,
    Utterance,
    render,
    weigh,
    without_functions,
)

CANCELLED_RESPONSE = {"error": "cancelled"}
LOST = {"error": "cancelled: the connection that asked was lost"}

#: Bytes of a transcript that are kept, about.
MAX_HISTORY = 2**20
#: Notes that are placed for each that comes, past the bound.
AT_ONCE = 8
#: Bytes of a conversation that another session begins with, about.
MAX_SEED = 2**18

# Ends a seed for models that want the last turn to be the user's (2.5: pipecat#4355).
CONTINUED = "(The connection was replaced. The conversation continues from here.)"


class _Typed(Struct, frozen=True, gc=False):
    """The user sent a text."""

    text: str


_NONE: deque[tuple[Event | _Typed, int]] = deque(maxlen=0)


class Transcript(Sequence[Content]):
    """Listens to a session and writes its conversation down. A sequence of contents, as ``connect(history=)`` takes it.

    ``max_bytes`` bounds what is kept, roughly (a character counts a byte): the oldest whole exchanges go
    first, then the oldest steps of the only one that is left; the newest step always stays. ``dropped``
    counts the steps that went, a batch of calls with its responses being one. ``transcribed``: the session asks for
    a transcript of the model's speech, and text beside that counts only in turns without any.

    ::

        async with connect(MODEL) as session:
            await session.ask("My name is Ann.")
        async with connect(MODEL, history=session.transcript) as another:
            print(another.transcript[0])  # {'role': 'user', 'parts': [{'text': 'My name is Ann.'}]}
    """

    def __init__(self, *, max_bytes: int = MAX_HISTORY, transcribed: bool = False) -> None:
        self.max_bytes, self.transcribed = max_bytes, transcribed
        self._dropped = 0
        self.on_full: Callable[[], object] | None = None  # called when the first step goes
        self._noted = (
            _NONE  # what is not placed yet, with its weight; a session in which nothing happens has no queue
        )
        self._noted_weight = 0
        self._steps: list[Step] = []
        self._slots: dict[str, tuple[Slot, Batch]] = {}  # the newest of each id, with its batch
        self._unnamed = count()  # calls that have no id
        self._weight = 0
        self._exchange = 0
        self._ended = False  # the next step begins an exchange
        self._batch: Batch | None = None  # still takes calls
        self._aside: list[Utterance] = []  # text beside speech, in the turn that runs
        self._spoken = False  # that turn has a transcript

    # what the session sends

    def user_text(self, text: str) -> None:
        """The user sent ``text``; it begins a new exchange."""
        if text:
            self.event(_Typed(text))

    def user_content(self, turns: Iterable[Mapping[str, Any]]) -> None:
        """The user sent turns, or a history. Function calls and responses in them are paired like all others.

        A function response without a call to answer has no lawful place and is left out.
        """
        self._place_all()
        for turn in turns:
            role = "model" if turn.get("role") == "model" else "user"
            said: Utterance | None = None
            parts = turn.get("parts") or ()
            for part in [parts] if isinstance(parts, Mapping) else parts:
                if not isinstance(part, Mapping):
                    continue
                if (call := _member(part, "functionCall", "function_call")) is not None:
                    said = None
                    rest = {key: value for key, value in part.items() if key != "function_call"}
                    id = str(call["id"]) if call.get("id") else None
                    self._start({**rest, "functionCall": call}, id, str(call.get("name", "")))
                elif (response := _member(part, "functionResponse", "function_response")) is not None:
                    said = None
                    self._fill_given(response)
                elif said is None:
                    if role == "user":
                        self._end()
                    said = self._say(role, dict(part))
                else:
                    self._add(said, dict(part))

    # what the session tells

    def event(self, event: Event | _Typed) -> None:
        """Take note of an event. One that says nothing of the conversation (audio, usage) costs a look-up."""
        if type(event) not in PLACE:
            return
        if type(event) is ToolFinished:
            weight = weigh(event.response)
        elif type(event) is ToolStarted:
            weight = weigh(event.call.args)
        else:
            weight = STEP_OVERHEAD + len(getattr(event, "text", ""))
        if self._noted is _NONE:
            self._noted = deque()
        self._noted.append((event, weight))
        self._noted_weight += weight
        if self._noted_weight + self._weight > self.max_bytes:
            self._place_oldest()

    def _place_oldest(self) -> None:
        """Place a few for each that comes: the bound is passed by little, and nobody waits for all at once."""
        for _ in range(min(AT_ONCE, len(self._noted))):
            what, weight = self._noted.popleft()
            self._noted_weight -= weight
            PLACE[type(what)](self, what)

    def _place_all(self) -> list[Step]:
        """All steps, what was noted since the last time among them."""
        for what, _ in self._noted:
            PLACE[type(what)](self, what)
        self._noted.clear()
        self._noted_weight = 0
        return self._steps

    def _on_typed(self, typed: _Typed) -> None:
        self._end()
        self._say("user", {"text": typed.text})

    def _on_model_text(self, event: TextChunk | OutputTranscript) -> None:
        if not event.text:
            return
        aside = self.transcribed and isinstance(event, TextChunk)
        self._spoken = self._spoken or not aside
        last = self._steps[-1] if self._steps and not self._ended else None
        goes_on = isinstance(last, Utterance) and last.role == "model" and not (last.parts or last.finished)
        if not isinstance(last, Utterance) or not goes_on or last.aside is not aside:
            last = self._say("model")
            last.aside = aside
            if aside:
                self._aside.append(last)
        last.text += event.text
        self._grow(last, len(event.text))

    def _on_heard(self, event: InputTranscript) -> None:
        if event.interim:
            return  # a guess, which what follows replaces
        step = self._heard()
        if step is None or step.finished:
            if not event.text:
                return
            step = self._insert_heard(new_exchange=step is not None)
        step.finished = event.finished
        if event.text:
            step.text += event.text
            self._grow(step, len(event.text))

    def _on_turn_complete(self, event: TurnComplete) -> None:
        if event.reason == SETTLED:  # no turn has ended, and the user may speak by now
            return
        if event.status == "IN_PROGRESS":  # a filler: the model thinks on, and the exchange with it
            self._batch = None
            if self._steps and isinstance(last := self._steps[-1], Utterance):
                last.finished = True
        else:
            self._end()
            self._decide()

    # steps

    def _decide(self) -> None:
        """The turn is over: the text beside its speech goes, or was all that it said."""
        for said in self._aside:
            if not self._spoken:
                said.aside = False
            elif said in self._steps:
                self._steps.remove(said)
                self._weight -= said.weight
        self._aside.clear()
        self._spoken = False

    def _end(self) -> None:
        self._ended, self._batch = True, None

    def _open(self) -> int:
        """The number of the exchange that the next step belongs to."""
        if self._ended:
            self._ended = False
            self._exchange += 1
        return self._exchange

    def _say(self, role: str, *parts: Part) -> Utterance:
        said = Utterance(self._open(), role)
        self._batch = None
        self._steps.append(said)
        for part in parts:
            self._add(said, part)
        return said

    def _add(self, said: Utterance, part: Part) -> None:
        said.parts.append(part)
        self._grow(said, weigh(part))

    def _heard(self) -> Utterance | None:
        """The utterance of the running exchange."""
        if self._ended:
            return None
        return next((s for s in self._running() if isinstance(s, Utterance) and s.heard), None)

    def _running(self) -> Iterator[Step]:
        """The steps of the running exchange, newest first."""
        return takewhile(lambda step: step.exchange == self._exchange, reversed(self._steps))

    def _insert_heard(self, new_exchange: bool) -> Utterance:
        """A place for an utterance: in front of what the model answered, behind what the user typed."""
        if new_exchange:
            self._end()
        said = Utterance(self._open(), "user", heard=True)
        at = len(self._steps) - sum(1 for _ in self._running())
        while (
            at < len(self._steps) and isinstance(step := self._steps[at], Utterance) and step.role == "user"
        ):
            at += 1
        self._steps.insert(at, said)
        if at == len(self._steps) - 1:
            self._batch = None
        return said

    def _start(self, call: Call | Part, id: str | None, name: str) -> Slot:
        known = self._slot(id) if id else None
        if known is not None and known.response is None:
            return known  # asked twice, run once
        if self._batch is None:
            self._batch = Batch(self._open())
            self._steps.append(self._batch)
        slot = Slot(id or f"without id {next(self._unnamed)}", name, id, call)
        self._batch.slots.append(slot)
        self._slots[slot.key] = slot, self._batch
        self._grow(self._batch, weigh(call.args if isinstance(call, Call) else call))
        return slot

    def _mark(self, call: Call, response: Mapping[str, Any], *, final: bool) -> None:
        self._fill(self._slot(call.id) or self._start(call, call.id, call.name), response, final=final)

    def _fill_given(self, response: Mapping[str, Any]) -> None:
        if id := response.get("id"):
            slot = self._slot(str(id))
        else:
            open_slots = (s for s, _ in self._slots.values() if s.response is None)
            slot = next((s for s in open_slots if s.name == response.get("name")), None)
        if slot is not None and not slot.final:
            slot.rest = {key: value for key, value in response.items() if key != "response"}
            told = response.get("response")
            self._fill(slot, told if isinstance(told, Mapping) else {}, final=True)

    def _slot(self, key: str) -> Slot | None:
        kept = self._slots.get(key)
        return None if kept is None else kept[0]

    def _fill(self, slot: Slot, response: Mapping[str, Any], *, final: bool) -> None:
        self._batch = None  # the model's next calls are made with this knowledge
        if not slot.final:
            slot.response, slot.final = dict(response), final
            weight = weigh(response) + (weigh(slot.rest) if slot.rest else 0)
            if (kept := self._slots.get(slot.key)) is not None:
                self._grow(kept[1], weight)

    def _grow(self, step: Step, weight: int) -> None:
        step.weight += weight
        self._weight += weight
        while self._weight > self.max_bytes and len(self._steps) > 1:
            oldest = self._steps[0].exchange
            whole = oldest != self._steps[-1].exchange
            self._drop()
            while whole and self._steps[0].exchange == oldest:
                self._drop()

    def _drop(self) -> None:
        step = self._steps.pop(0)
        self._weight -= step.weight
        self._dropped += 1
        if self._dropped == 1 and self.on_full is not None:
            self.on_full()
        for slot in step.slots if isinstance(step, Batch) else ():
            if self._slot(slot.key) is slot:
                del self._slots[slot.key]

    # what others read

    @property
    def dropped(self) -> int:
        """How many steps went, past the bound."""
        self._place_all()
        return self._dropped

    def __len__(self) -> int:
        return len(self.contents)

    @overload
    def __getitem__(self, index: int) -> Content: ...
    @overload
    def __getitem__(self, index: slice) -> list[Content]: ...
    def __getitem__(self, index: int | slice) -> Content | list[Content]:
        return self.contents[index]

    def __iter__(self) -> Iterator[Content]:
        return iter(self.contents)

    def __bool__(self) -> bool:
        return bool(self._place_all())

    def __eq__(self, other: object) -> bool:
        return self.contents == other.contents if isinstance(other, Transcript) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the conversation, and nothing of the session that it listens to."""
        kept = {"max_bytes": self.max_bytes, "transcribed": self.transcribed}
        return {**kept, "contents": self.contents, "dropped": self.dropped}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(max_bytes=state["max_bytes"], transcribed=state["transcribed"])  # type: ignore[misc]  # as pickle does not
        self.user_content(state["contents"])
        self._dropped += state["dropped"]

    def __repr__(self) -> str:
        """A line a content, so that it can be read where it is printed."""
        lines = (f"  {content['role']}: {_brief(content)}" for content in self.contents)
        return "\n".join(("Transcript(", *lines, ")")) if self else "Transcript()"

    @property
    def contents(self) -> list[Content]:
        """The conversation, for ``generateContent(contents=...)``: a new list; its parts are to be read only.

        Every function call has its response in the content that follows; what is still open says so.
        """
        return render(self._place_all())

    def seed(
        self, functions: bool = True, ends_with_user: bool = False, max_bytes: int = MAX_SEED
    ) -> list[Content]:
        """``contents`` for another session to begin with: the newest steps that fit in ``max_bytes``.

        Without ``functions`` calls and their responses are left out: 2.5 closes with 1007 on them, 3.1 forgets them.
        ``ends_with_user`` adds a user turn where the last one is the model's, as 2.5 wants it. The default of
        256 KiB is about 64,000 tokens, half the window of a native-audio model (131,072).
        """
        steps: deque[Step] = deque()
        for step in reversed(self._place_all()):
            max_bytes -= step.weight
            if max_bytes < 0 and steps:
                break
            steps.appendleft(step)
        contents = render(steps)
        if not functions:
            contents = without_functions(contents)
        if ends_with_user and contents and contents[-1]["role"] == "model":
            contents.append({"role": "user", "parts": [{"text": CONTINUED}]})
        return contents

    def to_jsonl(self, target: str | os.PathLike[str] | TextIO) -> None:
        """Write one content a line, UTF-8. A path is overwritten; a text file is written to and left open."""
        if isinstance(target, str | os.PathLike):
            # a lone surrogate cannot be UTF-8; as a backslash escape it is the same character in JSON
            with open(target, "w", encoding="utf-8", errors="backslashreplace") as file:
                self.to_jsonl(file)
            return
        for content in self.contents:
            target.write(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")

    @classmethod
    def from_jsonl(
        cls, source: str | os.PathLike[str] | TextIO, *, max_bytes: int = MAX_HISTORY
    ) -> Transcript:
        """Read what :meth:`to_jsonl` wrote. Raises ``ValueError`` for a line that is not a JSON object."""
        if isinstance(source, str | os.PathLike):
            with open(source, encoding="utf-8") as file:
                return cls.from_jsonl(file, max_bytes=max_bytes)
        transcript = cls(max_bytes=max_bytes)
        for number, line in enumerate(source, 1):
            if line.strip():
                content = json.loads(line)
                if not isinstance(content, dict):
                    raise ValueError(f"line {number} of the transcript is not a JSON object: {line[:60]!r}")
                transcript.user_content([content])
        return transcript


#: What places a note among the steps, by the very type of the note.
PLACE: Mapping[type, Callable[[Transcript, Any], object]] = {
    _Typed: Transcript._on_typed,
    TextChunk: Transcript._on_model_text,
    OutputTranscript: Transcript._on_model_text,
    InputTranscript: Transcript._on_heard,
    ToolStarted: lambda transcript, e: transcript._start(e.call, e.call.id, e.call.name),
    ToolFinished: lambda transcript, e: transcript._mark(e.call, e.response, final=True),
    ToolCancelled: lambda transcript, e: transcript._mark(e.call, CANCELLED_RESPONSE, final=True),
    ToolLost: lambda transcript, e: transcript._mark(e.call, LOST, final=e.delivery != "text"),
    Interrupted: lambda transcript, e: transcript._end(),
    TurnComplete: Transcript._on_turn_complete,
}


def _member(part: Mapping[str, Any], *names: str) -> Mapping[str, Any] | None:
    return next((part[name] for name in names if isinstance(part.get(name), Mapping)), None)


def _brief(content: Content) -> str:
    """The parts of a content in a few words."""
    return _cut(" ".join(_part(part) for part in content["parts"]))


def _part(part: Part) -> str:
    if "text" in part:
        return json.dumps(part["text"], ensure_ascii=False)
    if "functionCall" in part:
        return f"calls {part['functionCall'].get('name')}"
    if "functionResponse" in part:
        return f"{part['functionResponse'].get('name')} answers"
    return " ".join(part) or "nothing"


def _cut(text: str, most: int = 100) -> str:
    """The text on one line of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
