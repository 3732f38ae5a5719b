"""The clock of a session, as a parameter, and the timer that goes by it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.transport.loop.timer import TaskTimer, Timer
from livetools.transport.loop.wake import on_trio


class Clock(Protocol):
    """Seconds that only go forward, from any start.

    ::

        class Doubled:
            \"\"\"Time that runs twice as fast.\"\"\"

            def now(self):
                return 2 * current_time()

            async def sleep_until(self, time):
                await sleep_until(time / 2)

        async with connect(MODEL, clock=Doubled()) as session:
            print(await session.ask("Hello?"))
    """

    def now(self) -> float:
        """The time."""
        ...

    async def sleep_until(self, t: float) -> None:
        """Return when ``now() >= t``; never for infinity. Safe to cancel."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def __init__(self) -> None:
        self.now = time.monotonic

    async def sleep_until(self, t: float) -> None:
        """See :class:`Clock`."""
        if t == math.inf:
            await anyio.sleep_forever()
        await anyio.sleep(max(0.0, t - self.now()))


#: It holds nothing, so one serves all sessions.
SYSTEM_CLOCK = SystemClock()


def make_timer(
    clock: Clock, ring: Callable[[], None], group: TaskGroup, threads: Callable[[], bool] = lambda: False
) -> Timer:
    """A timer for the loop that runs now; ``ring`` sets it again. Where it takes a task, that lives in ``group``.

    ``threads``: whether something runs in a thread that will report to the loop.
    """
    system = type(clock) is SystemClock
    if system and not on_trio():
        return Timer(clock.now, ring)
    timer = TaskTimer(clock, ring, lambda: system or threads())
    group.start_soon(timer.run)
    return timer
