"""Timers that a gap of the clock does not deceive. Moving one to a later time costs nothing.

A timer that is late by ``GAP`` seconds shows that nothing ran meanwhile: the process was stopped or had no processor,
the loop was blocked, or the clock was moved. Then what was to happen by now has not been seen yet: messages lie in the
socket, a tool's own timer is due as well, a thread has not reported its result. So the loop gets to run first, and only
then does the timer call back, so that deadlines are judged late enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

from .wake import name_loop

GAP = 0.05  # seconds by which a timer may be late
REST = 0.1  # seconds that the loop gets to run after a longer one; threads may need that
ROUNDS = 20  # of the loop instead, by a clock that is not the system's

T = TypeVar("T")


class Timer:
    """Calls ``ring`` in the loop, by ``deadline`` of the clock ``now``; never, where that is ``inf``.

    ``due``: when it is expected to call back, which is ``deadline``, or the time at which it was set if that was later;
    ``inf`` once it has called back. This one is a timer handle of asyncio's loop, for the system's clock.
    """

    __slots__ = ("_handle", "_now", "_ring", "deadline", "due")

    def __init__(self, now: Callable[[], float], ring: Callable[[], None]) -> None:
        self._now, self._ring = now, ring
        self.deadline = self.due = inf
        self._handle: asyncio.TimerHandle | None = None

    def set(self, deadline: float) -> None:
        """Call back by then. If it is set for an earlier time it stays, and may call back without need."""
        if deadline < self.deadline:
            now = self._now()
            self.deadline, self.due = deadline, max(deadline, now)
            self._wait(deadline - now)

    def close(self) -> None:
        """Call back no more."""
        self.deadline = self.due = inf
        if self._handle is not None:
            self._handle.cancel()

    def _wait(self, seconds: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = asyncio.get_running_loop().call_later(seconds, self._passed)

    def _passed(self) -> None:
        if self._now() > self.due + GAP:
            self.deadline = -inf  # so that it cannot be set until it has called back
            self._handle = asyncio.get_running_loop().call_later(REST, self._call_back)
        else:
            self._call_back()

    def _call_back(self) -> None:
        self.deadline = self.due = inf
        self._handle = None
        name_loop()
        self._ring()


class TaskTimer(Timer):
    """A timer for trio, and for a user's own ``clock``: a task in :meth:`run`, which ends with its group.

    ``rests``: whether the loop gets ``REST`` seconds after a gap, because that clock runs by itself or something in a
    thread will report to the loop. Otherwise it gets ``ROUNDS``.
    """

    __slots__ = ("_nap", "_rests", "_sleep_until")

    def __init__(self, clock: Any, ring: Callable[[], None], rests: Callable[[], bool]) -> None:
        super().__init__(clock.now, ring)
        self._sleep_until, self._rests = clock.sleep_until, rests
        self._nap: anyio.CancelScope | None = None

    async def run(self) -> None:
        """Keep the time."""
        while True:
            with anyio.CancelScope() as self._nap:
                await self._sleep_until(self.deadline)
            if self._nap.cancelled_caught:
                continue
            if self._now() > self.due + GAP:
                self.deadline = -inf  # until it calls back it cannot be set
                if self._rests():
                    await anyio.sleep(REST)
                else:
                    for _ in range(ROUNDS):
                        await anyio.lowlevel.checkpoint()
            self.deadline = self.due = inf
            self._ring()

    def _wait(self, seconds: float) -> None:
        if self._nap is not None:
            self._nap.cancel()


async def in_time(run: Callable[[], Awaitable[T]], timeout: float | None) -> T:
    """What ``run()`` returns within ``timeout`` seconds (``None``: any number). Raises ``TimeoutError`` past them.

    Not a :class:`Timer`, for the caller's own task waits. After a gap ``run`` is called again for a moment: what it
    waits for may have come in time. So cancelling it must lose nothing.
    """
    with anyio.move_on_after(timeout) as scope:
        return await run()
    if anyio.current_time() > scope.deadline + GAP:
        with anyio.move_on_after(REST):
            return await run()
    raise TimeoutError
