"""``User``: the user's side in a script of a whole conversation, over turns and connections."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self, TypeAlias

import anyio

from livetools.testing.model.turn import Turn, TurnCancelled

from .fake_session import FakeSession

WHATEVER = "anything that the user says"


class User:
    """The user, in a script of a whole conversation.

    ::

        @server.conversation
        async def script(user):
            turn = await user.says("slow one")
            await turn.start_call("slow", seconds=1)
            await turn.drop()
            await user.reconnects(handle=True)
            assert "slept" in (await user.says()).text
            await turn.say("Done.")

    A user who speaks on after the script's end fails it; ``async for turn in user`` reads turns as long as they come.
    """

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.done = False  # the script has returned
        self._turns: deque[Turn] = deque()
        self._arrivals: deque[bool] = deque()  # of connections after the first: with our handle or without
        self._news = anyio.Event()
        self._waits_for: str | None = None  # what the script waits for now
        self._rest = anyio.Event()  # set while it waits, and when it has ended

    async def says(self, text: str | None = None) -> Turn:
        """End the model's turn, and wait for the user's next one.

        Raises ``AssertionError`` if ``text`` is given and the user says something else. If the script still waits here
        when the test ends, the test fails.
        """
        turn = await self._next("the user to speak" if text is None else f"the user to say {text!r}")
        if text is not None and turn.text.strip() != text.strip():
            raise AssertionError(f"the user says {turn.text!r}, the script expects {text!r}")
        return turn

    def __aiter__(self) -> Self:
        """Every turn of the user from now on. A script may wait in ``async for turn in user`` when the test ends."""
        return self

    async def __anext__(self) -> Turn:
        return await self._next(WHATEVER)

    async def _next(self, awaited: str) -> Turn:
        await self.end_turn()
        while not self._turns:
            await self._wait(awaited)
        turn = self._turns.popleft()
        self.session.start(turn)
        return turn

    async def reconnects(self, handle: bool | None = None) -> None:
        """Wait for the client to connect again.

        Raises ``AssertionError`` if ``handle`` is true and the client brings no handle of this server, or false and it
        does.
        """
        self.session.queue.speaker = None
        while not self._arrivals:
            await self._wait("the client to connect again")
        brought = self._arrivals.popleft()
        if handle is not None and brought is not handle:
            said = "with a handle" if brought else "without a handle"
            raise AssertionError(f"the client reconnects {said}, the script expects the opposite")

    async def end_turn(self) -> None:
        """What ends the model's turn, if one is under way and there is somebody to tell."""
        session = self.session
        if session.queue.speaker is not None and session.connection is not None:
            await session.end_turn()
        session.queue.speaker = None

    async def hear(self, turn: Turn) -> None:
        """The user has spoken. If the script has ended, the test fails at once."""
        self._turns.append(turn)
        self._tell()
        if self.done:
            await self._left_over()

    def arrived(self, *, with_handle: bool) -> None:
        self._arrivals.append(with_handle)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._moves()

    async def _wait(self, awaited: str) -> None:
        self._news, self._waits_for = anyio.Event(), awaited
        self._rest.set()
        await self._news.wait()
        self._moves()

    def _moves(self) -> None:
        """The script runs on, or is about to."""
        if not self.done and self._rest.is_set():
            self._rest, self._waits_for = anyio.Event(), None

    async def end(self, *, played: bool) -> None:
        """The script has ended, ``played`` or by its own fault."""
        self.done, self._waits_for = True, None
        self._rest.set()
        if played and self._turns:
            await self._left_over()

    async def _left_over(self) -> None:
        turn = self._turns.popleft()
        said = f"says {turn.text!r}" if turn.text else "speaks"
        error = AssertionError(f"the user {said}, and the script has ended")
        await self.session.fail(error)

    async def at_rest(self) -> None:
        """Return when the script has ended, or waits for its user and has heard all that came."""
        while not self._rest.is_set():
            await self._rest.wait()

    @property
    def unplayed(self) -> str | None:
        """What the script still waits for; ``None`` if it has ended, or if it may wait without end."""
        return None if self._waits_for == WHATEVER else self._waits_for


ConversationScript: TypeAlias = Callable[[User], Awaitable[None]]


async def play(script: ConversationScript, user: User) -> None:
    """Run a script to its end. What it raises is the server's to tell, when it is left."""
    played = True
    try:
        await script(user)
        await user.end_turn()
    except TurnCancelled as error:
        user.session.service.note(f"the script ended early: {error}")
    except Exception as error:
        played = False
        await user.session.fail(error)
    finally:
        await user.end(played=played)
