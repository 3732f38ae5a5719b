"""A script of a whole conversation: one coroutine over turns and connections."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from .roles import Session
from .turn import Turn, TurnCancelled


class User:
    """The other side of a script.

    ::

        @server.conversation
        async def script(user):
            turn = await user.says("slow one")
            await turn.start_call("slow", seconds=1)
            await turn.drop()
            await user.reconnects(handle=True)
            assert "slept" in (await user.says()).text
            await turn.say("Done.")
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.done = False  # the script has returned
        self._turns: deque[Turn] = deque()
        self._arrivals: deque[bool] = deque()  # of connections after the first: with our handle or without
        self._news = anyio.Event()

    async def says(self, text: str | None = None) -> Turn:
        """End the model's turn, and wait for the user's next one.

        Raises ``AssertionError`` if ``text`` is given and the user says something else.
        """
        await self.end_turn()
        while not self._turns:
            await self._wait()
        turn = self._turns.popleft()
        self.session.floor.take(turn)
        if text is not None and turn.text.strip() != text.strip():
            raise AssertionError(f"the user says {turn.text!r}, the script expects {text!r}")
        return turn

    async def reconnects(self, handle: bool | None = None) -> None:
        """Wait for the next connection.

        Raises ``AssertionError`` if ``handle`` is true and it brings none of ours, or false and it does.
        """
        self.session.floor.speaker = None
        while not self._arrivals:
            await self._wait()
        brought = self._arrivals.popleft()
        if handle is not None and brought is not handle:
            said = "with a handle" if brought else "without a handle"
            raise AssertionError(f"the client reconnects {said}, the script expects the opposite")

    async def end_turn(self) -> None:
        """What ends the model's turn, if one is under way and there is somebody to tell."""
        floor = self.session.floor
        if floor.speaker is not None and self.session.connection is not None:
            await floor.leave()
        floor.speaker = None

    async def hear(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._tell()

    def arrived(self, *, with_handle: bool) -> None:
        self._arrivals.append(with_handle)
        self._tell()

    def _tell(self) -> None:
        self._news.set()

    async def _wait(self) -> None:
        self._news = anyio.Event()
        await self._news.wait()


Script: TypeAlias = Callable[[User], Awaitable[None]]


async def play(script: Script, user: User) -> None:
    """Run a script to its end. What it raises is the server's to tell, when it is left."""
    server = user.session.server
    try:
        await script(user)
        await user.end_turn()
    except TurnCancelled as error:
        server.note(f"the script ended early: {error}")
    except Exception as error:
        await server.model_failed(user.session, error)
    finally:
        user.done = True
