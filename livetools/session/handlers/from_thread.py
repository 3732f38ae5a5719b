"""Lets sync tools call back into their event loop: ``anyio.from_thread``, on trio ``trio.from_thread`` too.

On asyncio sync tools run in daemon threads of our own, which anyio does not know. It keeps what its worker threads know
in variables of the thread, which are set here. They are no public names: where one of them is missing, everything else
works, and only these calls raise, as in any thread that is not anyio's. Tried with anyio 4.9 and 4.16.

On trio they run in trio's own threads, which are daemons too, and the only ones that its functions know.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from livetools.transport.loop.wake import on_trio, this_loop

from .threads import DaemonThreads

T = TypeVar("T")

KNOWN = True
try:
    from anyio._core._eventloop import claim_worker_thread, get_async_backend, threadlocals
except ImportError:  # another anyio
    KNOWN = False


class FromThread:
    """From a thread to the loop in which this is made. ``cancel``: ``check_cancelled`` raises from then on."""

    def __init__(self) -> None:
        self._scope = anyio.CancelScope()
        self._token: Any = this_loop()
        self._backend: Any = get_async_backend() if KNOWN else None

    def cancel(self) -> None:
        """The call was cancelled while a thread has it. In the loop."""
        self._scope.cancel()

    def submit(self, threads: DaemonThreads, function: Callable[[], T]) -> Future[T]:
        """Run the function in a thread, from which it may call back. In the loop."""
        if not on_trio():
            return threads.submit(self._run, function)
        import trio

        def run() -> T:
            try:
                return function()
            except trio.Cancelled:  # of check_cancelled: no scope of the task that gets the result
                raise CancelledError("the call was cancelled") from None

        async def take_thread(scope: anyio.CancelScope) -> None:
            with scope:  # cancelled, it leaves the thread to itself
                await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=threads.limiter)

        future, work = threads.piece_of_work(run)
        # A scope is entered once, and a generator takes a thread for each step.
        self._scope = anyio.CancelScope()
        trio.lowlevel.spawn_system_task(take_thread, self._scope)
        return future

    def _run(self, function: Callable[[], T]) -> T:
        if not KNOWN:
            return function()
        with claim_worker_thread(self._backend, self._token):
            threadlocals.current_cancel_scope = self._scope
            try:
                return function()
            finally:
                del threadlocals.current_cancel_scope
