"""Wakes one waiting task in the cheapest way that its event loop has.

A plain future on asyncio, a ``trio.Event`` on trio: ``anyio.Event`` costs several microseconds a wait more
(measured 2026-11), which a call's path cannot afford.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

#: A flag with one waiter: ``set`` is remembered until the next ``wait`` takes it.
#:
#: Belongs to the loop it was made on; ``set`` from another thread is an error. Cancelling ``wait`` before ``set``
#: loses nothing; what was set while somebody waited has been taken, so a task that waits again looks first.
Wake: TypeAlias = "_AsyncioWake | _TrioWake"


def on_trio() -> bool:
    """Whether this task runs on trio. It never imports trio: code that runs on it has imported it."""
    return "trio" in sys.modules and bool(sys.modules["trio"].lowlevel.in_trio_task())


def this_loop() -> Any:
    """The event loop that runs here: asyncio's, or trio's token. ``None``: none runs in this thread."""
    if "trio" in sys.modules and on_trio():
        return sys.modules["trio"].lowlevel.current_trio_token()
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def open_nurseries() -> bool:
    """Whether this task has opened nurseries, on trio, and not left them; false on asyncio."""
    return on_trio() and bool(sys.modules["trio"].lowlevel.current_task().child_nurseries)


def was_cancelled() -> bool:
    """Whether somebody cancelled the task that runs by ``Task.cancel``, and it ran on (only asyncio has that)."""
    task = None if on_trio() else asyncio.current_task()
    return task is not None and task.cancelling() > 0


def name_loop() -> None:
    """Let anyio know the loop in a callback of asyncio's: a task that a listener starts there needs it.

    With sniffio installed anyio looks for a task, and callbacks have none; this variable is what sniffio asks first.
    """
    if (sniffio := sys.modules.get("sniffio")) is not None:
        name = sniffio.current_async_library_cvar
        if name.get() != "asyncio":  # to ask costs less than to set it at every read
            name.set("asyncio")


def make_wake() -> Wake:
    """A :class:`Wake` for the loop that runs now."""
    return _TrioWake() if on_trio() else _AsyncioWake()


class _AsyncioWake:
    __slots__ = ("_future", "_is_set", "_loop")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] | None = None
        self._is_set = False

    def wait(self) -> Awaitable[None]:
        # The future itself, and no coroutine around it, which would be resumed with the waiter.
        future = self._future = self._loop.create_future()
        if self._is_set:
            self._is_set = False
            future.set_result(None)
        return future

    def set(self) -> None:
        # Somebody waits: that takes it. A waiter that was cancelled has left a future that is done.
        if self._future is not None and not self._future.done():
            self._future.set_result(None)
        else:
            self._is_set = True


class _TrioWake:
    __slots__ = ("_event",)

    def __init__(self) -> None:
        import trio

        self._event = trio.Event()

    async def wait(self) -> None:
        # Where it is set this returns at once, as on asyncio: trio's own wait would let others run.
        if not self._event.is_set():
            await self._event.wait()
        self._event = type(self._event)()

    def set(self) -> None:
        self._event.set()


def poster() -> Callable[[Callable[[], object]], object]:
    """A function that runs another one in the loop that runs now; it may be called from any thread.

    In the loop's own thread it runs at once. Raises ``RuntimeError`` when the loop has ended.
    """
    home, loop = threading.get_ident(), this_loop()
    post = loop.run_sync_soon if on_trio() else loop.call_soon_threadsafe
    return lambda function: function() if threading.get_ident() == home else post(function)
