"""The ledger: what is owed for each function call, as a table. Only this module changes the state of a call.

The ledger keeps debts, not tasks. What a handler does and what is owed on the wire are two things: a timed-out
thread runs on and nobody is owed its result; a call whose connection is gone, or that was put into the background,
runs on and owes a text. *The run is per id, the debt per (link, id)*: an id that comes again on the same connection
is a duplicate; on a later one it is answered again from memory, and never run again.

==========  ==============================================================================
OWED        the call is being served; an answer is expected on its link
READY       the answer is known, and waits for the writer
SENT        the writer has it, and it is not known to have been read: a dead socket may have swallowed it
PAID        answered
VOID        taken back by the server, or the session is closed: nothing is owed, nothing will be sent
DETACHED    the answer on the link is settled or lost; the handler runs on and owes its result as a text
DONE        nothing is owed any more
==========  ==============================================================================

A pair that is not in the table is not a move: the call stays where it is and nothing happens. The invariants, proved by
an exhaustive search over orders of inputs and by random long runs (see the tests):

1. A handler is started at most once for an id, though the call arrives twice, on two channels, or again after a
   resumption.
2. A call is answered exactly once on its link, or the server has cancelled it, or the link is gone and the loss
   was reported.
3. Nothing is sent for a call after its cancellation, or after its final response.
4. Every response carries the id (where the server gave one), the name, and a JSON object.
5. After the session is closed, nothing runs and nothing is held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from math import inf
from typing import Any

import msgspec
from msgspec import Struct

from livetools.events import Call
from livetools.protocol.messages.outgoing import encode
from livetools.setup.plan_fields import CallPolicy

from .driver_actions import Outcome


class CallState(Enum):
    """The state of a debt."""

    __hash__ = object.__hash__  # Enum's own is Python code, and the table is looked up ten times a call

    OWED = auto()
    READY = auto()
    SENT = auto()
    PAID = auto()
    VOID = auto()
    DETACHED = auto()
    DONE = auto()


class Move(Enum):
    """What can happen to a debt."""

    __hash__ = object.__hash__

    SETTLE = auto()  # the handler ended, or the call was refused
    EXPIRE = auto()  # its time is up
    CANCEL = auto()  # toolCallCancellation
    ACK = auto()  # a background call is acknowledged instead of answered
    LOSE = auto()  # the link is gone
    WRITE = auto()  # the writer has taken the answer
    HEARD = auto()  # the answer has been read
    REOFFER = auto()  # the same id, asked on a later link
    CLOSE = auto()  # the session ends


class Effect(Enum):
    """The effects of a move; the dispatcher performs them in the order in which the row has them."""

    __hash__ = object.__hash__

    STOP = auto()  # stop the handler
    FINISHED = auto()  # tell ToolFinished
    CANCELLED = auto()  # tell ToolCancelled, and undo what was done
    LOST = auto()  # tell ToolLost
    ACKNOWLEDGE = auto()  # queue the answer that it is under way
    REPLY = auto()  # queue the answer
    RELEASE = auto()  # its group no longer waits for it
    DELIVER = auto()  # queue the result as text


S, M, E = CallState, Move, Effect

TABLE: Mapping[tuple[CallState, Move], tuple[CallState, tuple[Effect, ...]]] = {
    (S.OWED, M.SETTLE): (S.READY, (E.FINISHED, E.REPLY)),
    # STOP is a request. A thread cannot be stopped, so the answer does not wait for it.
    (S.OWED, M.EXPIRE): (S.READY, (E.STOP, E.FINISHED, E.REPLY)),
    # RELEASE: a member that will never be answered must not hold up its batch.
    (S.OWED, M.CANCEL): (S.VOID, (E.STOP, E.CANCELLED, E.RELEASE)),
    # The acknowledgement is the answer on the link. What the handler returns is owed as text from now on.
    (S.OWED, M.ACK): (S.DETACHED, (E.ACKNOWLEDGE, E.RELEASE)),
    # The handler is not stopped: it may have had effects, and is never run again. A response on another socket is
    # ignored (2.5 and 3.1, measured 2026-08, pipecat#5465), so the result is owed as text.
    (S.OWED, M.LOSE): (S.DETACHED, (E.LOST,)),
    # Nobody is left to tell: no event, no answer.
    (S.OWED, M.CLOSE): (S.VOID, (E.STOP,)),
    # No RELEASE: only a member that is OWED holds its batch up. The handler has ended, so there is nothing to stop.
    (S.READY, M.CANCEL): (S.VOID, (E.CANCELLED,)),
    # LOST comes before DELIVER: the user learns of the loss before the text is queued.
    (S.READY, M.LOSE): (S.DONE, (E.LOST, E.DELIVER)),
    # WRITE is when the writer takes it. Until its bytes are made a cancellation still leaves it out (Answer.make).
    (S.READY, M.WRITE): (S.SENT, ()),
    (S.READY, M.CLOSE): (S.VOID, ()),
    (S.SENT, M.CANCEL): (S.VOID, (E.CANCELLED,)),  # they crossed on the wire: the server will not read it
    # A dying socket takes frames without an error. If it was read after all, the model gets the result twice, the
    # second time as text; the other error would be a result that never arrives.
    (S.SENT, M.LOSE): (S.DONE, (E.LOST, E.DELIVER)),
    # PAID has neither CANCEL nor LOSE: what was read is neither taken back nor lost.
    (S.SENT, M.HEARD): (S.PAID, ()),
    (S.SENT, M.CLOSE): (S.PAID, ()),
    (S.DETACHED, M.SETTLE): (S.DONE, (E.FINISHED, E.DELIVER)),
    (S.DETACHED, M.EXPIRE): (S.DONE, (E.STOP, E.FINISHED, E.DELIVER)),
    (S.DETACHED, M.CANCEL): (S.VOID, (E.STOP, E.CANCELLED)),
    (S.DETACHED, M.LOSE): (S.DETACHED, (E.LOST,)),  # its acknowledgement did not arrive
    # The handler still runs. The link that asks now gets its result as an ordinary answer, and no text follows.
    (S.DETACHED, M.REOFFER): (S.OWED, ()),
    (S.DETACHED, M.CLOSE): (S.DONE, (E.STOP,)),
    # A handle may restore a session from before the answer: it is given again, and nothing runs again.
    (S.PAID, M.REOFFER): (S.READY, (E.REPLY,)),
    # The outcome is CANCELLED by then: the resumed session does not know that it has taken the call back.
    (S.VOID, M.REOFFER): (S.READY, (E.REPLY,)),
    (S.DONE, M.CANCEL): (S.VOID, ()),  # its acknowledgement may still wait
    (S.DONE, M.LOSE): (S.DONE, (E.LOST,)),  # as of one that is detached
    (S.DONE, M.REOFFER): (S.READY, (E.REPLY,)),
}

# SETTLE has rows only in OWED and DETACHED: a handler that ignored its STOP may end late, and nobody is owed that.
del S, M, E

# Every call passes these: asked of its class, a member costs ten times as much.
_OWED, _PAID = CallState.OWED, CallState.PAID
#: States in which the server waits for an answer on the link.
OPEN = frozenset({CallState.OWED, CallState.READY})
#: States in which the link that asked carries the responses to the call.
OWING = OPEN | {CallState.SENT}
#: States in which something is still to come of the call.
HELD = OPEN | {CallState.DETACHED}
#: States in which the handler may run for somebody.
SERVED = frozenset({CallState.OWED, CallState.DETACHED})


class Phase(Enum):
    """What a call that is being served waits for."""

    APPROVAL = "approval"
    SLOT = "a free slot"
    HANDLER = "its handler"
    LEADER = "an identical call"
    RESPONSE = "session.respond"
    NOTHING = "nothing"


_NOTHING = Phase.NOTHING


class Record:
    """One call: what was asked, the state of its debt, what is known about its run.

    ``named``: false where the server gave no id, and none goes out.
    ``blocks``: BLOCKING, the model does nothing until it is answered.
    """

    def __init__(self, run: int, call: Call, policy: CallPolicy, link: int, since: float) -> None:
        # A run has a number of its own: another session may use the same id for another call while this handler still
        # runs.
        self.run, self.call, self.policy = run, call, policy
        self.link, self.since = link, since
        self.named = True
        self.blocks = policy.behavior == "BLOCKING"
        self.state = _OWED
        self.group: Sequence[Record] = ()  # the calls that it is answered with, until that message is ready
        self.phase = _NOTHING
        self.deadline = inf
        self.running = False  # the shell got the action to start it, and has not reported its end
        self.started = False  # it has begun, and was not undone
        self.undo = False  # its effects are undone as soon as it settles
        self.delivered = False  # its result has gone as text
        self.outcome: Outcome | None = None
        # Yields that the state of the newest handle does not hold; None: there were none at all.
        self.kept: list[Mapping[str, Any]] | None = None
        # Identical calls of which the first runs for all: one list, which each of them has.
        self.shared: list[Record] | None = None

    @property
    def wanted(self) -> bool:
        """Whether the outcome of its run still counts for a call: for this one, or for one that shares the run."""
        return any(one.state in SERVED for one in self.shared or (self,))

    @property
    def leader(self) -> Record:
        """The call that runs: this one, or the one whose run it shares."""
        return self.shared[0] if self.shared else self

    def packed(self) -> Record | AnsweredCall:
        """What is to be remembered of the call: an :class:`AnsweredCall` if it is answered and that holds all that may
        still be asked of it; else the record itself."""
        outcome, policy = self.outcome, self.policy
        # Bytes cannot hold these: the result for undo, yields for a late text, or a handler that still runs.
        keeps = self.running or self.kept or policy.undo or policy.background
        if keeps or self.state is not _PAID or outcome is None or outcome.parts:
            return self
        response = outcome.encoded or encode(outcome.response)
        return AnsweredCall(self.run, self.link, response, outcome.scheduling)


class AnsweredCall(Struct, frozen=True, gc=False):
    """A call whose answer was read, as bytes: the server may ask for its id again on a later connection.

    A session keeps hundreds of them, and hardly one is ever asked again. So nothing of them is left that the garbage
    collector would visit. ``response`` is JSON.
    """

    run: int
    link: int
    response: bytes
    scheduling: str | None

    def unpacked(self, call: Call, policy: CallPolicy) -> Record:
        """The record of this call, which is asked again, as it was."""
        # Its time does not matter any more: nothing is measured for an answer from memory.
        record = Record(self.run, call, policy, self.link, 0.0)
        record.state = _PAID
        record.outcome = Outcome(msgspec.json.decode(self.response), scheduling=self.scheduling)
        return record


class Ledger:
    """The debts of a session. ``records``, by run: the calls that the server waits for (``pending``), and the others
    whose handler may still settle. :meth:`move` keeps them.
    """

    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.blocking = 0  # pending BLOCKING calls
        self.ending = 0  # pending calls that end the model's turn

    @property
    def pending(self) -> list[Record]:
        """The calls that the server waits for."""
        return [record for record in self.records.values() if record.state in OPEN]

    @property
    def waited_for(self) -> bool:
        """Whether there is one."""
        return any(record.state in OPEN for record in self.records.values())

    def enter(self, record: Record) -> None:
        """The server waits for this call, which is new or asked again."""
        self.records[record.run] = record
        self.blocking += record.blocks
        self.ending += record.policy.ends_turn

    def move(self, record: Record, what: Move) -> tuple[Effect, ...]:
        """Move a call; a pair that is not in the table has no effect."""
        was = record.state
        state, effects = TABLE.get((was, what)) or (was, ())
        record.state = state
        if was in OPEN:
            if state in OPEN:
                return effects
            self.blocking -= record.blocks
            self.ending -= record.policy.ends_turn
        elif state in OPEN:
            self.enter(record)
        # DETACHED stays without a running handler too: the call may still wait for an approval or for a slot.
        if state not in HELD and not record.running:
            self.records.pop(record.run, None)  # nothing can settle this call any more
        return effects
