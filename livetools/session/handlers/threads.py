"""Runs sync functions in daemon threads of our own (trio has its own), or in the ``Executor`` of a tool.

Daemon threads, because a tool that never returns must not keep the process alive, as a thread of
``ThreadPoolExecutor`` or of anyio would. A hop through anyio's threads costs 98 to 116 µs of CPU, through
these 61 to 65 (measured 2026-11).
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio

from livetools.transport.loop.wake import make_wake, poster

P = ParamSpec("P")
T = TypeVar("T")

#: Threads a session. What bounds the handlers is max_concurrency (64 by default). This is far above it: the time of a
#: call begins with its handler, so none is to wait for a thread; background calls, which need no slot, need one too,
#: and a function that never returns keeps its own.
LIMIT = 512


class DaemonThreads(Executor):
    """At most ``limit`` threads, made when they are needed; further work waits in order."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self.limiter = anyio.CapacityLimiter(limit)  # the same bound for threads of trio's
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # Read-only from outside: functions that run, and that wait for a thread.
        self.running = self.waiting = 0
        self._threads = 0
        self._lock = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread. Cancelling the future before a thread took it up means that it never runs."""
        future, work = self.piece_of_work(partial(fn, *args, **kwargs))
        with self._lock:
            if self._threads < min(self.running + self.waiting, self._limit):
                self._threads += 1
                threading.Thread(target=self._serve, name="livetools", daemon=True).start()
        self._queue.put(work)
        return future

    def piece_of_work(self, function: Callable[[], T]) -> tuple[Future[T], Callable[[], None]]:
        """The future of a function that waits for a thread from now on, and what that thread has to call."""
        future: Future[T] = Future()
        self._count(running=0, waiting=1)

        def work() -> None:
            self._count(running=1, waiting=-1)
            if not future.set_running_or_notify_cancel():
                self._count(running=-1)
                return
            try:
                tell = partial(future.set_result, function())
            except BaseException as error:
                tell = partial(future.set_exception, error)
            self._count(running=-1)
            tell()

        return future, work

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let every thread end after what it does; a thread that never returns is left to itself."""
        with self._lock:
            for _ in range(self._threads):
                self._queue.put(None)

    def _count(self, running: int, waiting: int = 0) -> None:
        with self._lock:
            self.running += running
            self.waiting += waiting

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work  # a thread that waits holds on to nothing


async def result_of(future: Future[Any]) -> Any:  # the result of the submitted function
    """The future's result, or what it raised. Cancelling leaves the work to itself.

    A future that is done already calls back in this very thread: the poster knows.
    """
    wake = make_wake()
    post = poster()

    def done(_: Future[Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            post(wake.set)

    future.add_done_callback(done)
    await wake.wait()
    return future.result()
