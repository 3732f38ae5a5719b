"""Runs a handler without a session: for tests, notebooks and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from livetools.errors import ToolTimeout


async def run(kind: str, call: Callable[[], Any], timeout: float | None) -> object:
    """What ``call`` gives: awaited, gathered into a list, or run in a thread, as its ``kind`` asks.

    Raises what it raises, and ``ToolTimeout`` after ``timeout`` seconds. Cancelling it cancels an async
    handler, and abandons a sync one to its thread.
    """
    with anyio.move_on_after(timeout):
        if kind == "async_generator":
            return [value async for value in call()]
        if kind == "async":
            return await call()
        if kind == "generator":
            return await anyio.to_thread.run_sync(lambda: list(call()), abandon_on_cancel=True)
        # in a list: trio takes a coroutine that comes out of a thread for a mistake
        (value,) = await anyio.to_thread.run_sync(lambda: [call()], abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value
    raise ToolTimeout(f"timed out after {timeout:g} s")
