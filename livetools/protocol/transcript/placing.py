"""Places the notes of a conversation among its *steps*: something that one side said, or a batch of calls.

A live session tells things as they happen; ``generateContent`` and a seeded session want them in a fixed
order: a function-call turn follows a user or a function-response turn, and is followed at once by one content
with as many function responses as it had calls. The rules:

- A response is next to its call, even if it came late. What the model said meanwhile follows.
- Calls that started with nothing between them are one batch. Words spoken just before share its content.
- A call that was cancelled, lost or is still open has a response that says so: a history with an unpaired
  call is refused by the next model that reads it (pydantic-ai#7977).
- What the service heard (``InputTranscript``) may arrive in the middle of the answer or after it; until the
  turn ends it belongs in front of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.json import decode

from .contents import Batch, Part, Passage, Slot, TranscriptStep


class Placing:
    """The steps of a conversation, from its notes in the order in which they were taken. Each kind has its method.

    ======================================  ================================================================
    ``["given", role, parts]``              parts of a turn that the user sent, or the program gave
    ``["said", text]``                      the model said this, or continued
    ``["heard", text, finished]``           the service has understood this of what the user said
    ``["call", id, name, args]``            the model has called
    ``["given call", part]``                a call in a turn that the program gave
    ``["answer", id, response, final]``     of a call that was noted
    ``["stray answer", id, name, response, final, args]``  of one that was not
    ``["given answer", response]``          a function response in a turn that the program gave
    ``["filler"]``                          a turn has ended in which the model only bridged the time
    ``["over"]``                            the exchange is over
    ======================================  ================================================================
    """

    def __init__(self) -> None:
        self.steps: list[TranscriptStep] = []
        self._slots: dict[str, Slot] = {}  # the newest of each id
        self._first = 0  # the exchange that runs begins with this step
        self._batch: Batch | None = None  # still takes calls

    def place(self, note: bytes) -> None:
        """Place the next note."""
        kind, *rest = decode(note)
        getattr(self, f"_on_{kind.replace(' ', '_')}")(*rest)

    def count(self, note: bytes) -> None:
        """Place the next note, where only the number of steps counts: an answer, which may be large, is not read."""
        # An answer begins no step: it only ends the batch, as place() would have it.
        if note.startswith(b'["answer"'):
            self._batch = None
        else:
            self.place(note)

    # what was said

    def _on_given(self, role: str, parts: list[Part]) -> None:
        # What the user sends always begins an exchange, even in the middle of the model's turn.
        if role == "user":
            self._on_over()
        self._say(role, parts)

    def _on_said(self, text: str) -> None:
        last = self.steps[-1] if len(self.steps) > self._first else None
        # Text continues the last step of the model unless that was given whole, or a filler has ended it.
        goes_on = isinstance(last, Passage) and last.role == "model" and not (last.parts or last.finished)
        if not isinstance(last, Passage) or not goes_on:
            last = self._say("model", [])
        last.text += text

    def _on_heard(self, text: str, finished: bool) -> None:
        said = self._heard()
        if said is None or said.finished:
            # The end of an utterance that was never heard.
            if not text:
                return
            said = self._insert_heard(new_exchange=said is not None)
        said.finished = finished
        said.text += text

    # what was called

    def _on_call(self, id: str, name: str, args: Mapping[str, Any]) -> None:
        self._start({"functionCall": {"id": id, "name": name, "args": args}}, id, name)

    def _on_given_call(self, part: Part) -> None:
        call = part["functionCall"]
        self._start(part, str(call["id"]) if call.get("id") else None, str(call.get("name", "")))

    def _start(self, part: Part, id: str | None, name: str) -> None:
        known = self._slots.get(id) if id else None
        # The same id on a later connection is the same call, as long as it has no response.
        if known is not None and known.response is None:
            return  # asked twice, run once
        if self._batch is None:
            self._batch = []
            self.steps.append(self._batch)
        slot = Slot(id, name, part)
        self._batch.append(slot)
        self._slots[id or f"without id {len(self._slots)}"] = slot

    def _on_answer(self, id: str, response: Part, final: bool) -> None:
        if (slot := self._slots.get(id)) is not None:
            self._fill(slot, response, final)

    def _on_stray_answer(
        self, id: str, name: str, response: Part, final: bool, args: Mapping[str, Any]
    ) -> None:
        if id not in self._slots:
            self._on_call(id, name, args)
        self._on_answer(id, response, final)

    def _on_given_answer(self, response: Mapping[str, Any]) -> None:
        if id := response.get("id"):
            slot = self._slots.get(str(id))
        else:
            # Without an id the first open call of that name is meant.
            waiting = (slot for slot in self._slots.values() if slot.response is None)
            slot = next((slot for slot in waiting if slot.name == response.get("name")), None)
        if slot is not None and not slot.final:
            slot.rest = {key: value for key, value in response.items() if key != "response"}
            told = response.get("response")
            self._fill(slot, told if isinstance(told, dict) else {}, final=True)

    def _fill(self, slot: Slot, response: Part, final: bool) -> None:
        self._batch = None  # the model's next calls are made with this knowledge
        # A response that was not final (lost, its result follows) is replaced by the next one, a final one never.
        if not slot.final:
            slot.response, slot.final = response, final

    # what has ended

    def _on_filler(self) -> None:
        """The model thinks on, and the exchange continues."""
        self._batch = None
        # What follows a filler is another utterance of the same exchange.
        if self.steps and isinstance(last := self.steps[-1], Passage):
            last.finished = True

    def _on_over(self) -> None:
        self._first, self._batch = len(self.steps), None

    # steps

    def _say(self, role: str, parts: list[Part]) -> Passage:
        said = Passage(role, parts)
        self._batch = None
        self.steps.append(said)
        return said

    def _heard(self) -> Passage | None:
        """What was heard last in the exchange that runs."""
        running = reversed(self.steps[self._first :])
        return next((step for step in running if isinstance(step, Passage) and step.heard), None)

    def _insert_heard(self, new_exchange: bool) -> Passage:
        """A place for an utterance: in front of what the model answered, behind what the user typed."""
        if new_exchange:
            self._on_over()
        said = Passage("user", heard=True)
        # Transcripts of input keep no order with the model's turn: they come before, in the middle of, or after the
        # answer.
        at = self._first
        while at < len(self.steps) and isinstance(step := self.steps[at], Passage) and step.role == "user":
            at += 1
        self.steps.insert(at, said)
        # It is the newest step: what the model calls from here on is a batch of its own.
        if at == len(self.steps) - 1:
            self._batch = None
        return said
