"""Decides when a line that says nothing is asked for a sign of life, and when it counts as dead.

A line can be lost without a word: a router forgets it, a network changes, a peer is switched off. Nothing is received
then, and what is written seems to go out. Bytes of any kind are a sign of life, not only pongs: while the service
speaks, its pongs were measured to take up to 30 s (sip-to-ai#14, 2026-09).

Only time in which this program ran counts. After it was stopped (a laptop asleep, a throttled container) the first
thing to happen is that this is looked at, before what came meanwhile has been read.
"""

from __future__ import annotations

from math import inf

from .pings import Pongs

ASK_AFTER = 15.0  # seconds without a byte after which a ping is sent; half of ``dead_after``, if that is less
STOPPED = 1.0  # seconds of delay of a timer that show that the program stood still
EARLY = 0.001  # seconds by which a timer may fire too early


class Silence:
    """The silence of one connection. ``heard`` is set to the clock's time with each byte that comes.

    :meth:`look` at it at once, and then when it says so. ``pongs`` is asked for a sign of life. ``dead_after`` is
    ``None`` for never.
    """

    __slots__ = ("_ask_after", "_dead_at", "_due", "_pinged", "_pongs", "dead_after", "heard")

    def __init__(self, dead_after: float | None, pongs: Pongs) -> None:
        self.dead_after = inf if dead_after is None else dead_after
        self._ask_after = min(ASK_AFTER, self.dead_after / 2)
        self._pongs = pongs
        self.heard = pongs.clock()
        self._pinged = -inf
        self._dead_at = inf  # unless something comes
        self._due = self.heard + self._ask_after

    def look(self, unread: bool = False) -> float | None:
        """Ask the line for a sign of life, where that is due. Seconds until the next look; ``None``: it is dead.

        ``unread``: what has come is not read at present, so that nothing can be heard.
        """
        now = self._pongs.clock()
        # The reader is held back by its consumer: bytes may have come that nobody has read.
        if unread:
            self.heard = now
        # The program stood still: for that long nothing could be heard, so it is not silence.
        if (late := now - self._due) > STOPPED:
            self.heard = min(now, self.heard + late)
        # A ping is out and nothing has come since: now only its deadline counts.
        if self._pinged > self.heard:
            if now >= self._dead_at - EARLY:
                return None
        elif now >= self.heard + self._ask_after - EARLY:
            self._pinged = now
            # The peer gets its whole time to answer, however late the ping is sent.
            self._dead_at = max(self.heard, now - self._ask_after) + self.dead_after
            self._pongs.ping()
        asked = self._pinged > self.heard
        # The next look is at the deadline or a step before it, whichever is earlier: a stopped program shows between
        # two looks.
        self._due = min(self._dead_at, now + self._ask_after) if asked else self.heard + self._ask_after
        return max(0.0, self._due - now)
