"""Shares the event loop: a task that always has more work lets others run every few milliseconds.

An ``await`` that need not wait does not reach the loop. A reader whose buffer is full, a generator that yields
without waiting and a writer with ten thousand frames would keep every timer and every other session waiting.
"""

from __future__ import annotations

import time

import anyio

SLICE = 0.005  # seconds


class TimeSlice:
    """Counts how long a task has kept the loop to itself."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends = 0.0

    def rested(self) -> None:
        """The task has just waited for something: others have run."""
        self._ends = time.monotonic() + SLICE

    @property
    def over(self) -> bool:
        """Whether it is used up."""
        return time.monotonic() >= self._ends

    async def share(self) -> None:
        """Let others run if the slice is used up. Cancelling is seen here."""
        if time.monotonic() >= self._ends:
            await anyio.lowlevel.checkpoint()
            self.rested()
