"""Timers: an alarm calls back when its machine must be woken. Moving an alarm to a later time costs nothing.

On asyncio, with the system's clock, it is a timer handle of the loop; elsewhere a task that sleeps.

An alarm that is late by ``GAP`` seconds shows that nothing ran meanwhile: the process was stopped or had no processor,
the loop was blocked, or the clock was moved. Then what was to happen by now has not been seen yet: messages lie in the
socket, a tool's own timer is due as well, a thread has not reported its result. So the loop gets to run first, and only
then does the alarm call back, so that deadlines are judged late enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import Protocol

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from livetools.transport.loop.wake import name_loop, on_trio

from .clock import Clock, SystemClock

GAP = 0.05  # seconds by which an alarm may be late
REST = 0.1  # seconds that the loop gets to run after a longer one; threads may need that
ROUNDS = 20  # of the loop instead, by another clock than the system's


class Alarm(Protocol):
    """Calls back at a time of the clock, in the loop.

    By ``deadline``; never, where that is ``inf``. ``due``: the time for which it was set, or that at which it was set,
    if this is later, until it has called back.
    """

    deadline: float
    due: float

    def set(self, deadline: float) -> None:
        """Call back by then. An alarm that is set for an earlier time stays, and may turn out to be needless."""
        ...

    def close(self) -> None:
        """Call back no more."""
        ...


def make_alarm(
    clock: Clock, ring: Callable[[], None], group: TaskGroup, threads: Callable[[], bool] = lambda: False
) -> Alarm:
    """An alarm for the loop that runs now; ``ring`` sets it again. Where it takes a task, that lives in ``group``.

    ``threads``: whether something runs in a thread that will report to the loop.
    """
    if type(clock) is SystemClock and not on_trio():
        return _Handle(clock, ring)
    sleeper = _Sleeper(clock, ring, threads)
    group.start_soon(sleeper.run)
    return sleeper


class _Handle:
    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock, self._ring = clock, ring
        self._loop = asyncio.get_running_loop()
        self.deadline = self.due = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, deadline: float) -> None:
        if deadline < self.deadline:
            self.close()
            now = self._clock.now()
            self.deadline, self.due = deadline, max(deadline, now)
            self._timer = self._loop.call_later(deadline - now, self._rings)

    def close(self) -> None:
        self.deadline = self.due = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rings(self) -> None:
        if self._clock.now() > self.due + GAP:
            self.deadline = -inf  # until it calls back it cannot be set
            self._timer = self._loop.call_later(REST, self._call_back)
        else:
            self._call_back()

    def _call_back(self) -> None:
        self.deadline, self.due, self._timer = inf, inf, None
        name_loop()
        self._ring()


class _Sleeper:
    def __init__(self, clock: Clock, ring: Callable[[], None], threads: Callable[[], bool]) -> None:
        self._clock, self._ring, self._threads = clock, ring, threads
        self.deadline = self.due = inf
        self._nap: anyio.CancelScope | None = None

    async def run(self) -> None:
        while True:
            with anyio.CancelScope() as self._nap:
                await self._clock.sleep_until(self.deadline)
            cut_short, self._nap = self._nap.cancelled_caught, None
            if not cut_short:
                if self._clock.now() > self.due + GAP:
                    self.deadline = -inf  # until it calls back it cannot be set
                    await self._rest()
                self.deadline = self.due = inf
                self._ring()

    async def _rest(self) -> None:
        if type(self._clock) is SystemClock or self._threads():
            await anyio.sleep(REST)
        else:
            for _ in range(ROUNDS):
                await anyio.lowlevel.checkpoint()

    def set(self, deadline: float) -> None:
        if deadline < self.deadline:
            self.deadline, self.due = deadline, max(deadline, self._clock.now())
            if self._nap is not None:
                self._nap.cancel()

    def close(self) -> None:
        self.deadline = self.due = inf  # the task ends with its group
