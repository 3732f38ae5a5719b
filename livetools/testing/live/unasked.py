"""Begins turns of the model without a user turn: proactive speech, and speech after a reconnect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio

from livetools.testing.service import Service
from livetools.testing.turn import Turn, TurnCancelled

from .turn_queue import TurnQueue


class Conversation(Protocol):
    """The part that is used here of a :class:`~livetools.testing.live.session.FakeSession`."""

    service: Service
    queue: TurnQueue
    connection: Any  # None while none is open
    script: Callable[[Turn], Awaitable[None]] | None

    async def end_turn(self) -> None: ...

    async def turn_comes(self, turn: Turn) -> None: ...

    async def run(self, turn: Turn, model: Callable[[Turn], Awaitable[None]] | None = None) -> None: ...


async def speak(session: Conversation, turn: Turn, text: str, audio: bytes | None) -> None:
    """Say this in ``turn``, once nobody else speaks, and end it. Raises ``TurnCancelled`` if it was not said.

    The turn runs in a task of its own, so cancelling the caller does not leave half a turn behind.
    """
    if session.connection is None:
        raise TurnCancelled("no connection is open")
    if session.script is not None and session.queue.speaker is not None:
        await session.end_turn()  # as the script's next step would
    ended = anyio.Event()

    async def say() -> None:
        try:
            await session.turn_comes(turn)
            await session.run(turn, lambda turn: turn.say(text, audio))
        except TurnCancelled:
            turn.over = True
        finally:
            ended.set()

    session.service.start_task(say)
    await ended.wait()
    if turn.over:
        raise TurnCancelled("the client has interrupted this turn, or its connection is lost")
