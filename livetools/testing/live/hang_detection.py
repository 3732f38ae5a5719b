"""Fails a test that would hang: its script is over, and the program still waits for the model.

Once every script has ended, nothing is pending, and a connected program has
sent nothing but media for ``patience`` seconds of real time, the conversation fails with the frames. A test that moves
a :class:`~livetools.testing.FakeClock` is never failed: it controls the time itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from livetools.testing.service import Service
from livetools.testing.settings.fake_clock import FakeClock

if TYPE_CHECKING:
    from .fake_session import FakeSession

_LOOK = 0.1  # seconds between two looks


async def outwait(service: Service, session: FakeSession, scripts_over: Callable[[], bool]) -> None:
    """Watch a conversation whose script has ended, until it fails or the server is left."""
    since = looked = time.monotonic()
    heard = service.heard
    while not service.leaving:
        await anyio.sleep(_LOOK)
        patience, now = service.patience, time.monotonic()
        # While the loop is blocked, as by a debugger, nobody can continue.
        since += max(0.0, now - looked - 2 * _LOOK)
        looked = now
        busy = session.connection is None or service.log.unanswered() or not session.queue.empty
        speaks, heard = service.heard != heard, service.heard
        if busy or speaks or patience is None or isinstance(service.clock, FakeClock) or not scripts_over():
            since = now
        if patience is not None and now - since >= patience:
            return await session.fail(
                AssertionError(
                    f"the script is over, and the program has sent nothing for {patience:g} s: it waits for something"
                    " that does not come (live_server.patience = None lets it wait)"
                ),
                "the conversation",
            )
    return None
