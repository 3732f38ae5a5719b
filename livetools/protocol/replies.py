"""What goes out for calls, in which message and in which order.

``"each"``: a message a call, as soon as it is ready. ``"batch"``, and always as ``clientContent``: a message for the
calls of one ``toolCall``, in their order, without those that were taken back or lost; the count of parts must equal
the count of calls there. A call without an id is answered without one, so those of one name go out in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import outgoing
from .delivery import Posted, handed
from .ledger import Effect, Group, Move, Record, State
from .terms import CallPolicy, Plan


@dataclass(frozen=True, slots=True)
class Interim:
    """A response that is not the last word: a yield, the word that a call waits, an acknowledgement."""

    record: Record
    link: int
    answer: Mapping[str, Any]
    states: frozenset[State]  # it goes out only while the call is in one of these
    scheduling: str | None = None
    response: Mapping[str, Any] | None = None  # of a yield: a part of the result


@dataclass(frozen=True, slots=True)
class Answered:
    """What went out for a call, for the turn logic: whether a spoken turn is due for it, and whether more follows."""

    record: Record
    scheduling: str | None
    last: bool = True


Answers: TypeAlias = list[tuple[Record, dict[str, Any]]]


class Reply:
    """A message of answers. It is made when it is written: one that was taken back while it waited is left out."""

    __slots__ = ("_answers", "_format", "dropped", "made")

    def __init__(self, answers: Answers, format: Callable[[Sequence[Mapping[str, Any]]], bytes]) -> None:
        self._answers, self._format = answers, format
        self.made = False
        self.dropped: Callable[[], None] | None = None  # called if nothing is left of it

    def make(self) -> bytes | None:
        """The frame; ``None``: nothing is left to say."""
        self.made = True
        if self._answers:
            return self._format([answer for _, answer in self._answers])
        if self.dropped is not None:
            self.dropped()
        return None

    def retract(self, record: Record) -> None:
        """Leave this one out, if it is not too late."""
        if not self.made:
            self._answers = [(r, answer) for r, answer in self._answers if r is not record]


class Replies:
    """The queue of answers. ``frames`` empties it: what is taken counts as handed to the socket."""

    def __init__(
        self, plan: Plan, pending: Mapping[int, Record], move: Callable[[Record, Move], tuple[Effect, ...]]
    ) -> None:
        self.grouped = plan.reply_format == "client_content" or plan.reply_batching == "batch"
        self.format = (
            outgoing.content_response if plan.reply_format == "client_content" else outgoing.tool_response
        )
        self.sent: list[tuple[Record, Posted]] = []  # written, and not known to have been read
        self.acknowledged: list[tuple[Record, Posted]] = []  # background calls, likewise
        self.parts: list[tuple[Interim, Posted]] = []  # yields, likewise
        self.answered: list[Answered] = []
        self._pending = pending  # calls that the server waits for, by run
        self._move = move
        self._queue: deque[Record | Group | Interim] = deque()
        self._posted = self._silent = handed()  # of the frames that are being made
        self._waiting: list[Reply] = []  # taken; the writer may not have come to them

    def __bool__(self) -> bool:
        return bool(self._queue)

    def reply(self, record: Record) -> None:
        """The answer of this call is ready."""
        if not self.grouped or record.group is None:
            self._queue.append(record)
        else:
            self.release(record)

    def release(self, record: Record) -> None:
        """Its group may have waited for nobody else."""
        group = record.group
        if self.grouped and group is not None and not group.queued and group.complete():
            group.queued = True
            self._queue.append(group)

    def interim(
        self, record: Record, response: Mapping[str, Any], scheduling: str | None, *, part: bool = False
    ) -> None:
        """A response that continues, ahead of the last one; ``part``: of the result, and not just a word on it."""
        answer = self._answer(record, response, scheduling=scheduling, will_continue=True)
        states = frozenset({State.OWED, State.READY})
        self._queue.append(
            Interim(record, record.link, answer, states, scheduling, response if part else None)
        )

    def acknowledge(self, record: Record, key: str) -> None:
        """A background call is answered at once: it is under way."""
        answer = self._answer(record, {key: outgoing.under_way(record.call.name)})
        states = frozenset({State.DETACHED, State.DONE})
        self._queue.append(Interim(record, record.link, answer, states))

    def retract(self, record: Record) -> None:
        """The server took the call back: nothing more is sent for it."""
        kept = [e for e in self._queue if not (isinstance(e, Interim) and e.record is record)]
        self._queue = deque(kept)
        for reply in self._waiting:
            reply.retract(record)
        self.acknowledged = [(r, posted) for r, posted in self.acknowledged if r is not record]

    def late(self, record: Record, key: str) -> str:
        """The result of a call that can no longer go out as an answer, in words; empty: there is none."""
        outcome, call = record.outcome, record.call
        assert outcome is not None
        response = outcome.response
        if not response:
            if record.yielded and not record.kept:
                return ""  # the end of a generator whose yields have all been read
            response = {key: record.kept}
        return outgoing.late_result(call.name, call.args, response, record.background)

    def errors(self, texts: Iterable[tuple[Record, str]]) -> bytes:
        """An error for each of these calls, in one message."""
        return outgoing.tool_response([self._answer(r, outgoing.failure(text)) for r, text in texts])

    def unacknowledged(self) -> list[Record]:
        """Background calls whose acknowledgement has not gone out, or may not have arrived."""
        waiting = [e.record for e in self._queue if isinstance(e, Interim) and State.DETACHED in e.states]
        return [r for r, _ in self.acknowledged] + waiting

    def heard(self, counted: float, ended: float) -> None:
        """The model speaks, after so many turn ends (see :meth:`.delivery.Posted.heard`)."""
        if self.sent:
            for record, posted in self.sent:
                if posted.heard(counted, ended):
                    self._move(record, Move.HEARD)
            self.sent = [(r, posted) for r, posted in self.sent if r.state is State.SENT]
        if self.acknowledged:
            self.acknowledged = [(r, p) for r, p in self.acknowledged if not p.heard(counted, ended)]
        if self.parts:
            self.parts = [(part, p) for part, p in self.parts if not p.heard(counted, ended)]

    def tracks(self, posted: Posted) -> bool:
        """Whether something went out with it that a dead socket must not swallow."""
        return any(kept and kept[-1][1] is posted for kept in (self.sent, self.acknowledged, self.parts))

    @property
    def asked(self) -> bool:
        """Whether the pong behind an answer is awaited."""
        return any(posted.asked for _, posted in (*self.sent, *self.acknowledged))

    def over(self, counted: float) -> list[Record]:
        """Nothing more is said on this link, after so many turn ends: the answers that it may have swallowed.

        Yields that it may have swallowed, or that it did not come to, are kept for the text that will be owed.
        """
        for record, posted in self.sent:
            if posted.over(counted):
                self._move(record, Move.HEARD)
        self.acknowledged = [(r, posted) for r, posted in self.acknowledged if not posted.over(counted)]
        swallowed = [part for part, posted in self.parts if not posted.over(counted)]
        for part in (*swallowed, *(entry for entry in self._queue if isinstance(entry, Interim))):
            if part.response is not None:
                part.record.kept.append(part.response)
        return [r for r, _ in self.sent if r.state is State.SENT]

    def clear(self) -> None:
        """The link is gone, and what waited for it with it."""
        self._queue.clear()
        self.sent.clear()
        self.acknowledged = []
        self.parts = []
        self._waiting = []

    def frames(self, link: int, posted: Posted | None = None, silent: Posted | None = None) -> list[Reply]:
        """What is ready for this link. ``posted`` and ``silent`` will know whether it was read.

        ``silent`` is for what the model need not speak of: SILENT answers, and yields.
        """
        self._posted, self._silent = posted or handed(), silent or handed()
        unnamed: list[Record] = []
        replies: list[Answers] = []
        while self._queue:
            entry = self._queue.popleft()
            if isinstance(entry, Record):
                if entry.link != link or entry.state is not State.READY:
                    continue
                if entry.named:
                    replies.append([self._write(entry)])
                else:
                    unnamed.append(entry)
            elif isinstance(entry, Group):
                ready = [m for m in entry.members if m.link == link and m.state is State.READY]
                if ready:
                    replies.append([self._write(m) for m in ready])
            elif entry.link == link and entry.record.state in entry.states:
                acknowledges = State.DETACHED in entry.states
                self.answered.append(Answered(entry.record, entry.scheduling, last=acknowledges))
                if acknowledges:
                    self.acknowledged.append((entry.record, self._posted))
                elif entry.response is not None:
                    self.parts.append((entry, self._silent))
                    entry.record.yielded = True
                replies.append([(entry.record, dict(entry.answer))])
        if unnamed:
            replies += self._in_order(unnamed)
        new = [Reply(answers, self.format) for answers in replies]
        self._waiting = [reply for reply in self._waiting if not reply.made] + new
        return new

    def _in_order(self, ready: list[Record]) -> list[Answers]:
        """Answers without an id: those that no open call of the same name precedes; the others wait on."""
        replies: list[Answers] = []
        open_calls: dict[str, int] = {}  # the first of each name
        for name in {record.call.name for record in ready}:
            for r in self._pending.values():  # in the order of their runs
                if not r.named and r.state is State.OWED and r.call.name == name:
                    open_calls[name] = r.run
                    break
        for record in sorted(ready, key=lambda r: r.run):
            if record.run < open_calls.get(record.call.name, record.run + 1):
                replies.append([self._write(record)])
            else:
                self._queue.append(record)
        return replies

    def _write(self, record: Record) -> tuple[Record, dict[str, Any]]:
        policy, outcome = record.policy, record.outcome
        assert outcome is not None
        scheduling = policy.scheduling if policy is not None else None
        if policy is not None and policy.takes_scheduling:
            scheduling = outcome.scheduling or scheduling
            if policy.streams and outcome.scheduling is None and not outcome.response:
                scheduling = "SILENT"  # the end of a generator says nothing of its own
        continues = False if policy is not None and policy.streams else None
        self._move(record, Move.WRITE)
        self.sent.append((record, self._silent if scheduling == "SILENT" else self._posted))
        self.answered.append(Answered(record, scheduling))
        return record, self._answer(
            record, outcome.response, scheduling=scheduling, will_continue=continues, parts=outcome.parts
        )

    @staticmethod
    def _answer(
        record: Record,
        response: Mapping[str, Any],
        *,
        scheduling: str | None = None,
        will_continue: bool | None = None,
        parts: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        return outgoing.function_response(
            record.call.id if record.named else None,
            record.call.name,
            response,
            scheduling=scheduling,
            will_continue=will_continue,
            parts=parts,
        )


def silent(policy: CallPolicy) -> str | None:
    """SILENT where the model takes a scheduling."""
    return "SILENT" if policy.takes_scheduling else None
