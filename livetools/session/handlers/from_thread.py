"""Lets sync tools call back into their event loop: ``anyio.from_thread``, on trio ``trio.from_thread`` too.

Sync tools run in daemon threads of our own, which neither library knows. anyio keeps what its own worker threads know
in variables of the thread, and so does trio. They are no public names: where one of them is missing, everything else
works, and only these calls raise, as in any thread that is not theirs. Tried with anyio 4.9 and 4.16, trio 0.34.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn, TypeVar

import anyio

from livetools.transport.loop.wake import on_trio, this_loop

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
        self._trios = _trios_variables() if on_trio() else None
        # What trio's ``check_cancelled`` calls in the thread: a list of one, which trio calls a cancel register.
        self._raise: list[Callable[[], NoReturn] | None] = [None]

    def cancel(self) -> None:
        """The call was cancelled. In the loop."""
        self._scope.cancel()
        self._raise[0] = _raise_cancelled

    def run(self, function: Callable[[], T]) -> T:
        """Run the function in this thread, from which it may call back."""
        with ExitStack() as variables:
            if KNOWN:
                variables.enter_context(claim_worker_thread(self._backend, self._token))
                variables.enter_context(_set(threadlocals, current_cancel_scope=self._scope))
            if self._trios is not None:
                trios = {"token": self._token, "abandon_on_cancel": True, "task_register": [None]}
                variables.enter_context(_set(self._trios, **trios, cancel_register=self._raise))
            return function()


@contextmanager
def _set(local: Any, **values: object) -> Iterator[None]:
    """Set these variables of the thread, and delete them at the end."""
    vars(local).update(values)
    try:
        yield
    finally:
        for name in values:
            delattr(local, name)


def _trios_variables() -> Any:
    """What a thread of trio's knows, which its functions read; ``None``: it is not where it was."""
    return sys.modules["trio"].from_thread.run_sync.__globals__.get("PARENT_TASK_DATA")


def _raise_cancelled() -> NoReturn:
    raise CancelledError("the call was cancelled")
