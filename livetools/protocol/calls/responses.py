"""Makes the answer to a call: its function response, with its scheduling and media, and the message that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from livetools.protocol.input.resend import Frame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.outgoing import JSONObject

from .call_states import CallState, Record

_VOID = (
    CallState.VOID
)  # every call passes it: asked of its class, a member of an enum costs ten times as much

#: Responses after which the server waits for nothing more.
FINAL_KINDS = frozenset({"answer", "acknowledgement"})

Parts: TypeAlias = Sequence[JSONObject]  # media beside a response


class Answer(Frame, kw_only=True, eq=False):
    """A function response: an answer, an acknowledgement, a yield, or a word that the call waits.

    ``body`` is what goes out, in one message with the ``rest`` behind it. What the server takes back while it
    waits is left out, until the bytes are made.
    """

    record: Record
    body: JSONObject
    scheduling: str | None = None
    rest: Sequence[Answer] = ()
    format: Callable[[Sequence[JSONObject]], bytes] = outgoing.tool_response

    def make(self) -> bytes | None:
        """The bytes; ``None``: nothing is left to say."""
        if not self.data:
            bodies = [one.body for one in (self, *self.rest) if one.record.state is not _VOID]
            if bodies:
                self.data = self.format(bodies)
        return self.data or None

    @property
    def safe(self) -> bool:
        # The silent end of a generator counts as read once it was received. But yields that are still kept are in no
        # handle: the resumed model does not know them, and they follow as text.
        return super().safe and not (self.kind == "answer" and self.record.kept)


def response_to(
    kind: str,
    record: Record,
    response: JSONObject | outgoing.EncodedJSON,
    scheduling: str | None = None,
    will_continue: bool | None = None,
    parts: Parts = (),
) -> Answer:
    """A response to this call."""
    body: dict[str, Any] = {"name": record.call.name, "response": response}
    # A call that came without an id is answered without one: Vertex refused ids until 2026-08.
    if record.named:
        body["id"] = record.call.id
    # A sibling of ``response``, never inside: there the model reads it.
    if scheduling is not None:
        body["scheduling"] = scheduling
    # False is written out: it ends a generator.
    if will_continue is not None:
        body["willContinue"] = will_continue
    if parts:
        body["parts"] = list(parts)
    return Answer(kind, link=record.link, run=record.run, record=record, body=body, scheduling=scheduling)


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
    return response_to("answer", record, response, scheduling, continues, outcome.parts)
