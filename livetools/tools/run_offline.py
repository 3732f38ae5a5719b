"""Runs a handler without a session: for tests, notebooks and the command line."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any, TypeGuard

import anyio
import anyio.to_thread

from livetools.errors import ToolTimeout


async def run(kind: str, call: Callable[[], Any], timeout: float | None) -> object:
    """What ``call`` gives: awaited, gathered into a list, or run in a thread, as its ``kind`` and its result ask.

    Raises what it raises, and ``ToolTimeout`` after ``timeout`` seconds. Cancelling it cancels an async
    handler, and abandons a sync one to its thread.
    """
    with anyio.move_on_after(timeout):
        if kind == "sync":
            # in a list: trio takes a coroutine that comes out of a thread for a mistake
            (value,) = await anyio.to_thread.run_sync(lambda: [call()], abandon_on_cancel=True)
        else:
            value = call()
        value = await awaited(value)
        if is_async_iterable(value):
            async with closing(values := aiter(value)):
                return [await awaited(one) async for one in values]
        if inspect.isgenerator(value):
            generator = value
            yields = await anyio.to_thread.run_sync(lambda: list(generator), abandon_on_cancel=True)
            return [await awaited(one) for one in yields]
        return value
    raise ToolTimeout(f"timed out after {timeout:g} s")


async def awaited(value: Any) -> Any:
    """The value; where that is to be awaited (a coroutine, a task, a future), what it gives."""
    while inspect.isawaitable(value):
        value = await value
    return value


def is_async_iterable(value: object) -> TypeGuard[AsyncIterable[object]]:
    """Whether this is an async generator or iterator, or makes one: by its class, for an object may answer anything."""
    return hasattr(type(value), "__aiter__")


def closing(values: AsyncIterator[object]) -> AbstractAsyncContextManager[object]:
    """Close the values at the end, if they can be closed: generators can, and not every iterator."""
    return aclosing(values) if hasattr(values, "aclose") else nullcontext(values)  # type: ignore[type-var]  # asked
