"""``FakeClock``: a clock that a test moves."""

from __future__ import annotations

import heapq
import itertools

import anyio
import anyio.lowlevel


class FakeClock:
    """A clock that moves only when a test advances it.

    ::

        clock = FakeClock()
        async with FakeLiveServer(clock=clock) as server:
            async with connect(MODEL, clock=clock, **server.options) as session:
                clock.advance(540)  # the server says goAway now

    Sleepers wake in the order of their times. It belongs to one event loop, the one of the tasks that sleep on it.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, int, anyio.Event]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    async def sleep_until(self, t: float) -> None:
        """Return once the clock shows ``t`` or later. Cancelling forgets the sleeper."""
        if t <= self._now:
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (t, next(self._order), anyio.Event())
        heapq.heappush(self._sleepers, sleeper)
        try:
            await sleeper[2].wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    @property
    def sleepers(self) -> int:
        """How many wait for a time that has not come."""
        return len(self._sleepers)

    def advance(self, seconds: float) -> None:
        """Move on by ``seconds`` and wake the tasks whose time has come, in the order of their times.

        They run when the caller next awaits; a sleep of theirs that has passed meanwhile returns at once.
        """
        if not seconds >= 0:  # so that a NaN is refused too
            raise ValueError(f"time does not run backwards: advance({seconds})")
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            heapq.heappop(self._sleepers)[2].set()
