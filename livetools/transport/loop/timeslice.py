"""Shares the event loop: a task that always has more work lets others run every few milliseconds.

An ``await`` that need not wait does not reach the loop. A reader whose buffer is full, a generator that yields
without waiting and a writer with ten thousand frames would keep every timer and every other session waiting.

Elapsed time does not show whether other tasks ran meanwhile: a task that sends sound every 20 ms waits in between. We
count loop callbacks (a socket has read something): if the count grew, the loop has gone on, and the task need not
yield. Yielding would cost half as much as a frame of sound.
"""

from __future__ import annotations

import asyncio
import time
from weakref import WeakKeyDictionary

import anyio
from msgspec import Struct, field

from .wake import on_trio

SLICE = 0.005  # seconds that a task may run before it lets others run


class Passes(Struct, eq=False, gc=False):
    """Counts callbacks of one event loop, each a sign that it has gone on to something else."""

    count: int = 0


_passes: WeakKeyDictionary[asyncio.AbstractEventLoop, Passes] = WeakKeyDictionary()


def passes() -> Passes:
    """Those of the loop that runs now. On trio nobody counts."""
    return Passes() if on_trio() else _passes.setdefault(asyncio.get_running_loop(), Passes())


class TimeSlice(Struct, eq=False, gc=False):
    """Counts how long a task has kept the loop to itself. Made in the loop."""

    _passes: Passes = field(default_factory=passes)
    _ends: float = 0.0
    _seen: int = 0

    def __post_init__(self) -> None:
        self._seen = self._passes.count

    def rested(self) -> None:
        """The task has just waited for something: others have run."""
        self._ends, self._seen = time.monotonic() + SLICE, self._passes.count

    def over(self) -> bool:
        """Whether it is used up. Begin another slice if other tasks have run since this one began."""
        if time.monotonic() < self._ends:
            return False
        if self._passes.count == self._seen:
            return True
        self.rested()
        return False

    async def share(self) -> None:
        """Let others run if the slice is used up. Cancelling is seen here."""
        if self.over():
            await anyio.lowlevel.checkpoint()
            self.rested()
