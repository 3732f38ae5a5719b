"""Groups and orders the answers to calls into messages.

``"each"``: a message a call, as soon as it is ready. ``"batch"``, and always as ``clientContent``: a message for the
calls of one ``toolCall``, in their order: it must hold one for each call but those that were taken back or lost. A call
without an id is answered without one, so those of one name go out in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from livetools.protocol.messages import outgoing
from livetools.setup.plan_fields import Plan

from .call_states import CallState, Ledger, Move, Record
from .responses import FINAL_KINDS, Answer, answer_of

# Every call passes these: asked of its class, a member of an enum costs ten times as much.
_OWED, _READY, _VOID, _WRITE = CallState.OWED, CallState.READY, CallState.VOID, Move.WRITE


class Replies:
    """The queue of messages of answers, for the open connection: what waits is lost with it, and what the server
    takes back leaves it. ``take`` empties it: the writer is responsible for what was taken.
    """

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        as_content = plan.reply_format == "client_content"
        self.grouped = as_content or plan.reply_batching == "batch"
        self.format = outgoing.content_response if as_content else outgoing.tool_response
        self._ledger = ledger
        self.queue: tuple[Answer, ...] = ()
        self.unnamed = False  # the server gives calls without an id

    def answer(self, record: Record) -> None:
        """The outcome is known: it is the answer, in a message of its own or with its group."""
        if self.grouped:
            self.release(record)
        else:
            self.queue = (*self.queue, answer_of(record))

    def release(self, record: Record) -> None:
        """Its message may have waited for nobody else: it is answered once none of its calls is open."""
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

    def put(self, answer: Answer, rest: Sequence[Answer] = ()) -> None:
        """This goes out, in one message with the ``rest``."""
        answer.rest, answer.format = rest, self.format
        self.queue = (*self.queue, answer)

    def drop(self) -> None:
        """The server took calls back: nothing that waits goes out for them."""
        messages, self.queue = self.queue, ()
        for first in messages:
            if left := [one for one in (first, *first.rest) if one.record.state is not _VOID]:
                self.put(left[0], left[1:])

    def lose(self, unread: Iterable[Answer]) -> list[Record]:
        """The connection is lost, with what waited for it: the calls whose last response did not arrive."""
        lost = [answer.record for answer in (*unread, *self.waiting()) if answer.kind in FINAL_KINDS]
        self.queue = ()
        return lost

    def waiting(self) -> list[Answer]:
        """What has not been taken yet."""
        return [answer for first in self.queue for answer in (first, *first.rest)]

    def take(self) -> Sequence[Answer]:
        """What is ready: each message by the first of its answers."""
        messages, self.queue = self.queue, ()
        # Without ids the service matches answers by name and order (older Vertex): only then the order matters.
        if self.unnamed:
            messages = self._in_order(messages)
        for first in messages:
            for answer in (first, *first.rest):
                # The other kinds leave the debt as it is: a yield or a word is no answer, and an acknowledged call is
                # DETACHED already.
                if answer.kind == "answer":
                    self._ledger.move(answer.record, _WRITE)
        return messages

    def _in_order(self, replies: Sequence[Answer]) -> tuple[Answer, ...]:
        """Those in which no answer without an id has an open call of its name before it; the others wait on."""
        # A call of the same name that was made earlier and is not ready would be taken for the one that is answered.
        ready = {record.run for reply in replies for record in _unnamed(reply)}
        before: dict[str, int] = {}  # by name: the first that is not ready, or that waits itself
        for record in self._ledger.pending:  # in the order of their runs
            if not record.named and record.run not in ready:
                before.setdefault(record.call.name, record.run)
        first: list[Answer] = []
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


def _unnamed(reply: Answer) -> list[Record]:
    """The calls without an id that this answers."""
    return [a.record for a in (reply, *reply.rest) if a.kind == "answer" and not a.record.named]
