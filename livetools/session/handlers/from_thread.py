"""Lets sync tools call back into their event loop: ``anyio.from_thread``, on trio ``trio.from_thread`` too.

Sync tools run in daemon threads of our own, which neither library knows. anyio keeps what its own worker threads know
in variables of the thread, and so does trio. They are no public names: where one of them is missing, everything else
works, and only these calls raise, as in any thread that is not theirs. Tried with anyio 4.9 and 4.16, trio 0.34.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn, TypeVar

import anyio

from livetools.transport.loop.wake import on_trio

T = TypeVar("T")

try:
    from anyio._core import _eventloop as anyios
except ImportError:  # another anyio
    anyios = None  # type: ignore[assignment]
NEEDED = ("claim_worker_thread", "get_async_backend", "threadlocals")
KNOWN = all(hasattr(anyios, name) for name in NEEDED)


class FromThread:
    """From a thread to the loop in which this is made. ``cancel``: ``check_cancelled`` raises from then on."""

    def __init__(self) -> None:
        self._scope = anyio.CancelScope()
        self._trio = sys.modules["trio"] if on_trio() else None
        self._token: Any = (
            asyncio.get_running_loop() if self._trio is None else self._trio.lowlevel.current_trio_token()
        )
        self._backend: Any = anyios.get_async_backend() if KNOWN else None
        self._raise: list[Callable[[], NoReturn] | None] = [None]

    def cancel(self) -> None:
        """The call was cancelled. In the loop."""
        self._scope.cancel()
        self._raise[0] = _raise_cancelled

    def run(self, function: Callable[[], T]) -> T:
        """Run the function in this thread, from which it may call back."""
        with self._as_anyios() if KNOWN else nullcontext(), self._as_trios():
            return function()

    @contextmanager
    def _as_anyios(self) -> Iterator[None]:
        with anyios.claim_worker_thread(self._backend, self._token):
            anyios.threadlocals.current_cancel_scope = self._scope
            try:
                yield
            finally:
                del anyios.threadlocals.current_cancel_scope

    @contextmanager
    def _as_trios(self) -> Iterator[None]:
        known = None if self._trio is None else _trios_variables(self._trio)
        if known is None:
            yield
            return
        known.token, known.abandon_on_cancel = self._token, True
        known.cancel_register, known.task_register = self._raise, [None]
        try:
            yield
        finally:
            del known.token, known.abandon_on_cancel, known.cancel_register, known.task_register


def _trios_variables(trio: Any) -> Any:
    """What a thread of trio's knows, which its functions read."""
    return trio.from_thread.run_sync.__globals__.get("PARENT_TASK_DATA")


def _raise_cancelled() -> NoReturn:
    raise CancelledError("the call was cancelled")
