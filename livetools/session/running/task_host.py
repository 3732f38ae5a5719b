"""Runs a session's tasks outside the user's task, so that a session can be entered and left anywhere.

A task group entered in the user's task ties the session to that task's stack. On asyncio that breaks exit
stacks closed by another task, sessions closed first in, first out, sessions inside async generators,
notebooks and pytest-asyncio fixtures. So on asyncio everything runs in **one** host task, with the anyio task
group inside it; the context manager that made the host awaits its end. Trio has no tasks without a nursery:
there a nursery is held open in the caller, and the same body runs in its one child, shielded from the
caller's cancellation as the asyncio task is by nature.

Rejected: ``loop.create_task`` for each part (nothing owns them), anyio's blocking portal (a thread, and
tools that leave the user's loop).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from typing import Any, Self, TypeAlias

import anyio
from anyio.abc import TaskGroup

from livetools.errors import ConcurrencyError
from livetools.transport.loop.wake import make_wake, on_trio, this_loop

OnReady: TypeAlias = Callable[[], None]
Main: TypeAlias = Callable[[TaskGroup, OnReady], Awaitable[None]]


class Starter:
    """Starts the tasks that run code of the user's, and those of the connections. A context manager inside the group's:
    leaving it cancels the group, and waits for them.

    On asyncio they are tasks of the loop's own, which have a context of their own and, from Python 3.12 on, take their
    first step at once. On trio they are the group's. ``group``: for tasks that are ours alone, and end with it.
    """

    def __init__(self, group: TaskGroup) -> None:
        self.group = group
        self._running: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._loop = None if on_trio() else asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        return self

    # Not a task of the group that waits for its end: that would be a tenth of what an idle session is made of.
    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            while self._running:
                await asyncio.wait(self._running)
        if self._error is not None and (error is None or isinstance(error, asyncio.CancelledError)):
            raise self._error

    def start(self, coroutine: Coroutine[Any, Any, None], context: Context) -> None:
        """Run this in a context of its own. The caller has to end it. What it raises ends the group."""
        if self._loop is None:
            context.run(self.group.start_soon, lambda: coroutine)
            return
        if sys.version_info >= (3, 12):
            task = asyncio.Task(coroutine, loop=self._loop, context=context, eager_start=True)
        else:
            task = asyncio.Task(coroutine, loop=self._loop, context=context)
        if task.done():  # in its first step, where tasks are eager
            self._ended(task)
        else:
            self._running.add(task)
            task.add_done_callback(self._ended, context=context)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        # As in any task group: the first error cancels the others, and is raised at the end.
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
            self.group.cancel_scope.cancel()


class Host:
    """Runs ``main(group, ready)`` and its task group in a task of its own, apart from the tasks that start and stop it.

    ``main`` calls ``ready()`` when what it serves is up; when it returns or raises, whatever still runs in
    ``group`` is cancelled. Tasks in the group are not to raise; one that does ends the host, and
    :meth:`stop` raises its error bare, never in an exception group.

    On asyncio ``start`` and ``stop`` may be called by different tasks. On trio both belong to one task, and
    hosts are stopped last in, first out, as trio asks of every nursery.
    """

    def __init__(self, name: str = "livetools") -> None:
        self._name = name
        self.loop: object = None  # read-only from outside: that it was started in
        self.here: Callable[[], object] = this_loop  # gives the loop that runs here, or raises RuntimeError
        self._ended: anyio.Event | None = None  # on trio; on asyncio the task itself is waited for
        self._group: TaskGroup | None = None  # from the first step of ``main`` on
        self._stopped = False
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._nursery: contextlib.AbstractAsyncContextManager[Any] | None = None

    async def start(self, main: Main) -> None:
        """Start ``main`` and return once it is ready, or has returned before that.

        Raises what ``main`` raised before it was ready. Cancelling stops what was started, and awaits its
        end.
        """
        self.loop, self._ready = this_loop(), make_wake()
        if on_trio():
            import trio

            self._ended = anyio.Event()
            self._nursery = trio.open_nursery()
            self.here = trio.lowlevel.current_trio_token
            nursery = await self._nursery.__aenter__()
            nursery.start_soon(self._run, main, name=self._name)
        else:
            self.here = asyncio.get_running_loop
            self._task = asyncio.create_task(self._run(main), name=self._name)
        try:
            await self._ready.wait()
        except BaseException:
            with contextlib.suppress(Exception):  # the cancellation is what the caller must see
                await self.stop()
            raise
        if self._error is not None:
            await self.stop()

    async def stop(self, grace: float = 0.0) -> None:
        """Give ``main`` ``grace`` seconds to return, cancel it, and wait until every task has ended.

        Idempotent. Raises, once, what ``main`` or a task of the group raised. Cancelling cuts the grace
        short; the end is awaited all the same.
        """
        if self.loop is None:
            return
        try:
            with anyio.CancelScope(shield=True), anyio.move_on_after(grace):
                await self.ended()
        finally:
            self._stopped = True
            if self._group is not None:
                self._group.cancel_scope.cancel()
            await self._join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    async def ended(self) -> None:
        """Wait until every task has ended without being stopped. In any task of the loop."""
        if self._ended is not None:
            await self._ended.wait()
        # What has ended may be stopped after its loop, in another one.
        elif self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def require_loop(self) -> None:
        """Raise ``ConcurrencyError`` unless the loop that runs here is the one that the host was started in.

        Another loop's futures are never woken: what waits would hang, and what is written would stay behind.
        """
        here = this_loop()
        if here is self.loop or self.loop is None:
            return
        used = "where no event loop runs" if here is None else f"in another one, {here!r}"
        raise ConcurrencyError(
            f"the {self._name} belongs to the event loop that opened it, {self.loop!r}, and is used {used}."
            " Use it there: asyncio.run_coroutine_threadsafe(coroutine, loop), or trio.from_thread.run"
        )

    async def _join(self) -> None:
        nursery, self._nursery = self._nursery, None
        # On trio the nursery waits for the body; on asyncio this task awaits the host's.
        if nursery is not None:
            await nursery.__aexit__(None, None, None)  # waits for the child, also if it is cancelled
            return
        with anyio.CancelScope(shield=True):
            try:
                await self.ended()
            finally:  # its end is awaited although the caller is cancelled, which is raised afterwards
                while self._task is not None and not self._task.done():
                    with contextlib.suppress(asyncio.CancelledError):
                        await self.ended()

    async def _run(self, main: Main) -> None:
        """The host's own task: ``main`` in its group. What that raises is kept for :meth:`stop`, without its group."""
        try:
            async with anyio.create_task_group() as group:
                self._group, group.cancel_scope.shield = group, True
                if self._stopped:
                    group.cancel_scope.cancel()
                serving = main(group, self._ready.set)
                del main  # the session need not keep what only begins it
                await serving
                group.cancel_scope.cancel()
        except BaseExceptionGroup as error:
            self._error = error
            while isinstance(self._error, BaseExceptionGroup):  # the first that is not a group
                self._error = self._error.exceptions[0]
        finally:
            self._ready.set()
            if self._ended is not None:
                self._ended.set()
