"""Makes the responses to calls, and groups and orders them into messages.

``"each"``: a message a call, as soon as it is ready. ``"batch"``, and always as ``clientContent``: a message for the
calls of one ``toolCall``, in their order: it must hold one for each call but those that were taken back or lost. A call
without an id is answered without one, so those of one name go out in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any

from livetools.protocol.input.resend import OutFrame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.outgoing import JSONObject
from livetools.setup.plan_fields import Plan

from .call_states import CallState, Ledger, Record
from .driver_actions import Outcome

# Every call passes these: asked of its class, a member of an enum costs ten times as much.
_OWED, _READY, _VOID = CallState.OWED, CallState.READY, CallState.VOID

#: Responses after which the server waits for nothing more.
FINAL_KINDS = frozenset({"answer", "acknowledgement"})


class Response(OutFrame, kw_only=True, eq=False):
    """A function response: an answer, an acknowledgement, a yield, or a word that the call waits.

    ``body`` is what goes out, in one message with the ``rest`` behind it. What the server takes back while it
    waits is left out, until the bytes are made.
    """

    record: Record
    body: JSONObject
    scheduling: str | None = None
    rest: Sequence[Response] = ()
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
    kind: str, record: Record, outcome: Outcome, scheduling: str | None = None, continues: bool | None = None
) -> Response:
    """A response to this call."""
    body: dict[str, Any] = {"name": record.call.name}
    # What was encoded once is not encoded again: a result may be a megabyte.
    body["response"] = outcome.response if outcome.encoded is None else outgoing.EncodedJSON(outcome.encoded)
    # A call that came without an id is answered without one: Vertex refused ids until 2026-08.
    if record.named:
        body["id"] = record.call.id
    # A sibling of ``response``, never inside: there the model reads it.
    if scheduling is not None:
        body["scheduling"] = scheduling
    # False is written out: it ends a generator.
    if continues is not None:
        body["willContinue"] = continues
    if outcome.parts:
        body["parts"] = list(outcome.parts)
    return Response(kind, link=record.link, run=record.run, record=record, body=body, scheduling=scheduling)


def answer_of(record: Record) -> Response:
    """The outcome of a call as its answer."""
    policy, outcome = record.policy, record.outcome
    assert outcome is not None
    scheduling = policy.scheduling
    # A scheduling of the result itself goes first. Where the model takes none it must not be sent: 3.8 extended
    # thinking closes with 1007 for it (2026-09-19).
    if policy.takes_scheduling:
        scheduling = outcome.scheduling or scheduling
        if policy.streams and outcome.scheduling is None and not outcome.response:
            scheduling = "SILENT"  # the end of a generator says nothing of its own
    continues = outcome.will_continue if policy.takes_more else None
    if policy.streams:
        continues = False  # written out: it is what ends a generator on the wire
    return response_to("answer", record, outcome, scheduling, continues)


class Replies:
    """The queue of messages of answers, for the open connection: what waits is lost with it, and what the server
    takes back leaves it. ``take`` empties it: the writer is responsible for what was taken.
    """

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        as_content = plan.reply_format == "client_content"
        self.grouped = as_content or plan.reply_batching == "batch"
        self.format = outgoing.content_response if as_content else outgoing.tool_response
        self._ledger = ledger
        self.queue: tuple[Response, ...] = ()
        self.unnamed = False  # the server gives calls without an id

    def answer(self, record: Record) -> None:
        """The outcome is known: it is the answer, in a message of its own or with its group."""
        if self.grouped:
            self.release(record)
        else:
            self.queue = (*self.queue, answer_of(record))

    def release(self, record: Record) -> None:
        """Its group does not wait for this call any more: queue the group's message, unless another of its calls is
        still open."""
        members = record.group
        # A member that is DETACHED (acknowledged in the background) or VOID holds nobody up: only OWED waits for an
        # outcome.
        if any(member.state is _OWED for member in members):
            return
        for member in members:
            # The message is made once, and the group would keep all its records alive.
            member.group = ()
        if answers := [answer_of(member) for member in members if member.state is _READY]:
            self.put(answers[0], answers[1:])

    def put(self, answer: Response, rest: Sequence[Response] = ()) -> None:
        """This goes out, in one message with the ``rest``."""
        answer.rest, answer.format = rest, self.format
        self.queue = (*self.queue, answer)

    def drop(self) -> None:
        """The server took calls back: nothing that waits goes out for them."""
        messages, self.queue = self.queue, ()
        for first in messages:
            if left := [one for one in (first, *first.rest) if one.record.state is not _VOID]:
                self.put(left[0], left[1:])

    def lose(self, unread: Iterable[Response]) -> list[Record]:
        """The connection is lost, with what waited for it: the calls whose last response did not arrive."""
        lost = [answer.record for answer in (*unread, *self.waiting()) if answer.kind in FINAL_KINDS]
        self.queue = ()
        return lost

    def waiting(self) -> list[Response]:
        """What has not been taken yet."""
        return [answer for first in self.queue for answer in (first, *first.rest)]

    def take(self) -> Sequence[Response]:
        """What is ready: each message by the first of its answers."""
        messages, self.queue = self.queue, ()
        # Without ids the service matches answers by name and order (older Vertex): only then the order matters.
        if self.unnamed:
            messages = self._in_order(messages)
        return messages

    def _in_order(self, replies: Sequence[Response]) -> tuple[Response, ...]:
        """Those in which no answer without an id has an open call of its name before it; the others wait on."""
        # A call of the same name that was made earlier and is not ready would be taken for the one that is answered.
        ready = {record.run for reply in replies for record in _unnamed(reply)}
        before: dict[str, int] = {}  # by name: the first that is not ready, or that waits itself
        for record in self._ledger.pending:  # in the order of their runs
            if not record.named and record.run not in ready:
                before.setdefault(record.call.name, record.run)
        first: list[Response] = []
        for reply in sorted(replies, key=lambda reply: min((r.run for r in _unnamed(reply)), default=0)):
            waits = any(before.get(r.call.name, inf) < r.run for r in _unnamed(reply))
            if not waits:
                first.append(reply)
                continue
            self.queue = (*self.queue, reply)
            # What waits holds up those behind it, too.
            for record in _unnamed(reply):
                before.setdefault(record.call.name, record.run)
        return tuple(first)


def _unnamed(reply: Response) -> list[Record]:
    """The calls without an id that this answers."""
    return [a.record for a in (reply, *reply.rest) if a.kind == "answer" and not a.record.named]
