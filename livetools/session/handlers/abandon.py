"""Awaits a coroutine of the user's, cancels it, and abandons it if it keeps running all the same.

At a session's end every coroutine of the user's is cancelled. One that swallows each cancellation (a handler, an
approval, an undo, a hook) would otherwise keep the session from being left.

A coroutine is cancelled as its event loop does it. On asyncio that is ``Task.cancel``: ``CancelledError`` is raised
once, where it waits, and its clean-up may wait. A scope of anyio's would raise it at every wait, and a rollback would
never reach the database; entering one also costs a tenth of a call. On trio it is a cancel scope.
"""

from __future__ import annotations

import contextlib
import time
from asyncio import CancelledError, Task, current_task
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from math import inf
from typing import Any, Generic, TypeVar

import anyio

from livetools.session.running import leaving
from livetools.transport.loop.wake import on_trio, open_nurseries

T = TypeVar("T")

#: The code of the user's that runs here: in its own task or thread, or in one that it has started.
SERVING: ContextVar[Leavable[Any] | None] = ContextVar("livetools_serving", default=None)


class Leavable(Generic[T]):
    """A coroutine that is awaited once, can be cancelled, and may be left. Awaiting it gives what it returns, or
    ``None`` where it was cancelled or left.

    ``run``: that of the call whose handler or ``approval`` it is, until that has ended. One that was cancelled before
    begins all the same, and is cancelled where it waits.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T], run: int | None = None) -> None:
        self._coroutine, self.run = coroutine, run
        self._leave_at = inf  # by time.monotonic
        self.cancelled = False  # read-only from outside
        self._scope: anyio.CancelScope | None = None  # on trio, while it runs
        # On asyncio, while it runs:
        self._task: Task[Any] | None = None
        self._waits = False
        self._owed = False  # a cancellation, when it waits next
        self._delivered = 0  # cancellations that its task has had from here

    def cancel(self) -> None:
        """Cancel it where it waits; once, on asyncio."""
        if not self.cancelled:
            self._cancel()

    def end(self) -> None:
        """Cancel it until it ends, and abandon it if it still runs after ``CANCELLED_END`` seconds."""
        now = time.monotonic()
        if self._leave_at == inf:
            self._leave_at = now + leaving.CANCELLED_END
        self._cancel()
        if self._task is not None:
            left = self._leave_at - now
            again = min(left, leaving.CANCELLED_AGAIN) if left > 0 else leaving.CANCELLED_AGAIN
            self._task.get_loop().call_later(again, self._insist)

    def _insist(self) -> None:
        if self._task is not None:
            self.end()

    def _cancel(self) -> None:
        self.cancelled = self._owed = True
        if self._scope is not None:
            self._scope.cancel()
        elif self._waits:
            self._deliver()

    def _deliver(self) -> None:
        assert self._task is not None
        self._owed = False
        self._delivered += 1
        self._task.cancel()

    def __await__(self) -> Generator[Any, Any, T | None]:
        if on_trio():
            with anyio.CancelScope() as self._scope:  # noqa: ASYNC100 - it waits in its steps
                if self.cancelled:
                    self._scope.cancel()
                return (yield from self._steps())
            return None
        self._task = task = current_task()
        assert task is not None
        try:
            if self._leave_at < inf:
                self.end()
            return (yield from self._steps())
        except CancelledError:
            if not self._delivered:
                raise
            return None
        finally:
            self._task = None
            while self._delivered:
                self._delivered -= 1
                task.uncancel()

    def _steps(self) -> Generator[Any, Any, T | None]:
        step: Callable[[Any], Any] = self._coroutine.send
        value: object = None
        while True:
            try:
                waits = step(value)
            except StopIteration as end:
                result: T = end.value
                return result
            if self._owed and self._task is not None:
                self._deliver()
            self._waits = True
            try:
                step, value = self._coroutine.send, (yield waits)
            except BaseException as error:
                step, value = self._coroutine.throw, error
            self._waits = False
            # Not inside a nursery of its own: trio wakes this very task when that ends.
            if self._leave_at < inf and time.monotonic() >= self._leave_at and not open_nurseries():
                with contextlib.suppress(Exception):  # it raises, or ignores GeneratorExit
                    self._coroutine.close()
                return None
