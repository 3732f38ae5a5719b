"""Logs what happens to the connection of a session, under ``livetools.session``: names, ids and numbers, no content.

A loss, what is lost with it, dropped input and stalls are warnings; attempts to connect again, restored sessions and
goAways are information. Each attempt is logged; of everything else there is a line a second of each kind at most, and
the next one says how many were left out.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import inf

from livetools import events
from livetools.events import REPLACED, Event
from livetools.log import get_logger
from livetools.protocol.connection.dials_and_moves import Loss
from livetools.transport.contract import Transport

from .clock import Clock

log = get_logger("livetools.session")

LOG_INTERVAL = 1.0  # seconds between two lines of a kind

#: The events of the session itself, which few are.
NOTED = frozenset({
    events.SessionStarted, events.Reconnecting, events.Reconnected, events.GoAway, events.ToolLost,
    events.InputDropped, events.Stalled, events.TurnComplete,
})  # fmt: skip


class ConnectionLog:
    """The log of one session's connection."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: dict[str, tuple[float, int]] = {}  # by the kind: when it was logged, and left out since
        self._unwatched = False  # it was said that nobody notices when the line falls silent

    def opened(self, transport: Transport) -> None:
        """A connection is open. Say once where its kind cannot tell a dead line from a quiet one."""
        if not (self._unwatched or hasattr(transport, "ask")):
            self._unwatched = True
            kind = type(transport).__name__
            log.info("%s sends no pings: that a line is dead shows only when it takes no more frames", kind)

    def lost(self, loss: Loss) -> None:
        """A connection on which the session stood is gone."""
        open_calls = ", ".join(loss.calls) or "none"
        self._line("loss", f"the connection was lost: {loss.how}; open calls: {open_calls}")

    def events(self, told: Sequence[Event]) -> None:
        """What the session tells of it at once, in its order."""
        lost: list[str] = []  # the calls of one connection are logged together
        for event in told:
            match event:
                case events.Reconnecting(attempt, delay, cause):
                    log.info("attempt %d to connect again, in %.2f s: %s", attempt, delay, cause)
                case events.Reconnected(restored):
                    how = "restored" if restored else "a new one, in which the model remembers nothing"
                    self._line("again", f"connected again: the session is {how}", logging.INFO)
                case events.GoAway(left):
                    when = "soon" if left is None else f"in {left:.1f} s"
                    text = f"goAway: the service ends this connection {when}; another one takes its place"
                    self._line("goAway", text, logging.INFO)
                case events.ToolLost(call, delivery):
                    follows = "follows as text" if delivery == "text" else "is dropped"
                    lost.append(f"{call.name} ({call.id}), whose result {follows}")
                case events.InputDropped(count, reason):
                    self._line("dropped", f"frames of input that were dropped: {count}: {reason}")
                case events.Stalled(waiting_for, seconds):
                    text = f"stalled: nothing came for {seconds:.1f} s; expected: {waiting_for}"
                    self._line("stalled", text)
                case events.TurnComplete(reason) if reason == REPLACED:
                    text = "the connection was replaced in the middle of a turn: the rest of it is lost"
                    self._line("cut", text)
        if lost:
            self._line("lost", f"lost with the connection: {', '.join(lost)}")

    def _line(self, kind: str, text: str, level: int = logging.WARNING) -> None:
        now = self._clock.now()
        last, left_out = self._lines.get(kind, (-inf, 0))
        if now < last + LOG_INTERVAL:
            self._lines[kind] = last, left_out + 1
            return
        self._lines[kind] = now, 0
        if left_out:
            text += f" (left out since the last such line: {left_out})"
        log.log(level, "%s", text)
