"""Timers: an alarm calls back when its machine must be woken. Moving an alarm to a later time costs nothing.

On asyncio, with the system's clock, it is a timer handle of the loop; elsewhere a task that sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.transport.loop.wake import act_as, act_no_longer, on_trio, this_task

from .clock import Clock, SystemClock


class Alarm(Protocol):
    """Calls back at a time of the clock, in the loop, as a task of the session's.

    By ``deadline``; never, where that is ``inf``.
    """

    deadline: float

    def set(self, deadline: float) -> None:
        """Call back by then. An alarm that is set for an earlier time stays, and may turn out to be needless."""
        ...

    def close(self) -> None:
        """Call back no more."""
        ...


def make_alarm(clock: Clock, ring: Callable[[], None], group: TaskGroup) -> Alarm:
    """An alarm for the loop that runs now; ``ring`` sets it again. Where it takes a task, that lives in ``group``."""
    if type(clock) is SystemClock and not on_trio():
        return _Handle(clock, ring)
    sleeper = _Sleeper(clock, ring)
    group.start_soon(sleeper.run)
    return sleeper


class _Handle:
    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock, self._ring = clock, ring
        self._loop, self._task = asyncio.get_running_loop(), this_task()
        self.deadline = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, deadline: float) -> None:
        if deadline < self.deadline:
            self.close()
            self.deadline = deadline
            self._timer = self._loop.call_later(deadline - self._clock.now(), self._rings)

    def close(self) -> None:
        self.deadline = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rings(self) -> None:
        self.deadline, self._timer = inf, None
        acting = act_as(self._task)
        try:
            self._ring()
        finally:
            act_no_longer(acting)


class _Sleeper:
    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock, self._ring = clock, ring
        self.deadline = inf
        self._nap: anyio.CancelScope | None = None

    async def run(self) -> None:
        while True:
            with anyio.CancelScope() as self._nap:
                await self._clock.sleep_until(self.deadline)
            cut_short, self._nap = self._nap.cancelled_caught, None
            if not cut_short:
                self.deadline = inf
                self._ring()

    def set(self, deadline: float) -> None:
        if deadline < self.deadline:
            self.deadline = deadline
            if self._nap is not None:
                self._nap.cancel()

    def close(self) -> None:
        self.deadline = inf  # the task ends with its group
