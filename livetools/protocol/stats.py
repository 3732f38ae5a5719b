"""What the shell may know of a session's machine: facts, each with one dot. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from livetools.events import Call, Usage
from livetools.setup.plan_fields import Plan

from .calls.call_states import Record
from .calls.calls import Calls
from .connection.connection import Connection, Loss
from .connection.parking import Parking
from .input.input_queue import InputQueue
from .input.resend import Receipt
from .pending import Pending
from .plan_changes import PlanChanges
from .receive import Reception
from .turns.idle_and_max_seconds import TimeLimits
from .turns.speech_times import SpeechTimes


class View:
    """The facts of a session. ``plan``: what the model knows."""

    plan: Plan
    calls: Calls
    connection: Connection
    input: InputQueue
    limits: TimeLimits
    parking: Parking
    reception: Reception
    speech: SpeechTimes
    closed: bool
    to_come: Pending
    changes: PlanChanges
    _now: float

    @property
    def handle(self) -> str | None:
        """The newest handle that restores this session."""
        return self.connection.handle

    @property
    def next_plan(self) -> Plan:
        """The plan of the next setup."""
        return self.changes.next

    @property
    def usage(self) -> Usage:
        """Tokens of the whole session: the last count of each turn, summed."""
        return self.reception.tokens.total

    @property
    def pending(self) -> list[str]:
        """What is still to come, in words; empty: nothing is."""
        return [] if self.closed else self.to_come.names()

    @property
    def unsaved(self) -> list[str]:
        """What would be lost if the session were closed now, in words."""
        return self.parking.owed()

    @property
    def parked(self) -> bool:
        """Whether it was closed because it was to be parked."""
        return self.parking.parked

    @property
    def lost_by_parking(self) -> Sequence[str]:
        """What was not saved when it was parked, in words."""
        return self.parking.left

    @property
    def went_idle(self) -> bool:
        """Whether it was closed because nobody spoke."""
        return self.limits.went_idle

    @property
    def awaited_since(self) -> float | None:
        """Since when the model has been waited for; ``None``: nobody has spoken."""
        return self.speech.awaited_since

    @property
    def last_loss(self) -> Loss | None:
        """How the last connection was lost; ``None``: none was."""
        return self.connection.last_loss

    @property
    def may_move(self) -> bool:
        """Whether a change can go with the setup of another connection: the policy allows one, or it is under way."""
        return self.connection.sends_setup

    def record(self, run: int) -> Record | None:
        """What is known of a call whose handler runs, or that is still owed something."""
        return self.calls.records.get(run)

    def wanted(self, run: int) -> bool:
        """Whether the outcome of this run still counts for a call: for its own, or for one that shares it."""
        return self.calls.wanted(run)

    def run_of(self, call: Call | str) -> int | None:
        """The run of a call that is still served."""
        return self.calls.run_of(call if isinstance(call, str) else call.id)

    def held_up_by(self, run: int, awaited: Container[int] = ()) -> Record | None:
        """A call that is not answered before this handler has ended, and that the model waits for, or the user waits
        for the runs ``awaited``."""
        return self.calls.held_up_by(run, awaited)

    def would_deadlock(self, receipt: Receipt, run: int | None) -> bool:
        """Whether waiting for this would wait for what waits for the caller, which is the handler of ``run``: its own
        answer, the slot that it holds, or the end of an activity."""
        # The caller is inside its own activity: the text waits for its end.
        if self.input.held_back(receipt):
            return True
        if run is None:
            return False
        calls, moves = self.calls, self.changes.awaits(receipt)
        # A BLOCKING call waits for the slot of this handler, and where input is blocked the text waits for that call. A
        # change by a move waits until no call is open, the caller's included.
        if calls.keeps_out(run) or (moves and run in calls.pending):
            return True
        return calls.held_up_by(run, calls.pending if moves else ()) is not None

    def stats(self) -> dict[str, Any]:  # plain values
        """Who owes what, and what was lost: every open call by name, what is expected from the model, dials, drops."""
        loss = self.last_loss
        return {
            "line": self.connection.state.name.lower(),
            "dials": self.connection.attempts.dials,
            "losses": self.connection.losses,
            "last_loss": loss and {"code": loss.close.code, "how": loss.how, "calls": list(loss.calls)},
            "waiting_for": "; ".join(self.pending),
            "calls": self.calls.stats(self._now),
            "calls_made": self.calls.counted,
            "seconds": self.limits.seconds(self._now),
            "input_dropped": sum(self.input.dropped.values()),
            "backlog": self.input.backlog,
            "latency": self.speech.latencies(),
        }
