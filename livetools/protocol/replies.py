"""Groups and orders the answers to calls into messages.

``"each"``: a message a call, as soon as it is ready. ``"batch"``, and always as ``clientContent``: a message for the
calls of one ``toolCall``, in their order: it must hold one for each call but those that were taken back or lost. A call
without an id is answered without one, so those of one name go out in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import outgoing
from .ledger import Ledger, Move, Record, State
from .outbox import Entry, Frame
from .plan_types import CallPolicy, Plan

_READY, _WRITE = State.READY, Move.WRITE  # asked of its class, a member of an enum costs ten times as much
_WAITED_FOR = frozenset({State.OWED, State.READY})
#: What is not the answer itself goes out only while its call is in one of these states.
INTERIM: Mapping[str, frozenset[State]] = {
    "yield": _WAITED_FOR,
    "word": _WAITED_FOR,
    "acknowledgement": frozenset({State.DETACHED, State.DONE}),
}


#: Responses after which the server waits for nothing more.
LAST = frozenset({"answer", "acknowledgement"})


class Answer(Entry):
    """A function response: an answer, an acknowledgement, a yield, or a word that the call waits.

    ``body`` goes on the wire; ``response`` is what a yield adds to the result.
    """

    def __init__(
        self,
        kind: str,
        record: Record,
        body: dict[str, Any],
        scheduling: str | None = None,
        response: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind, self.record, self.body = kind, record, body
        self.scheduling, self.response = scheduling, response

    @property
    def run(self) -> int | None:
        return self.record.run

    @property
    def last(self) -> bool:
        """Whether the server waits for nothing more."""
        return self.kind in LAST


class Reply(Frame):
    """A message of answers. It is made when it is written: what the server took back while it waited is left out."""

    __slots__ = ("_format", "answers", "dropped")

    def __init__(
        self, link: int, answers: list[Answer], format: Callable[[Sequence[Mapping[str, Any]]], bytes]
    ) -> None:
        # what Frame would set: every call makes one of these
        self.link, self.data, self.receipt, self.write = link, None, None, None
        self.answers, self._format = answers, format
        self.dropped: Callable[[], None] | None = None  # called if nothing is left of it

    def make(self) -> bytes | None:
        """The bytes; ``None``: nothing is left to say."""
        if self.data is None:
            bodies = self.bodies()
            if bodies:
                self.data = self._format(bodies)
            elif self.dropped is not None:
                self.dropped()
        return self.data

    def bodies(self) -> list[Mapping[str, Any]]:
        """What is left to say, for a transport that encodes it itself."""
        return [a.body for a in self.answers if a.record.taken_back != a.record.link]


def _taken_back(record: Record) -> bool:
    """Whether the server has cancelled this call, on the link that it stands on: nothing more is sent for it."""
    return record.taken_back == record.link


class Replies:
    """The queue of answers. ``frames`` empties it: the writer is responsible for what was taken."""

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self.grouped = plan.reply_format == "client_content" or plan.reply_batching == "batch"
        self.format = (
            outgoing.content_response if plan.reply_format == "client_content" else outgoing.tool_response
        )
        self._ledger = ledger
        self.queue: list[Record | list[Record] | Answer] = []
        self._groups: dict[
            int, list[Record]
        ] = {}  # calls of one message that are answered together, by its number
        self._messages = 0

    def __bool__(self) -> bool:
        return bool(self.queue)

    def expect(self, members: list[Record]) -> None:
        """These were asked for in one message, and are answered together."""
        self._messages += 1
        self._groups[self._messages] = members
        for record in members:
            record.group = self._messages

    def release(self, record: Record) -> None:
        """Its message may have waited for nobody else: it is answered once none of its calls is open."""
        members = self._groups.get(record.group)
        if members is None:
            return
        states = [member.state for member in members if member.group == record.group]
        if State.OWED not in states:
            del self._groups[record.group]
            if State.READY in states:
                self.queue.append(members)

    def interim(
        self, record: Record, response: Mapping[str, Any], scheduling: str | None, *, part: bool = False
    ) -> None:
        """A response that is followed by others; ``part``: of the result, and not just a word on it."""
        body = _body(record, response, scheduling=scheduling, will_continue=True)
        kind = "yield" if part else "word"
        self.queue.append(Answer(kind, record, body, scheduling, response if part else None))

    def acknowledge(self, record: Record, key: str) -> None:
        """A background call is answered at once: it is under way."""
        body = _body(record, {key: outgoing.under_way(record.call.name)})
        self.queue.append(Answer("acknowledgement", record, body))

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
        return outgoing.tool_response([_body(r, outgoing.failure(text)) for r, text in texts])

    def lose(self, unread: Iterable[Answer]) -> tuple[list[Record], list[Record]]:
        """The connection is lost, with what waited for it: the calls whose answers it may have swallowed,
        and the background calls whose acknowledgement did not arrive.

        Yields that did not arrive are kept for the text that will be owed.
        """
        answered: list[Record] = []
        unacknowledged: list[Record] = []
        for answer in (*unread, *(entry for entry in self.queue if isinstance(entry, Answer))):
            if _taken_back(answer.record):
                continue
            if answer.kind == "acknowledgement":
                unacknowledged.append(answer.record)
            elif answer.response is not None:
                answer.record.keep(answer.response)
            elif answer.kind == "answer" and answer.record.state is State.SENT:
                answered.append(answer.record)
        self.clear()
        return answered, unacknowledged

    def clear(self) -> None:
        """Nothing that waits goes out any more."""
        self.queue.clear()
        self._groups.clear()

    def frames(self, link: int) -> list[Reply]:
        """What is ready for this link."""
        unnamed: list[Record] = []
        replies: list[Reply] = []
        waiting, self.queue = self.queue, []
        for entry in waiting:
            if type(entry) is Record:
                if entry.link != link or entry.state is not _READY:
                    continue
                if entry.named:
                    replies.append(Reply(link, [self._write(entry)], self.format))
                else:
                    unnamed.append(entry)
            elif isinstance(entry, list):
                ready = [m for m in entry if m.link == link and m.state is State.READY]
                if ready:
                    replies.append(Reply(link, [self._write(m) for m in ready], self.format))
            elif isinstance(entry, Answer) and _may_go(entry, link):
                entry.record.yielded = entry.record.yielded or entry.kind == "yield"
                replies.append(Reply(link, [entry], self.format))
        if unnamed:
            replies += [Reply(link, [self._write(record)], self.format) for record in self._in_order(unnamed)]
        return replies

    def _in_order(self, ready: list[Record]) -> list[Record]:
        """Answers without an id: those that no open call of the same name precedes; the others wait on."""
        first: list[Record] = []
        open_calls: dict[str, int] = {}  # the first of each name
        for name in {record.call.name for record in ready}:
            for r in self._ledger.pending.values():  # in the order of their runs
                if not r.named and r.state is State.OWED and r.call.name == name:
                    open_calls[name] = r.run
                    break
        for record in sorted(ready, key=lambda r: r.run):
            if record.run < open_calls.get(record.call.name, record.run + 1):
                first.append(record)
            else:
                self.queue.append(record)
        return first

    def _write(self, record: Record) -> Answer:
        policy, outcome = record.policy, record.outcome
        assert outcome is not None
        scheduling = policy.scheduling if policy is not None else None
        if policy is not None and policy.takes_scheduling:
            scheduling = outcome.scheduling or scheduling
            if policy.streams and outcome.scheduling is None and not outcome.response:
                scheduling = "SILENT"  # the end of a generator says nothing of its own
        continues = False if policy is not None and policy.streams else None
        self._ledger.move(record, _WRITE)
        body = outgoing.function_response(
            record.call.id if record.named else None,
            record.call.name,
            outcome.response,
            scheduling=scheduling,
            will_continue=continues,
            parts=outcome.parts,
        )
        return Answer("answer", record, body, scheduling)


def _may_go(answer: Answer, link: int) -> bool:
    """Whether what is not the answer itself still goes out, on this link."""
    record = answer.record
    return record.link == link and record.state in INTERIM[answer.kind] and not _taken_back(record)


def _body(
    record: Record,
    response: Mapping[str, Any],
    *,
    scheduling: str | None = None,
    will_continue: bool | None = None,
) -> dict[str, Any]:
    return outgoing.function_response(
        record.call.id if record.named else None,
        record.call.name,
        response,
        scheduling=scheduling,
        will_continue=will_continue,
    )


def silent(policy: CallPolicy) -> str | None:
    """SILENT where the model takes a scheduling."""
    return "SILENT" if policy.takes_scheduling else None
