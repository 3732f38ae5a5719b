"""Sync functions off the loop: daemon threads of our own, and whatever ``Executor`` a tool brings.

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
from typing import Any, ParamSpec, TypeVar

from .wake import make_wake, poster

P = ParamSpec("P")
T = TypeVar("T")

LIMIT = 32  # threads a session: each that blocks for ever takes one out of use, and stats() shows them


class DaemonThreads(Executor):
    """At most ``limit`` threads, made when they are needed; further work waits in order.

    ``running`` and ``waiting`` count what the threads do and what waits for one.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0
        self._counting = threading.Lock()
        self.running = 0

    @property
    def waiting(self) -> int:
        """Functions that wait for a thread."""
        return self._queue.qsize()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread. Cancelling the future before a thread took it up means that it never runs."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            self._count(1)
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                self._count(-1)
                future.set_exception(error)
            else:
                self._count(-1)
                future.set_result(result)

        self._queue.put(work)
        if not self._idle.acquire(blocking=False) and self._threads < self._limit:
            self._threads += 1
            threading.Thread(target=self._serve, name="livetools", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let every thread end after what it does; a thread that never returns is left to itself."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _count(self, change: int) -> None:
        with self._counting:
            self.running += change

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work  # a thread that waits holds on to nothing
            self._idle.release()


async def result_of(future: Future[Any]) -> Any:  # whatever the submitted function returned
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
