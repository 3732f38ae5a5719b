"""Decides when a session may be closed without loss: its newest handle holds everything that was said.

A handle restores the conversation as the service had it when it gave the handle: never a call that is open, nor a
turn that is under way. So a session that is to continue elsewhere waits until neither is left, and for a handle that is
newer than the last turn and than what was written last. It waits at most as long as it was allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from livetools.protocol.input.input_queue import InputQueue
from livetools.protocol.still_to_come import Pending
from livetools.protocol.turns.speech_times import SpeechTimes

from .dials_and_moves import PONG_CHECK_INTERVAL, Connection

#: The default of ``park``: seconds after which the session is closed although calls or texts are still open.
PARKING_TIMEOUT = 30.0
#: Seconds to wait for a handle behind the last turn: 3.1 gives one about every 1.2 s, others with the turn's end.
PARKING_HANDLE_TIMEOUT = 5.0


@dataclass(eq=False, repr=False, slots=True)  # no repr: it would show the plan, the handle and texts
class Parking:
    """Whether the session is to be closed as soon as nothing is owed, and whether that is now."""

    pending: Pending
    input: InputQueue
    connection: Connection
    speech: SpeechTimes
    _since: float = inf
    _asked: tuple[float, ...] = ()  # the time by which each request closes it
    #: When it is closed, also if something is owed; ``inf``: it is not being parked; ``-inf``: that is now.
    until: float = inf
    left: Sequence[str] | None = None  # what was owed when it was closed; None: it was not parked

    def begin(self, now: float, within: float) -> float:
        """Close at the next quiet moment, at the latest in ``within`` seconds. Of several requests the earliest holds.
        Returns the time by which this one closes, for :meth:`call_off`."""
        until = now + within if within > 0 else -inf
        if not self._asked:
            self._since = now
        self._asked = (*self._asked, until)
        self.until = min(self._asked)
        return until

    def call_off(self, until: float) -> None:
        """The request that was to close it by ``until`` is withdrawn. Without any, the session continues here."""
        at = self._asked.index(until)
        self._asked = self._asked[:at] + self._asked[at + 1 :]
        self.until = min(self._asked, default=inf)

    def tick(self, now: float) -> None:
        """The time is judged here alone: what came by now has been seen."""
        if now >= self.until:
            self.until = -inf

    def due(self, now: float) -> bool:
        """Whether the session is to be closed now: then it is parked."""
        # The deadline closes it even with debts; ``left`` says which.
        due = self.until == -inf or (not self.pending.unfinished() and self._ready_at() <= now)
        if due:
            self.left = self.owed()
        return due

    def wake_at(self, now: float) -> float:
        """When that may change without an input."""
        # A pong is not an input of the machine, so only for unread messages it must look again by the clock. All else
        # that is unfinished ends with an input.
        if not (unfinished := self.pending.unfinished()):
            return min(self.until, self._ready_at())
        return min(self.until, now + PONG_CHECK_INTERVAL if unfinished == self.pending.unread() else inf)

    def owed(self) -> list[str]:
        """What would be lost if the session were closed now, in words."""
        stale = ["a handle that is newer than the last turn"] if self.connection.advanced_at > -inf else []
        return self.pending.unfinished() or stale

    def _ready_at(self) -> float:
        """When it is quiet, and the handle is there that holds all of it."""
        handle = self.connection.advanced_at + PARKING_HANDLE_TIMEOUT
        # Where no audio goes out turns say when nobody speaks.
        return max(handle, self.speech.quiet_at(self._since) if self.input.streams else -inf)
