"""The dispatcher of function calls: takes the calls of a message, and queues the answers.

It needs no session: the machine feeds it inside a session, ``attach`` feeds it beside somebody else's. Nothing here
waits; the shell runs handlers (``RunTool``), and reports (``settled``).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any

import livetools.events as events
from livetools.events import Call, Event
from livetools.protocol.input.resend import OutFrame
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.incoming import PlainCall
from livetools.protocol.messages.partial_calls import PartialCalls
from livetools.setup.plan_fields import Plan

from . import call_limits, duplicates, wording
from .call_states import OWING, SERVED, AnsweredCall, CallState, Effect, Ledger, Move, Phase, Record
from .concurrency import Concurrency
from .driver_actions import Action, AskApproval, EndSession, Outcome, RunTool, StopAsking, StopTool, Undo
from .responses import Replies, Response, response_to

# Every call passes these: asked of its class, a member of an enum costs ten times as much.
_HANDLER, _NOTHING, _APPROVAL = Phase.HANDLER, Phase.NOTHING, Phase.APPROVAL
_SETTLE, _HEARD = Move.SETTLE, Move.HEARD

#: Finished calls that are remembered, in case their id is asked again on a later link.
REMEMBERED = 512


class Calls:
    """All calls of a session. ``tell`` takes events (``None``: nobody does) and ``act`` actions as they come; texts and
    replies are drained."""

    def __init__(
        self, plan: Plan, tell: Callable[[Event], None] | None, act: Callable[[Action], None]
    ) -> None:
        self.plan, self._tell, self._act = plan, tell or _untold, act
        self._is_told = tell is not None  # without a listener the events of a call are not even made
        self.ledger = Ledger()
        self.records = self.ledger.records
        # Those of this session to which the server gave an id.
        self.by_id: dict[str | None, Record | AnsweredCall] = {}
        self.replies = Replies(plan, self.ledger)
        self.texts: tuple[Record, ...] = ()  # whose results can no longer go out as answers
        # Calls that a lost link took with it: a resumed session is answered with errors for them, and again if its link
        # is lost too, until a handle holds those.
        self.lost: tuple[Record, ...] = ()
        self.partial = PartialCalls()
        self.counted = 0
        # What ends the session once all is said: a tool wants it, or the model has called on past ``max_calls``.
        self.end: EndSession | None = None
        self.slots = Concurrency(plan.max_concurrency)
        self._leaders: duplicates.Leaders = {}
        # Not later than the first deadline of a call that is served. It may be that of a call which is answered by now:
        # then tick finds nothing to do, and looks for the next.
        self.due = inf
        self._newest_due = inf  # the same of the calls that began to wait since all were looked at
        # The deadlines of the others, and their runs; the first is the last.
        self._coming: list[tuple[float, int]] = []

    # Inputs

    def receive_calls(self, link: int, asked: Iterable[PlainCall], now: float) -> list[Record]:
        """The calls of one message. Returns those that are new, or asked again on a new link."""
        records: list[Record] = []  # in the order of the message
        again: dict[int, tuple[Effect, ...]] = {}  # by run: what follows for those that are asked again
        for one in asked:
            # By id alone: the same call may come in toolCall and among the parts of modelTurn (mastra#22969, 2026-09),
            # and the service repeats calls that are not answered yet (pipecat#4118, 2026-03). A call without an id is
            # always a new one.
            known = self.by_id.get(one.id)
            if known is None:
                record = self._enter(link, one, now)
            elif known.link != link:  # a resumed session asks again
                record = self._asked_again(link, one, known)
                again[record.run] = self.ledger.move(record, Move.REOFFER)
            else:
                continue  # a duplicate
            records.append(record)
        # Answered together. Before any call is begun: a refusal settles at once, and looks for its group, and at the
        # states of all its members.
        if self.replies.grouped:
            for record in records:
                record.group = records
        for record in records:
            if record.run in again:
                self._reoffer(record, again[record.run], now)
                continue
            # ToolStarted is emitted before the call is judged: ToolFinished of a refused call must follow it.
            if self._is_told:
                self._tell(events.ToolStarted(record.call))
            self._begin(record, now)
        return records

    def adopt(self, call: Call, now: float) -> None:
        """A call that an earlier process of this conversation was asked: it is lost, and its handler continues here."""
        policy = self.plan.policies.get(call.name, self.plan.undeclared)
        if not policy.handled or call.id in self.by_id:
            return
        # No connection has the number 0: the debt is lost from the beginning, and the result can only be a text.
        record = self._enter(0, call, now)
        self._tell(events.ToolStarted(call))
        self._move(record, Move.LOSE, now)
        if self.plan.answers_lost:
            self.lost = (*self.lost, record)
        self._admit(record, now)

    def progress(self, run: int, value: object, now: float, yielded: Outcome | None = None) -> None:
        """A tool reported ``value``; ``yielded`` where it is a part of its result and not just a report."""
        record = self.records.get(run)
        if record is None or record.state not in SERVED:
            return
        self._tell(events.ToolProgress(record.call, value))
        # Where a yield is no response of its own, the shell gathers all of them into the last one.
        policy = record.policy
        if yielded is None or not policy.streams:
            return
        # A part of the result is kept as well: if the connection is lost, it goes with the text. Of a call that is
        # DETACHED nothing goes out before the end: one text for the whole result.
        record.kept = record.kept or []
        record.kept.append(yielded.response)
        if record.state is CallState.OWED:
            scheduling = (yielded.scheduling if policy.takes_scheduling else None) or policy.scheduling
            part = wording.without_unread(yielded, self.plan.media)
            part = Outcome(part.response, parts=part.parts)  # not as JSON: it may go with a late text
            self.replies.put(response_to("yield", record, part, scheduling, True))

    def settled(self, run: int, outcome: Outcome, now: float) -> None:
        """The handler ended (or ``session.respond`` spoke for it). Its slot is free, in whatever state its call is."""
        if outcome.ends_session:
            self.end = self.end or EndSession(None)
        record = self.records.get(run)
        if record is None:
            return
        if record.running:
            record.running = False
            self.slots.end(record)
        # It may never have begun (arguments that do not fit, a hook's refusal, no free thread): there is nothing to
        # undo.
        if not outcome.began:
            record.started = False
        # The call was cancelled or closed while it ran. Now the result is known, which undo gets.
        if record.undo:
            self._undo(record, outcome.result)
        self._settle(record, outcome, now)
        # Last: an answer that is ready is queued before the next handler starts.
        if self.slots.waiting:
            self._fill(now)

    def decided(self, run: int, call: Call) -> None:
        """A hook has replaced the arguments of a call that has not run: with these it is shown, run and undone."""
        if (record := self.records.get(run)) is not None:
            record.call = call

    def judge(self, run: int, verdict: bool | str | None, now: float) -> bool:
        """The word on a call that waits for approval: it may run, a person must decide (``True``), or it is refused
        with this text. False if it does not wait (any more)."""
        record = self.records.get(run)
        if record is None or record.phase is not _APPROVAL or record.state not in SERVED:
            return False
        if isinstance(verdict, str):
            self._settle(record, wording.not_approved(verdict), now)
        elif not verdict:
            self._act(StopAsking(record.run, record.call, over=False))
            self._admit(record, now)
        else:
            self._tell(events.ApprovalRequested(record.call))
            # An interim response says so where the model takes one; a background call was answered already.
            if record.policy.takes_more and record.state is CallState.OWED:
                waits = Outcome({self.plan.response_key: wording.AWAITS_APPROVAL})
                scheduling = "SILENT" if record.policy.takes_scheduling else None
                self.replies.put(response_to("word", record, waits, scheduling, True))
        return True

    def cancel(self, ids: Sequence[str], now: float) -> list[int]:
        """``toolCallCancellation``: unknown and finished ids do no harm. The runs of those that are known."""
        # A call that comes in pieces may be taken back before it is whole.
        self.partial.cancel(ids)
        known = [call for call in map(self.by_id.get, ids) if call is not None]
        for record in known:
            if isinstance(record, Record):  # else it was answered, and that has been read
                # The server waits for it no longer: no error is needed for it on the next connection.
                self.lost = tuple(r for r in self.lost if r is not record)
                self._move(record, Move.CANCEL, now)
        # Behind the moves, which make those calls VOID: nothing is sent for a call after its cancellation.
        self.replies.drop()
        self._fill(now)
        return [call.run for call in known]

    def read(self, entries: Iterable[OutFrame]) -> None:
        """The model has read these: what is an answer among them is paid."""
        for entry in entries:
            if type(entry) is Response and entry.kind == "answer":
                record, id = entry.record, entry.record.call.id
                self.ledger.move(record, _HEARD)
                # The id may mean another call by now: a new session has begun since.
                if self.by_id.get(id) is record:
                    self.by_id[id] = record.packed()

    def handed(self, sent: Iterable[OutFrame], unseen: Iterable[OutFrame], errors_read: bool = False) -> None:
        """A handle came. Its state holds what was ``sent``, except ``unseen``; the yields among that are known to a
        resumed model, and are left out of late texts.

        ``errors_read``: the state holds the errors for lost calls too, so they are not needed again.
        """
        if errors_read:
            self.lost = ()
        parts: dict[int, list[Mapping[str, Any]]] = {}
        for entry in (*unseen, *self.replies.waiting()):
            if isinstance(entry, Response) and entry.kind == "yield":
                parts.setdefault(entry.record.run, []).append(entry.body["response"])
        answered = [entry.record for entry in sent if isinstance(entry, Response)]
        for record in (*self.records.values(), *answered):
            # Yields that the state of the handle holds are known to the resumed model: only the others go in a late
            # text.
            if record.kept and record.state in OWING:  # else no link has carried them
                record.kept = parts.get(record.run, [])

    def use(self, plan: Plan) -> None:
        """The model knows this plan."""
        self.plan = plan

    def late(self) -> list[tuple[Call, str]]:
        """The results that go as text, each with its call; each is taken once."""
        records, self.texts = self.texts, ()
        return [(r.call, wording.late_result(r, self.plan.response_key)) for r in records]

    def lose(self, now: float, unread: Iterable[OutFrame]) -> None:
        """The link is gone, and every debt on it; ``unread`` is what it may have swallowed."""
        self.partial.clear()
        swallowed = self.replies.lose(entry for entry in unread if isinstance(entry, Response))
        # An answer that was swallowed is not pending any more. Sorted, so that losses are reported in the order of the
        # calls.
        owed = sorted({*swallowed, *self.ledger.pending}, key=lambda record: record.run)
        for record in owed:
            self._move(record, Move.LOSE, now)
        self._fill(now)
        # Those that are lost already: no handle holds their errors, and the next session may wait for the same calls.
        self.lost = (*self.lost, *owed) if self.plan.answers_lost else ()

    def resumed(self, link: int) -> list[bytes]:
        """On a resumed link: the errors that free the server from waiting for the calls that were lost (3.8)."""
        # A call that was lost on several connections gets one error; one that was asked again here gets its answer.
        self.lost = tuple(record for record in dict.fromkeys(self.lost) if record.link != link)
        for record in self.lost:
            record.link = link  # the debt on this link is paid with the error
        # Always as toolResponse: the other format has a turn for each toolCall, and these belong to none on this link.
        errors = [(record, wording.lost(self._follows(record))) for record in self.lost]
        bodies = [response_to("answer", *error).body for error in errors]
        return [outgoing.tool_response(bodies)] if bodies else []

    def new_session(self) -> None:
        """A new session: equal ids now mean different calls."""
        self.lost = ()
        self.by_id.clear()

    def close(self, now: float, unread: Iterable[OutFrame] = ()) -> None:
        """The session ends: stop what runs, owe nothing; ``unread`` went out, and nobody waits for more of it."""
        # Answers that went out and were not read are in neither table.
        sent = {entry.record.run: entry.record for entry in unread if isinstance(entry, Response)}
        # Those that share a run end before the one that runs: nobody is left then to run for.
        for record in reversed({**sent, **self.records}.values()):
            self._move(record, Move.CLOSE, now)
        self.replies.queue = ()
        self.by_id.clear()
        self.texts = ()
        self.due = inf

    def give_up(self) -> None:
        """After the end: no handler is waited for any longer. What those that run on have done is undone."""
        for record in self.records.values():
            if record.undo:
                self._undo(record, None)

    def tick(self, now: float) -> None:
        """Answer the calls whose time is up."""
        if now < self.due:
            return
        # All calls are looked at only for those that are new: many that expire one by one are not looked at for each.
        if now >= self._newest_due:
            served = [record for record in self.records.values() if record.state in SERVED]
            self._coming = sorted(((record.leader.deadline, record.run) for record in served), reverse=True)
            self._newest_due = inf
        while self._coming and self._coming[-1][0] <= now:
            record = self.records.get(self._coming.pop()[1])
            # Others may share its run since; and any of them may be answered by now, or have more time.
            for one in tuple(record.shared or (record,)) if record is not None else ():
                if one.state in SERVED and one.leader.deadline <= now:
                    self._expire(one, now)
        self._fill(now)
        self.due = min(self._newest_due, self._coming[-1][0] if self._coming else inf)

    def _expire(self, record: Record, now: float) -> None:
        outcome = wording.expired(record)
        # Nothing runs for these, so there is nothing to stop or to undo: they settle with a refusal.
        if record.phase in (Phase.APPROVAL, Phase.RESPONSE):
            return self._settle(record, outcome, now)
        record.outcome = outcome
        return self._move(record, Move.EXPIRE, now)

    def wake_at(self) -> float:
        """When ``tick`` is wanted next; may be early, never late."""
        return self.due

    def open(self) -> list[str]:
        """The names and ids of the open calls."""
        return [f"{record.call.name} ({record.call.id})" for record in self.ledger.pending]

    def blocking(self) -> bool:
        """Whether a BLOCKING call is open."""
        return self.ledger.blocking > 0

    def held_up_by(self, run: int, awaited: Container[int] = ()) -> Record | None:
        """A call that is not answered before this handler has ended (it needs its result or its slot) and that the
        model waits for, or the user waits for the runs ``awaited``."""
        handler = self.records.get(run)
        if handler is None:
            return None
        # An answer goes out with those of its group.
        waited = (record for record in self.ledger.pending if record.blocks or record.run in awaited)
        for one in chain.from_iterable(record.group or (record,) for record in waited):
            needs_end = one.leader is handler or self.slots.needs_end_of(handler, one.leader)
            if one.state is CallState.OWED and needs_end:
                return one
        return None

    def run_of(self, id: str) -> int | None:
        """The run of a call that may still settle, by its id."""
        # Of calls with the same id the newest counts: an older one belongs to a session that is gone.
        return next((r.run for r in reversed(self.records.values()) if r.call.id == id), None)

    def stats(self, now: float) -> list[dict[str, object]]:
        """Every call that is owed something, or whose handler still runs."""
        return [
            {
                "id": record.call.id,
                "name": record.call.name,
                "state": record.state.name.lower(),
                "waiting_for": record.phase.value,
                "running": record.running,
                "seconds": now - record.since,
            }
            for record in self.records.values()
        ]

    def record(self, run: int) -> Record | None:
        """What is known of a call whose handler runs, or that is still owed something."""
        return self.records.get(run)

    # Before the handler

    def _enter(self, link: int, one: PlainCall | Call, now: float) -> Record:
        """Enter a new call, which gets the next run, and forget the oldest of those that are over."""
        self.counted = run = self.counted + 1
        # Without an id (older Vertex) the call gets one of ours, which is never written.
        call = Call(one.id or f"unnamed-{run}", one.name, one.args)
        plan = self.plan
        record = Record(run, call, plan.policies.get(one.name, plan.undeclared), link, now)
        self.ledger.enter(record)
        if one.id:
            self.by_id[one.id] = record
        else:
            self.replies.unnamed = True
            record.named = False
        # One sweep over all ids serves REMEMBERED calls, so that twice as many are kept at most.
        if run % REMEMBERED == 0:
            done = [id for id, known in self.by_id.items() if known.run not in self.records]
            for old in done[:-REMEMBERED]:
                del self.by_id[old]
        return record

    def _asked_again(self, link: int, one: PlainCall, record: Record | AnsweredCall) -> Record:
        """The record of a call that this link asks again."""
        if isinstance(record, AnsweredCall):
            call = Call(str(one.id), one.name, one.args)
            record = record.unpacked(call, self.plan.policies.get(one.name, self.plan.undeclared))
            self.by_id[record.call.id] = record
        record.link = link
        if record in self.texts:  # it is answered here instead
            self.texts = tuple(r for r in self.texts if r is not record)
            record.delivered = False
        return record

    def _reoffer(self, record: Record, effects: Sequence[Effect], now: float) -> None:
        """The server waits again for a call that it asked on an earlier link."""
        # Those of a background call are no responses: its text will hold them.
        if record.kept and not record.policy.background:
            for part in record.kept:  # what it has yielded so far comes first
                self.replies.put(response_to("yield", record, Outcome(part), record.policy.scheduling, True))
        for effect in effects:
            PERFORM[effect](self, record, now)
        # The model that asks again has not read the acknowledgement, or does not know of it.
        if record.state is CallState.OWED and record.policy.background:
            self._move(record, Move.ACK, now)

    def _begin(self, record: Record, now: float) -> None:
        """Decide what a new call needs before its handler may run."""
        refusal = call_limits.by_plan(self.plan, record)
        if refusal is not None:
            self.end = call_limits.too_many(self.plan, record) or self.end
            return self._settle(record, refusal, now)
        policy = record.policy
        # Before the checks that take time: a background call is acknowledged even while its approval is awaited.
        if policy.background:
            self._move(record, Move.ACK, now)
        # Before the approval: the answer of one person holds for equal calls that share the run.
        if policy.join and duplicates.join(self._leaders, record) is not None:
            return None
        if not policy.approval:
            return self._admit(record, now)
        self._wait(record, _APPROVAL, policy.approval_timeout, now)
        return self._act(AskApproval(record.run, record.call, policy.tool))

    def _admit(self, record: Record, now: float) -> None:
        """Start the handler, or wait: for a slot, or for ``session.respond``."""
        policy = record.policy
        if not policy.handled:
            # session.respond has the time of a handler: nothing else ends the call if the program never answers.
            self._wait(record, Phase.RESPONSE, policy.timeout, now)
        elif self.slots.take(record):
            self._start(record, now)
        else:
            # The time of the approval is over, and that of the handler begins with its slot.
            record.deadline = inf
            self.slots.wait(record)

    def _start(self, record: Record, now: float) -> None:
        """Start the handler, which has its slot."""
        record.running = record.started = True
        policy = record.policy
        self._wait(record, _HANDLER, policy.timeout, now)
        self._act(RunTool(record.run, record.call, policy.tool, policy.streams))

    def _wait(self, record: Record, phase: Phase, seconds: float | None, now: float) -> None:
        """From now on a call waits for this, at most for ``seconds``; those that share its run have its deadline."""
        record.phase = phase
        record.deadline = deadline = inf if seconds is None else now + seconds
        if deadline < self._newest_due:
            self._newest_due = deadline
            self.due = min(self.due, deadline)

    def _fill(self, now: float) -> None:
        """Give the slots that are free to those who wait."""
        while self.slots.waiting and (next := self.slots.next()) is not None:
            self._start(next, now)

    # Effects of moves

    def _settle(self, record: Record, outcome: Outcome, now: float) -> None:
        """The outcome of a run, for every call that shares it."""
        # It was answered while somebody was being asked: refused, expired, or by session.respond.
        if record.phase is _APPROVAL:
            self._act(StopAsking(record.run, record.call))
        followers = duplicates.end(self._leaders, record) if record.policy.join else ()
        record.phase = _NOTHING
        # A handler that settles late must not replace the outcome that the model was given.
        if record.state in SERVED:
            record.outcome = wording.without_unread(outcome, self.plan.media) if outcome.parts else outcome
        self._move(record, _SETTLE, now)
        for one in followers:
            self._settle(one, outcome, now)

    def _move(self, record: Record, what: Move, now: float) -> None:
        """Move a call, and perform what follows from that."""
        for effect in self.ledger.move(record, what):
            PERFORM[effect](self, record, now)

    def _stop(self, record: Record, now: float) -> None:
        """Nobody waits for this call any more: stop what is asked or runs for it, unless others share the run."""
        # The second case was approved and waits for its slot: the shell still expects it to run.
        if record.phase is _APPROVAL or (record.phase is Phase.SLOT and record.policy.approval):
            self._act(StopAsking(record.run, record.call))
        record.phase = _NOTHING
        if record.policy.join:
            duplicates.forget(self._leaders, record)
        runs = duplicates.leave(record)
        if not runs.running:
            # It had not begun: the others continue without it.
            for one in duplicates.end(self._leaders, record) if record.shared else ():
                self._begin(one, now)
        # While others want the run the handler runs on for them, though its own call is over.
        elif not runs.wanted:
            self.slots.release(runs)
            # It may have had effects: these are undone when it settles, at the latest by give_up.
            runs.undo = runs.policy.undo
            if runs.policy.cancellable:
                self._act(StopTool(runs.run, runs.call))

    def _finished(self, record: Record, now: float) -> None:
        if self._is_told and (done := record.outcome) is not None:
            elapsed = now - record.since
            self._tell(events.ToolFinished(record.call, done.response, done.error, elapsed, done.began))

    def _cancelled(self, record: Record, now: float) -> None:
        self._tell(events.ToolCancelled(record.call))
        # CANCELLED is what a resumed session gets that asks for it again; undo gets the real result.
        outcome, record.outcome = record.outcome, wording.CANCELLED
        # What runs on does so for others, or was stopped and is undone at its end.
        if record.policy.undo and not record.running:
            self._undo(record, outcome.result if outcome else None)

    def _undo(self, record: Record, result: object) -> None:
        if record.started:
            record.started = False  # once
            self._act(Undo(record.run, record.call, record.policy.tool, result))

    def _lost(self, record: Record, now: float) -> None:
        self.slots.release(record)  # the model may call something else meanwhile
        self._tell(events.ToolLost(record.call, "text" if self._follows(record) else "dropped"))

    def _follows(self, record: Record) -> bool:
        """Whether the result of a lost call goes as text; that of a background one was promised."""
        return record.policy.background or self.plan.lost_results == "deliver"

    def _acknowledge(self, record: Record, now: float) -> None:
        said = Outcome({self.plan.response_key: wording.under_way(record.call.name)})
        self.replies.put(response_to("acknowledgement", record, said))

    def _reply(self, record: Record, now: float) -> None:
        self.replies.answer(record)

    def _release(self, record: Record, now: float) -> None:
        self.replies.release(record)

    def _deliver(self, record: Record, now: float) -> None:
        # A call may get here twice: by the loss of its link, and again if its acknowledgement was lost too.
        if not record.delivered and self._follows(record):
            record.delivered = True
            self.texts = (*self.texts, record)


def _untold(event: Event) -> None:
    """Nobody listens."""


#: Each effect is the method of its name: functions of the class, since bound methods would take a table, and a
#: reference cycle, for each session.
PERFORM: Mapping[Effect, Callable[[Calls, Record, float], None]] = {
    effect: getattr(Calls, f"_{effect.name.lower()}") for effect in Effect
}
