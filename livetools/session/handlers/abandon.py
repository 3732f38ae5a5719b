"""Awaits a coroutine of the user's, and abandons it if it keeps running after it was cancelled.

At a session's end every coroutine of the user's is cancelled. One that swallows each cancellation (a handler, an
approval, an undo, a hook) would otherwise keep the session from being left.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Coroutine, Generator
from math import inf
from typing import Any

import anyio

from livetools.session.running import leaving
from livetools.transport.loop.wake import open_nurseries


class Leavable:
    """A coroutine that is awaited once, can be cancelled, and may be left.

    ``run``: that of the call whose handler or ``approval`` it is, until that has ended. One that was cancelled before
    begins all the same, and is cancelled where it waits.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, None], run: int | None = None) -> None:
        self._coroutine, self.run = coroutine, run
        self._scope: anyio.CancelScope | None = None  # while it runs
        self._leave_at = inf  # by time.monotonic
        self.cancelled = False  # read-only from outside

    def cancel(self) -> None:
        """Cancel it: each time that it waits, until it ends."""
        self.cancelled = True
        if self._scope is not None:
            self._scope.cancel()

    def end(self) -> None:
        """Cancel it, and abandon it if it still runs after ``CANCELLED_END`` seconds."""
        self._leave_at = time.monotonic() + leaving.CANCELLED_END
        self.cancel()

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[Any], Any] = self._coroutine.send
        value: object = None
        with anyio.CancelScope() as self._scope:
            if self.cancelled:
                self._scope.cancel()
            while True:
                try:
                    waits = step(value)
                except StopIteration:
                    return
                try:
                    step, value = self._coroutine.send, (yield waits)
                except BaseException as error:
                    step, value = self._coroutine.throw, error
                if self._leave_at < inf and time.monotonic() >= self._leave_at:
                    yield from self._leave()

    def _leave(self) -> Generator[Any, Any, None]:
        """If this task is cancelled, abandon the coroutine, and raise the cancellation.

        Not inside a nursery of its own: trio wakes this very task when that ends.
        """
        if anyio.current_effective_deadline() > -inf or open_nurseries():
            return
        with contextlib.suppress(Exception):  # it raises, or ignores GeneratorExit
            self._coroutine.close()
        while True:
            yield from anyio.lowlevel.checkpoint().__await__()
