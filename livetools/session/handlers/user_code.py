"""Runs code of the user's, each piece in a task of its own: cancels it, abandons it, and says what it has raised.

At a session's end every coroutine of the user's is cancelled. One that swallows each cancellation (a handler, an
approval, an undo, a hook) would otherwise keep the session from being left.

A coroutine is cancelled as its event loop does it. On asyncio that is ``Task.cancel``: ``CancelledError`` is raised
once, where it waits, and its clean-up may wait. A scope of anyio's would raise it at every wait, and a rollback would
never reach the database; entering one also costs a tenth of a call. On trio it is a cancel scope.
"""

from __future__ import annotations

import contextlib
import logging
import time
from asyncio import CancelledError, Task, current_task
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from math import inf
from types import coroutine
from typing import Any, TypeVar

import anyio

from livetools.session.frame_log import detail
from livetools.session.running import leaving
from livetools.setup.secrecy import place
from livetools.transport.loop.wake import on_trio, open_nurseries

T = TypeVar("T")

#: The code of the user's that runs here: in its own task or thread, or in one that it has started.
SERVING: ContextVar[UserCode | None] = ContextVar("livetools_serving", default=None)


class UserCode:
    """Code of the user's that runs in a task of its own, can be cancelled, and may be abandoned.

    ``run``: the run of the call whose handler or ``approval`` this is. Code that is cancelled before its task has begun
    begins all the same, and is cancelled where it first waits.
    """

    def __init__(self, run: int | None = None) -> None:
        self.run = run
        self.cancelled = False  # read-only from outside
        self._leave_at = inf  # by time.monotonic
        self._runs_in: Task[Any] | anyio.CancelScope | None = None  # on asyncio, and on trio

    def cancel(self) -> None:
        """Cancel it where it waits; once, on asyncio."""
        if not self.cancelled:
            self._cancel()

    def end(self) -> None:
        """Cancel it until it ends, and abandon it if it still runs after ``CANCELLED_END`` seconds."""
        now = time.monotonic()
        self._leave_at = min(self._leave_at, now + leaving.CANCELLED_END)
        self._cancel()
        # asyncio cancels a task once: one that swallows it is cancelled again, until it ends. Past ``_leave_at`` too,
        # for the code is abandoned at its next step, and without a cancellation it may never take one.
        if isinstance(self._runs_in, Task):
            left = self._leave_at - now
            again = min(left, leaving.CANCELLED_AGAIN) if left > 0 else leaving.CANCELLED_AGAIN
            self._runs_in.get_loop().call_later(again, self.end)

    def _cancel(self) -> None:
        self.cancelled = True
        if self._runs_in is not None:
            self._runs_in.cancel()

    @coroutine
    def perform(self, code: Coroutine[Any, Any, T]) -> Generator[Any, Any, T | None]:
        """Run the code in this task, which runs nothing of the user's after it. What it returns; ``None`` where it was
        cancelled or abandoned."""
        if on_trio():
            with anyio.CancelScope() as self._runs_in:  # noqa: ASYNC100 - it waits in its steps
                return (yield from self._steps(code))
            return None
        self._runs_in = current_task()
        try:
            return (yield from self._steps(code))
        except CancelledError:
            if not self.cancelled:
                raise
            return None
        finally:
            self._runs_in = None

    def _steps(self, code: Coroutine[Any, Any, T]) -> Generator[Any, Any, T | None]:
        """Drive the code step by step, as ``await`` would, so that it can be abandoned between two of them."""
        # It was cancelled before there was a task to cancel: do it now.
        if self.cancelled:
            if self._leave_at < inf:
                self.end()
            else:
                self._cancel()
        step: Callable[[Any], Any] = code.send
        value: object = None
        while True:
            try:
                waits = step(value)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # what the coroutine returns
            try:
                step, value = code.send, (yield waits)
            except BaseException as error:
                step, value = code.throw, error
            # Not inside a nursery of its own: trio wakes this very task when that ends.
            if self._leave_at < inf and time.monotonic() >= self._leave_at and not open_nurseries():
                with contextlib.suppress(Exception):  # it raises, or ignores GeneratorExit
                    code.close()
                return None


def is_of_the_user(error: BaseException) -> bool:
    """Whether what a callable of the user's raised ends only that callable: anything but Ctrl-C, and the
    session's own cancellation of this task."""
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return _is_stray()
    # A nursery of trio's raises what its children failed with together with the cancellation.
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(KeyboardInterrupt) is None and any(map(is_of_the_user, error.exceptions))
    return not isinstance(error, KeyboardInterrupt)


def excuse(log: logging.Logger, what: str, error: BaseException, level: int = logging.WARNING) -> None:
    """Log what ``what``, a callable of the user's, has raised: it costs the session nothing. Raise it where it is not
    the user's."""
    if not is_of_the_user(error):
        raise error
    log.log(level, "%s failed: %s", what, place(error), exc_info=detail(error))


async def turn_of_the_loop() -> None:
    """Let the others come round; a cancellation of this task that its handler has not waited for is over then."""
    try:
        await anyio.lowlevel.cancel_shielded_checkpoint()
    except anyio.get_cancelled_exc_class():
        if not _is_stray():
            raise


def _is_stray() -> bool:
    """Whether a cancellation is not the session's: it belongs to something that the handler waited for, or
    the handler cancelled its own task (asyncio alone has such)."""
    serving = SERVING.get()
    ours = anyio.current_effective_deadline() == -inf or (serving is not None and serving.cancelled)
    return not (on_trio() or ours)
