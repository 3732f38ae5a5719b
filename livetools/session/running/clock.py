"""The clock of a session, as a parameter."""

from __future__ import annotations

import math
import time
from typing import Protocol

import anyio


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
