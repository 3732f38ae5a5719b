"""Makes the answer to a call: its function response, with its scheduling and media, and the message that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from livetools.protocol.input.resend import Entry, Frame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.outgoing import JSONObject

from .call_states import CallState, Record

_VOID = (
    CallState.VOID
)  # every call passes it: asked of its class, a member of an enum costs ten times as much

#: Responses after which the server waits for nothing more.
FINAL_KINDS = frozenset({"answer", "acknowledgement"})

Parts: TypeAlias = Sequence[JSONObject]  # media beside a response


class Answer(Entry):
    """A function response: an answer, an acknowledgement, a yield, or a word that the call waits. ``body`` is what
    goes out."""

    def __init__(
        self,
        kind: str,
        record: Record,
        response: JSONObject | outgoing.EncodedJSON,
        scheduling: str | None = None,
        will_continue: bool | None = None,
        parts: Parts = (),
    ) -> None:
        super().__init__(kind)
        self.record, self.run, self.scheduling = record, record.run, scheduling
        self.body: dict[str, Any] = {"name": record.call.name, "response": response}
        # A call that came without an id is answered without one: Vertex refused ids until 2026-08.
        if record.named:
            self.body["id"] = record.call.id
        # A sibling of ``response``, never inside: there the model reads it.
        if scheduling is not None:
            self.body["scheduling"] = scheduling
        # False is written out: it ends a generator.
        if will_continue is not None:
            self.body["willContinue"] = will_continue
        if parts:
            self.body["parts"] = list(parts)

    def lost(self) -> bool:
        # The silent end of a generator counts as read once it was received. But yields that are still kept are in no
        # handle: the resumed model does not know them, and they follow as text.
        self.read = self.safe and not (self.kind == "answer" and self.record.kept)
        return self.read


class AnswerFrame(Frame):
    """A message of answers. What the server takes back while it waits is left out, until the bytes are made."""

    def __init__(
        self, link: int, answers: list[Answer], format: Callable[[Sequence[JSONObject]], bytes]
    ) -> None:
        # what Frame would set: every call makes one of these
        self.link, self.answers, self._format = link, answers, format
        self.data = self.receipt = self.entry = self.write = None
        self.dropped: Callable[[], None] | None = None

    def if_dropped(self, tell: Callable[[], None]) -> None:
        """Call this if nothing is left of it."""
        self.dropped = tell

    def begin(self) -> None:
        for answer in self.answers:
            answer.begin()

    def make(self) -> bytes | None:
        """The bytes; ``None``: nothing is left to say."""
        if self.data is None:
            bodies = [answer.body for answer in self.answers if answer.record.state is not _VOID]
            if bodies:
                self.data = self._format(bodies)
            elif self.dropped is not None:
                self.dropped()
        return self.data


def answer_of(record: Record) -> Answer:
    """The outcome of a call as its answer."""
    policy, outcome = record.policy, record.outcome
    assert outcome is not None
    # What was encoded once is not encoded again: a result may be a megabyte.
    response = outcome.response if outcome.encoded is None else outgoing.EncodedJSON(outcome.encoded)
    scheduling = policy.scheduling
    # A scheduling of the result itself goes first. Where the model takes none it must not be sent: 3.8 extended
    # thinking closes with 1007 for it (2026-09-19).
    if policy.takes_scheduling:
        scheduling = outcome.scheduling or scheduling
        if policy.streams and outcome.scheduling is None and not outcome.response:
            scheduling = "SILENT"  # the end of a generator says nothing of its own
    # False is said explicitly: it is what ends a generator on the wire.
    continues = False if policy.streams else outcome.will_continue if policy.takes_more else None
    return Answer("answer", record, response, scheduling, continues, outcome.parts)
