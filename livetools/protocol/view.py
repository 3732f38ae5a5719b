"""The parts of a session's machine, and the facts that the shell may read of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import Any

from livetools.events import Call, Usage
from livetools.setup.plan_fields import Plan

from .calls.call_states import Record
from .calls.calls import Calls
from .calls.driver_actions import Action
from .connection.dials_and_moves import Connection, Loss
from .connection.parking import Parking
from .connection.reconnect_policy import ReconnectPolicy
from .input.input_queue import InputQueue
from .input.resend import Outbox, Receipt
from .plan_changes import PlanChanges
from .receive import Reception
from .reported_events import Emitter
from .send import Dispatch
from .still_to_come import Pending
from .turns.exchange import OutputSinceAsk
from .turns.expected_turns import Turns
from .turns.idle_and_max_seconds import TimeLimits
from .turns.speech_times import SpeechTimes


class View:
    """The parts of a machine, wired together, and the facts that are read from outside.

    The shell asks the machine itself, and never reaches through it into a part. ``actions`` is emptied by the driver,
    which performs them in their order.
    """

    def __init__(self, plan: Plan, policy: ReconnectPolicy | None, random: Callable[[], float]) -> None:
        self.actions: deque[Action] = deque()
        self.turns, self.said = Turns(plan.stall_timeout, plan.idle_signal), OutputSinceAsk()
        self._told = Emitter(self.turns, self.said)
        self._tell = self._told.tell
        self.calls = Calls(plan, self._tell, self.actions.append)
        self.outbox = Outbox(plan.transparent)
        self.input = InputQueue(plan, self.outbox, self._tell)
        self.connection = Connection(plan, policy, random)
        self.speech = SpeechTimes()
        shared = self.calls, self.turns, self.input, self.speech, self.outbox, self.connection
        self.dispatch = Dispatch(*shared)
        self.to_come = Pending(self.dispatch)
        self.limits = TimeLimits(plan, self.to_come, self.connection, self.dispatch, self.speech)
        self.reception = Reception(*shared, self._tell)
        self.parking = Parking(self.to_come, self.input, self.connection, self.speech)
        self.changes = PlanChanges(plan)
        self.closed = False
        self._now = 0.0

    @property
    def plan(self) -> Plan:
        """What the model knows."""
        return self.calls.plan

    def record(self, run: int) -> Record | None:
        """What is known of a call whose handler runs, or that is still owed something."""
        return self.calls.record(run)

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
    def lost_by_parking(self) -> Sequence[str] | None:
        """What was not saved when it was parked, in words; ``None``: it was not closed because it was to be parked."""
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
        if run is None or self.input.held_back(receipt):
            return self.input.held_back(receipt)
        # A change by a move waits until no call is open, the caller's included.
        awaited = self.calls.records if self.changes.awaits(receipt) else ()
        # A BLOCKING call waits for the slot of this handler, and where input is blocked the text waits for that call.
        return self.calls.slots.keeps_out(run) or self.calls.held_up_by(run, awaited) is not None

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
            "input_dropped": self.input.dropped,
            "backlog": self.input.backlog,
            "latency": self.speech.latencies(),
        }
