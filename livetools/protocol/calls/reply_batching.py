"""Groups and orders the answers to calls into messages.

``"each"``: a message a call, as soon as it is ready. ``"batch"``, and always as ``clientContent``: a message for the
calls of one ``toolCall``, in their order: it must hold one for each call but those that were taken back or lost. A call
without an id is answered without one, so those of one name go out in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from livetools.protocol.messages import outgoing
from livetools.setup.plan_fields import Plan

from .call_states import CallState, Ledger, Move, Record
from .responses import FINAL_KINDS, Answer, AnswerFrame, answer_of

# Every call passes these: asked of its class, a member of an enum costs ten times as much.
_OWED, _READY, _VOID, _WRITE = CallState.OWED, CallState.READY, CallState.VOID, Move.WRITE

_NONE: list[AnswerFrame] = []  # nothing waits: most sessions have no queue of their own at most times


class Replies:
    """The queue of messages of answers, for the open connection: what waits is lost with it, and what the server
    takes back leaves it. ``take`` empties it: the writer is responsible for what was taken.
    """

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        as_content = plan.reply_format == "client_content"
        self.grouped = as_content or plan.reply_batching == "batch"
        self.format = outgoing.content_response if as_content else outgoing.tool_response
        self._ledger = ledger
        self.queue = _NONE
        self.unnamed = False  # the server gives calls without an id

    def answer(self, record: Record) -> None:
        """The outcome is known: it is the answer, in a message of its own or with its group."""
        if self.grouped:
            self.release(record)
        else:
            self.put([answer_of(record)])

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
            self.put(answers)

    def put(self, answers: list[Answer]) -> None:
        """These go out in one message."""
        frame = AnswerFrame(answers[0].record.link, answers, self.format)
        if self.queue:
            self.queue.append(frame)
        else:
            self.queue = [frame]

    def drop(self) -> None:
        """The server took calls back: nothing that waits goes out for them."""
        for reply in self.queue:
            reply.answers = [answer for answer in reply.answers if answer.record.state is not _VOID]
        self.queue = [reply for reply in self.queue if reply.answers]

    def lose(self, unread: Iterable[Answer]) -> list[Record]:
        """The connection is lost, with what waited for it: the calls whose last response did not arrive."""
        lost = [answer.record for answer in (*unread, *self.waiting()) if answer.kind in FINAL_KINDS]
        self.queue = _NONE
        return lost

    def waiting(self) -> list[Answer]:
        """What has not been taken yet."""
        return [answer for reply in self.queue for answer in reply.answers]

    def take(self) -> list[AnswerFrame]:
        """What is ready."""
        replies, self.queue = self.queue, _NONE
        # Without ids the service matches answers by name and order (older Vertex): only then the order matters.
        if self.unnamed:
            replies = self._in_order(replies)
        for reply in replies:
            for answer in reply.answers:
                # The other kinds leave the debt as it is: a yield or a word is no answer, and an acknowledged call is
                # DETACHED already.
                if answer.kind == "answer":
                    self._ledger.move(answer.record, _WRITE)
        return replies

    def _in_order(self, replies: list[AnswerFrame]) -> list[AnswerFrame]:
        """Those in which no answer without an id has an open call of its name before it; the others wait on."""
        # A call of the same name that was made earlier and is not ready would be taken for the one that is answered.
        ready = {record.run for reply in replies for record in _unnamed(reply)}
        before: dict[str, int] = {}  # by name: the first that is not ready, or that waits itself
        for record in self._ledger.pending:  # in the order of their runs
            if not record.named and record.run not in ready:
                before.setdefault(record.call.name, record.run)
        first: list[AnswerFrame] = []
        for reply in sorted(replies, key=lambda reply: min((r.run for r in _unnamed(reply)), default=0)):
            waits = any(before.get(r.call.name, inf) < r.run for r in _unnamed(reply))
            if not waits:
                first.append(reply)
                continue
            self.queue = [*self.queue, reply]
            # What waits holds up those behind it, too.
            for record in _unnamed(reply):
                before.setdefault(record.call.name, record.run)
        return first


def _unnamed(reply: AnswerFrame) -> list[Record]:
    """The calls without an id that this answers."""
    return [a.record for a in reply.answers if a.kind == "answer" and not a.record.named]
