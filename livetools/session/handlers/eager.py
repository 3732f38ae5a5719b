"""Runs a coroutine in a context of its own, its first step at once if somebody wants that.

Most handlers never wait: waking a task for each would cost more than they do. So a task that waits lends its name to
the first step, which is then like any other of that task's: timeouts, cancel scopes and task groups that the coroutine
enters belong to the task that continues it.

At a session's end every coroutine of the user's is cancelled. One that runs on all the same (a handler, an approval, an
undo, a hook that swallows each cancellation) would keep the session from being left, so it is abandoned.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from math import inf
from typing import Any

import anyio

from livetools.session.running import closing
from livetools.transport.loop.wake import open_nurseries

_TAKES_BACK = sys.version_info >= (3, 13)  # Task.uncancel takes back what has not been raised yet


class EagerCoroutine:
    """A coroutine whose first step may be taken before it is awaited, which is once. It runs in ``context``."""

    __slots__ = ("_context", "_coroutine", "_leave_at", "_raised", "_step", "_waits")

    def __init__(self, coroutine: Coroutine[Any, Any, None], context: Context) -> None:
        self._coroutine, self._context = coroutine, context
        self._leave_at = inf  # by time.monotonic
        self._waits: Any = None  # what the first step came to: a future, or None for a turn of the loop
        # the step to be taken next, and its argument
        self._step: tuple[Callable[[Any], Any], object] | None = coroutine.send, None
        self._raised: BaseException | None = None  # by the first step

    def leave_soon(self) -> None:
        """The task is about to be cancelled: if the coroutine runs on all the same, it is abandoned after
        ``CANCELLED_END`` seconds."""
        self._leave_at = time.monotonic() + closing.CANCELLED_END

    def begin(self, task: asyncio.Task[Any]) -> bool:
        """On asyncio, run the first step in the name of ``task``, which then awaits the rest. Whether that was all."""
        loop, running = task.get_loop(), asyncio.current_task()
        if running is not None:
            asyncio.tasks._leave_task(loop, running)  # documented: "Extending asyncio"
        asyncio.tasks._enter_task(loop, task)
        self._step = None
        try:
            self._waits = self._context.run(self._coroutine.send, None)
        except StopIteration:
            return True
        except BaseException as error:  # it is raised in the task
            self._raised = error
        finally:
            asyncio.tasks._leave_task(loop, task)
            if running is not None:
                asyncio.tasks._enter_task(loop, running)
        return False

    def cancel(self, error: BaseException) -> None:
        """The task was cancelled in the first step, or before the second: what the first one waits for is, as
        ``Task.cancel`` would do it. To be called in that task."""
        task = asyncio.current_task()
        if _TAKES_BACK and task is not None and not task.cancelling():
            return  # the first step took it back
        if self._waits is None or not self._waits.cancel(*error.args):
            self._step = self._coroutine.throw, error

    def __await__(self) -> Generator[Any, Any, None]:
        if self._raised is not None:
            raise self._raised
        step = self._step
        while True:
            if step is not None:
                try:
                    self._waits = self._context.run(step[0], step[1])
                except StopIteration:
                    return
            try:
                step = self._coroutine.send, (yield self._waits)
            except BaseException as error:
                step = self._coroutine.throw, error
            if self._leave_at < inf and time.monotonic() >= self._leave_at:
                yield from self._leave()

    def _leave(self) -> Generator[Any, Any, None]:
        """If this task is cancelled, abandon the coroutine, and raise the cancellation.

        Not inside a nursery of its own: trio wakes this very task when that ends.
        """
        if anyio.current_effective_deadline() > -inf or open_nurseries():
            return
        with contextlib.suppress(Exception):  # it runs on in spite of this as well
            self._context.run(self._coroutine.close)
        while True:
            yield from anyio.lowlevel.checkpoint().__await__()
