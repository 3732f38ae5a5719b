"""To give up in the middle, without a clock: whatever the machine is busy with, the body has come as far as it can."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


@asynccontextmanager
async def cancelled_once_it_waits() -> AsyncIterator[anyio.CancelScope]:
    """A scope that is cancelled when every task waits for something.

    For sessions in memory: a task that waits for a socket waits too, though its bytes are on their way.
    """

    async def cancel() -> None:
        await anyio.wait_all_tasks_blocked()
        scope.cancel()

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            group.start_soon(cancel)
            yield scope
        group.cancel_scope.cancel()
