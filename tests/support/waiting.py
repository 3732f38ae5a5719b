"""To go on, or to give up in the middle, without a clock: whatever the machine is busy with, everything has come as far
as it can."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio

from livetools.transport.loop.wake import on_trio

#: Passes of the loop in which nobody goes on: a callback may have something for a task, and so may a socket.
PASSES = 3


async def everybody_waits() -> None:
    """As ``anyio.wait_all_tasks_blocked``, which on asyncio looks ten times a second, and so takes a tenth of one.

    Not in two tasks at once: each would wait for the other.
    """
    if on_trio():
        return await anyio.wait_all_tasks_blocked()
    here, quiet = asyncio.current_task(), 0
    while quiet < PASSES:
        await asyncio.sleep(0)
        quiet = quiet + 1 if all(_waits(task) for task in asyncio.all_tasks() if task is not here) else 0
    return None


async def until_true(condition: Callable[[], object], within: float = 30.0) -> None:
    """Wait for what a socket, a thread or another process does, where no event tells of it. Raises ``TimeoutError``."""
    with anyio.fail_after(within):
        while not condition():
            await anyio.sleep(0.001)


def _waits(task: asyncio.Task[Any]) -> bool:
    waiter = task._fut_waiter  # type: ignore[attr-defined]  # as anyio asks it
    return waiter is not None and not waiter.done()


@asynccontextmanager
async def cancelled_once_it_waits() -> AsyncIterator[anyio.CancelScope]:
    """A scope that is cancelled when every task waits for something.

    For sessions in memory: a task that waits for a socket waits too, though its bytes are on their way.
    """

    async def cancel() -> None:
        await everybody_waits()
        scope.cancel()

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            group.start_soon(cancel)
            yield scope
        group.cancel_scope.cancel()


class RunningTime:
    """Seconds in which this process has run: a thread counts hundredths, and none while the process is kept waiting.

    For what must be over soon and cannot be told from a clock that a test moves.
    """

    TICK = 0.01

    def __init__(self) -> None:
        self.seconds = 0.0
        self.end = threading.Event()

    def count(self) -> None:
        while not self.end.wait(self.TICK):
            self.seconds += self.TICK


@contextmanager
def running_time() -> Iterator[RunningTime]:
    """``with running_time() as passed``: ``passed.seconds`` grow until it is left."""
    time = RunningTime()
    thread = threading.Thread(target=time.count, daemon=True)
    thread.start()
    try:
        yield time
    finally:
        time.end.set()
        thread.join()
