"""The limits of a session's time: ``max_seconds`` of the whole, ``idle`` seconds of silence.

Neither interrupts a speaker. At 90 % of the time the model gets a text about its end, between two turns, and the
session then ends with a turn. Of a silence the model is asked first whether anybody is still there.

Silence is counted from the end of the last word or sound of either side, and not while anything is pending: an open
call, an answer that is due, a connection that is being replaced.
"""

from __future__ import annotations

from math import inf

from livetools.errors import LimitReached
from livetools.protocol.calls.driver_actions import EndSession
from livetools.protocol.connection.dials_and_moves import Connection
from livetools.protocol.send import Dispatch
from livetools.protocol.still_to_come import Pending
from livetools.setup.plan_fields import Plan

from .speech_times import PATIENCE, SpeechTimes

#: The share of ``max_seconds`` after which a text tells the model that the session will end.
TOLD_AT = 0.9
#: Seconds past ``max_seconds`` that a turn under way is given to end.
LAST_TURN = 10.0
#: The text for the model when nobody has spoken for a while.
ASK_WHETHER_THERE = (
    "The user has said nothing for a while. Ask in one short sentence whether they are still there."
)
#: The text for the model when the time of the session is nearly over.
SOON_OVER = (
    "This conversation ends in about {} seconds. Tell the user so in one short sentence, and come to an end."
)


class TimeLimits:
    """When the time of a session is over, by the options ``max_seconds`` and ``idle`` of ``connect``.

    ``limited``: there is one; else there is nothing to ask. ``went_idle``: the session was closed because nobody spoke.
    """

    def __init__(
        self, plan: Plan, pending: Pending, connection: Connection, dispatch: Dispatch, speech: SpeechTimes
    ) -> None:
        self._most = inf if plan.max_seconds is None else plan.max_seconds
        self._idle = inf if plan.idle is None else plan.idle
        self._to_come, self._connection = pending, connection
        self._dispatch, self._speech = dispatch, speech
        self.limited = min(self._most, self._idle) < inf
        self.began = inf
        self.went_idle = False
        self._tells_at = inf  # when the model hears of the end that is near
        self._asked_at = -inf  # whether anybody is there
        self._idle_since = 0.0  # nothing is pending since then, and it was not asked
        self._pending = False  # when that was looked at last

    def begins(self, now: float) -> None:
        """The session is open for the first time."""
        self.began = self._idle_since = now
        self._tells_at = now + TOLD_AT * self._most

    def due(self, now: float) -> EndSession | None:
        """Tell the model what it is to be told by now. Whether the session is to be closed, and with which error."""
        pending = self._waits()
        # The silence is counted from the moment at which nothing is pending any more, so the look before this one
        # counts too.
        if pending or self._pending:  # until now
            self._idle_since = now
        self._pending = pending
        # The end of the session goes before its announcement: after a gap of the clock both may be due at once.
        if now >= self._ends_at(pending):
            happened = f"max_seconds={self._most:g}, and the session has lasted so long"
            advice = "Raise max_seconds, or begin another session with history=session.transcript"
            return EndSession(LimitReached("max_seconds", happened, "turn" if pending else "idle", advice))
        if now >= self._tells_at:
            self._tells_at = inf  # once
            left = max(1, round(self._ends_at(False) - now))
            # It waits for a pause, but not for longer than half of the time that is left.
            self._dispatch.speak(self._dispatch.reply(SOON_OVER.format(left)), now + left / 2 - PATIENCE)
        elif not pending and now >= self._idle_at():
            # Asked once, and no sign of the user since: the session ends.
            if self._asked_at > self._speech.user_seen:
                self.went_idle = True
                return EndSession(None)
            self._asked_at = self._idle_since = now
            self._dispatch.speak(self._dispatch.reply(ASK_WHETHER_THERE))
        return None

    def wake_at(self) -> float:
        """When that may change without an input."""
        pending = self._waits()
        ends = min(self._tells_at, self._ends_at(pending))
        return ends if pending else min(ends, self._idle_at())

    def seconds(self, now: float) -> float:
        """Since the session stood first; 0 before."""
        return max(0.0, now - self.began)

    def _waits(self) -> bool:
        """Whether something is still to come."""
        return not self._connection.usable or bool(self._to_come.names())

    def _ends_at(self, pending: bool) -> float:
        return self.began + self._most + (LAST_TURN if pending else 0.0)

    def _idle_at(self) -> float:
        speech = self._speech
        return max(self.began, self._idle_since, speech.until, speech.user_seen) + self._idle
