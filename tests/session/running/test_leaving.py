"""The numbers of leaving fit into each other, and nothing keeps a session longer than the worst case."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.waiting import running_time

from livetools import Hooks, Tool
from livetools.events import InputTranscript
from livetools.session.running import leaving
from livetools.transport.websocket_connection import CLOSE_TIMEOUT

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]

WORST_CASE = leaving.LEAVE + leaving.CANCELLED_END


def test_every_step_fits_into_the_one_around_it() -> None:
    assert 2 * leaving.HANDLERS_END < leaving.LAST_WORDS, "what handlers have done can still be undone"
    assert CLOSE_TIMEOUT < leaving.LAST_WORDS, "a closing handshake may take its time"
    assert leaving.LAST_WORDS < leaving.LEAVE, "the newest handle is saved behind them"
    assert WORST_CASE == 7.0


async def swallow() -> None:
    """Go on, whatever is cancelled."""
    while True:
        try:
            await anyio.sleep_forever()
        except BaseException:
            continue


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::RuntimeWarning")
async def test_nothing_keeps_a_session_longer_than_the_worst_case(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A coroutine, an undo and a hook that swallow each cancellation, and a thread that does not return."""
    for name in ("LEAVE", "LAST_WORDS", "HANDLERS_END", "CANCELLED_END"):
        monkeypatch.setattr(leaving, name, getattr(leaving, name) / 20)
    release, began = threading.Event(), threading.Semaphore(0)

    async def stubborn() -> None:
        began.release()
        await swallow()

    def blocks() -> None:
        began.release()
        release.wait()

    async def undo(call: object, result: object) -> None:
        await swallow()

    class Stubborn(Hooks):
        async def on_input(self, transcript: InputTranscript) -> None:
            began.release()
            await swallow()

    with running_time() as passed, contextlib.ExitStack() as behind:
        behind.callback(release.set)
        async with opened([stubborn, Tool(blocks, undo=undo)], hooks=[Stubborn()]) as line:
            line.server.send({"serverContent": {"inputTranscription": {"text": "Book!"}}})
            line.call(
                {"name": "stubborn", "id": "c1", "args": {}}, {"name": "blocks", "id": "c2", "args": {}}
            )
            with anyio.fail_after(30):
                for _ in range(3):
                    while not began.acquire(blocking=False):
                        await anyio.sleep(0.001)
            left = passed.seconds
        assert passed.seconds - left < WORST_CASE + 1.0, "a second for a busy machine"
