"""The transcript: the conversation as ``contents``, with what the user sent, what the model said, and all calls.

What happens is only noted, as JSON: most conversations are never read, and bytes are nothing that the garbage collector
visits. When one is read, the notes are placed among the steps of which ``contents`` are made (see ``placing``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, takewhile
from typing import Any, TextIO, overload

import livetools.events as events
from livetools.events import Call, Event
from livetools.protocol.messages.outgoing import encode

from .contents import Content, Part, render, without_functions
from .placing import Placing
from .spoken_text import Words

CANCELLED_RESPONSE = {"error": "cancelled"}
LOST = {"error": "cancelled: the connection that asked was lost"}

#: Bytes of a transcript that are kept, about.
MAX_HISTORY = 2**20
#: Bytes of a conversation that another session begins with, about.
MAX_SEED = 2**18
#: Bytes that a note takes beside its text: an object, its place in a list, and what they round up to.
NOTE_OVERHEAD = 64
#: Notes in which the end of a step is looked for where the only exchange is too long.
LOOKED_AT = 64
#: Characters of a content that are printed, at most.
BRIEF = 100

# Ends a seed for models that want the last turn to be the user's (2.5: pipecat#4355).
CONTINUED = "(The connection was replaced. The conversation continues from here.)"


class Transcript(Sequence[Content]):
    """Listens to a session and writes its conversation down. A sequence of contents, as ``connect(history=)`` takes it.

    ``max_bytes`` bounds what is kept, roughly: the oldest whole exchanges go first, then the oldest steps of the only
    one that is left; the end of the newest step always stays. ``dropped`` counts the steps that went, a batch of calls
    with its responses being one. ``transcribed``: the session asks for a transcript of the model's speech, and text
    beside that counts only in turns without any.

    ::

        async with connect(MODEL) as session:
            await session.ask("My name is Ann.")
        async with connect(MODEL, history=session.transcript) as another:
            print(another.transcript[0])  # {'role': 'user', 'parts': [{'text': 'My name is Ann.'}]}
    """

    def __init__(self, *, max_bytes: int = MAX_HISTORY, transcribed: bool = False) -> None:
        self.max_bytes = max_bytes
        self._words = Words(transcribed)
        self.dropped = 0  # read-only from outside: steps that went, past the bound
        self._on_full: Callable[[int], object] | None = None
        self._weight = 0  # of all notes, in bytes
        self._past: list[bytes] = []  # the notes of each exchange that is over, a line each
        self._running: list[bytes] = []  # those of the exchange that runs
        self._number = 0  # of that exchange, counted from the first one
        self._calls: dict[str, int] = {}  # those without a final answer: the exchange that they were made in
        self._placed: Placing | None = None  # the notes so far, for somebody who reads again and again

    # what the session sends

    def user_text(self, text: str) -> None:
        """The user sent ``text``; it begins a new exchange."""
        if text:
            self._given("user", [{"text": text}])

    def user_content(self, turns: Iterable[Mapping[str, Any]]) -> None:
        """The user sent turns, or a history. Function calls and responses in them are paired like all others.

        A function response without a call to answer has no lawful place and is left out.
        """
        for turn in turns:
            # Every role but the model's counts as the user's: "function" is seen as well.
            role = "model" if turn.get("role") == "model" else "user"
            parts = turn.get("parts") or ()
            said: list[Part] = []
            for part in [parts] if isinstance(parts, Mapping) else parts:
                if not isinstance(part, Mapping):
                    continue
                if (call := _member(part, "functionCall", "function_call")) is not None:
                    self._given(role, said)
                    rest = {key: value for key, value in part.items() if key != "function_call"}
                    # Its response may come in a later turn, and belongs to the exchange in which the call was made.
                    if call.get("id"):
                        self._calls[str(call["id"])] = self._number
                    self._note(("given call", {**rest, "functionCall": call}))
                elif (response := _member(part, "functionResponse", "function_response")) is not None:
                    self._given(role, said)
                    made_in = self._calls.pop(str(response.get("id")), None)
                    self._note(("given answer", response), made_in)
                else:
                    said.append(dict(part))
            self._given(role, said)

    def _given(self, role: str, said: list[Part]) -> None:
        if said:
            if role == "user":
                self._end()
            self._note(("given", role, said))
            said.clear()

    # what the session tells

    def event(self, event: Event) -> None:
        """Take note of an event. One that says nothing of the conversation (audio, usage) costs a look-up."""
        if (take := TAKE.get(type(event))) is not None:
            take(self, event)

    def _on_said(self, event: events.TextChunk | events.OutputTranscript) -> None:
        if words := self._words.take(event):
            self._note(("said", words))

    def _on_heard(self, event: events.InputTranscript) -> None:
        if not event.interim:  # a guess, which what follows replaces
            self._note(("heard", event.text, event.finished))

    def _on_started(self, event: events.ToolStarted) -> None:
        call = event.call
        self._calls[call.id] = self._number
        self._note(("call", call.id, call.name, call.args))

    def _on_answer(self, call: Call, response: Mapping[str, Any], final: bool) -> None:
        made_in = self._calls.pop(call.id, None)
        # A lost call whose result follows as text is not final: that text is its answer.
        if not final:
            self._calls[call.id] = self._number if made_in is None else made_in
        # The call was made before the transcript began, or on an earlier process: it is noted with its answer.
        if made_in is None:
            self._note(("stray answer", call.id, call.name, response, final, call.args))
        else:
            self._note(("answer", call.id, response, final), made_in)

    def _on_turn_complete(self, event: events.TurnComplete) -> None:
        if event.status == "IN_PROGRESS":
            self._note(("filler",))
        elif event.reason != events.SETTLED:  # then no turn has ended, and the user may speak by now
            self._over()

    def _over(self) -> None:
        if words := self._words.rest():
            self._note(("said", words))
        self._note(("over",))
        self._end()

    # notes

    def _note(self, note: Sequence[object], exchange: int | None = None) -> None:
        """Add a note to the exchange that runs, or to an earlier one; where that is gone, the note has no place."""
        made = encode(note)
        if exchange is None or exchange == self._number:
            self._running.append(made)
            # Somebody reads again and again: one note more is placed, instead of all of them.
            if self._placed is not None:
                self._placed.place(made)
        elif (at := exchange - self._number) >= -len(self._past):
            # A late answer is put into the exchange of its call, so that both are dropped together.
            self._past[at] += b"\n" + made
            self._placed = None
        else:
            return
        self._weight += len(made) + NOTE_OVERHEAD
        while self._weight > self.max_bytes and self._drop():
            self._placed = None  # it has steps that are gone

    def _end(self) -> None:
        """The exchange that runs is over. One without a note does not count."""
        if self._running:
            self._past.append(b"\n".join(self._running))
            self._running.clear()
            self._number += 1

    def _drop(self) -> bool:
        """Drop the oldest exchange, or the first step of the only one. Whether there was one to drop."""
        if self._past:
            notes = self._past.pop(0).splitlines()
        # Only one exchange is left: it goes step by step, so that a conversation without ends of turns is bounded too.
        elif notes := self._first_step():
            del self._running[: len(notes)]
        else:
            return False
        self._weight -= sum(map(len, notes)) + NOTE_OVERHEAD * len(notes)
        placing = Placing()
        for note in notes:
            placing.count(note)
        # Reported once, with the first step that goes.
        if placing.steps and not self.dropped and self._on_full is not None:
            self._on_full(self.max_bytes)
        self.dropped += len(placing.steps)
        return True

    def _first_step(self) -> list[bytes]:
        """The notes of the first step of the exchange that runs, ``LOOKED_AT`` of them at most; none where it is the
        newest step and has fewer: that stays."""
        placing, notes = Placing(), self._running[:LOOKED_AT]
        for at, note in enumerate(notes):
            placing.count(note)
            if len(placing.steps) > 1:
                return notes[:at]
        return notes if len(notes) == LOOKED_AT else []

    def _place(self) -> Placing:
        """Place the notes so far."""
        placing = Placing()
        for note in chain(*map(bytes.splitlines, self._past), self._running):
            placing.place(note)
        return placing

    # what others read

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

    def __eq__(self, other: object) -> bool:
        return self.contents == other.contents if isinstance(other, Transcript) else NotImplemented

    def if_full(self, tell: Callable[[int], object]) -> None:
        """Call this with the bound when the first step goes."""
        self._on_full = tell

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the conversation, and nothing of the session that it listens to."""
        return {**vars(self), "_on_full": None, "_placed": None}

    def __repr__(self) -> str:
        """A line a content, so that it can be read where it is printed."""
        lines = (f"  {content['role']}: {_brief(content)}" for content in self.contents)
        return "\n".join(("Transcript(", *lines, ")")) if self else "Transcript()"

    @property
    def contents(self) -> list[Content]:
        """The conversation, for ``generateContent(contents=...)``: a new list; its parts are to be read only.

        Every function call has its response in the content that follows; what is still open says so.
        """
        self._placed = self._placed or self._place()
        return render(self._placed.steps)

    def seed(
        self, functions: bool = True, ends_with_user: bool = False, max_bytes: int = MAX_SEED
    ) -> list[Content]:
        """``contents`` for another session to begin with: the newest steps that fit in ``max_bytes``.

        Without ``functions`` calls and their responses are left out: 2.5 closes with 1007 on them, 3.1 forgets them.
        ``ends_with_user`` adds a user turn where the last one is the model's, as 2.5 wants it. The default of
        256 KiB is about 64,000 tokens, half the window of a native-audio model (131,072).
        """
        steps = (self._placed or self._place()).steps
        # The newest steps are kept, and at least one, even if it is larger than the bound.
        sizes = accumulate(len(encode(render([step]))) for step in reversed(steps))
        fit = sum(1 for _ in takewhile(lambda size: size <= max_bytes, sizes))
        contents = render(steps[-max(1, fit) :])
        # After the choice: the bound is of what was said and called, so that the two kinds of seed begin at the same
        # step.
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


#: What takes note of an event, by its very type.
TAKE: Mapping[type, Callable[[Transcript, Any], object]] = {
    events.TextChunk: Transcript._on_said,
    events.OutputTranscript: Transcript._on_said,
    events.InputTranscript: Transcript._on_heard,
    events.ToolStarted: Transcript._on_started,
    events.ToolFinished: lambda transcript, e: transcript._on_answer(e.call, e.response, final=True),
    events.ToolCancelled: lambda transcript, e: transcript._on_answer(e.call, CANCELLED_RESPONSE, final=True),
    events.ToolLost: lambda transcript, e: transcript._on_answer(e.call, LOST, final=e.delivery != "text"),
    events.Interrupted: lambda transcript, _: transcript._over(),
    events.TurnComplete: Transcript._on_turn_complete,
}


def _member(part: Mapping[str, Any], *names: str) -> Mapping[str, Any] | None:
    return next((part[name] for name in names if isinstance(part.get(name), Mapping)), None)


def _brief(content: Content) -> str:
    """The parts of a content in a few words, on one line."""
    text = " ".join(_part(part) for part in content["parts"])
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 1]}…"


def _part(part: Part) -> str:
    if "text" in part:
        return json.dumps(part["text"], ensure_ascii=False)
    if "functionCall" in part:
        return f"calls {part['functionCall'].get('name')}"
    if "functionResponse" in part:
        return f"{part['functionResponse'].get('name')} answers"
    return " ".join(part) or "nothing"
