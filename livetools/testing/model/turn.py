"""``Turn``: what a pretend model can do in a user turn: call, speak, interrupt, close or drop the connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias

import anyio

from livetools.testing.settings.fault_switches import Fault
from livetools.testing.wire import Message

from .fake_call import FakeCall


class TurnCancelled(Exception):
    """The call was cancelled, or its connection is lost. A pretend model need not catch it."""


class TurnChannel(Protocol):
    """What a turn speaks through: a Live session, or one request by REST."""

    @property
    def id(self) -> str: ...

    @property
    def setup(self) -> Message: ...

    @property
    def history(self) -> list[Message]:
        """The conversation as ``contents``."""
        ...

    def declarations(self) -> dict[str, Message]:
        """The declared functions, by name."""
        ...

    def call(self, id: str) -> FakeCall: ...

    async def ask(self, turn: Turn, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[FakeCall]: ...

    async def answer(self, turn: Turn, call: FakeCall) -> Message: ...

    async def say(self, turn: Turn, text: str, audio: bytes | None) -> None: ...

    async def send_raw(self, turn: Turn, frame: Message | str | bytes) -> None: ...

    async def cancel(self, turn: Turn | None, ids: Iterable[str] = ()) -> None: ...

    async def say_interrupted(self, turn: Turn | None = None) -> None: ...

    async def go_away(self, left: float | None) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...

    async def drop(self) -> None: ...

    async def fault(self, turn: Turn, kind: Fault) -> None: ...


_CLOSE_CODES = {*range(1000, 1016), *range(3000, 5000)} - {1004}  # which means nothing


class Turn:
    """One turn of the pretend model.

    ``text``: what the user typed, or said and a hook transcribed. ``audio``: what the microphone sent (16-bit mono
    PCM). ``setup``: the client's setup in camelCase. ``session``: the conversation. Every method raises
    :class:`TurnCancelled` once the client has interrupted this turn or its connection is lost.

    ::

        async def model(turn):
            if "weather" in turn.text:
                weather = await turn.call("get_weather", city="Oslo")
                await turn.say(f"It is {weather['output']}.")
            else:
                await turn.drop()  # the connection breaks

        async with FakeLiveServer(model) as server, connect(MODEL, tools=[get_weather], **server.options) as session:
            print(await session.ask("Is the weather good?"))
    """

    def __init__(self, session: TurnChannel, text: str = "", audio: bytes = b"") -> None:
        self.session = session
        self.text = text
        self.audio = audio
        self.scope: anyio.CancelScope | None = None
        self.over = False  # interrupted by the client, or cut off: nothing more is sent for it
        self.suppressed = False  # its answers were SILENT: it has nothing to say
        self.wake: anyio.Event | None = None  # set when it may speak again

    @property
    def setup(self) -> Message:
        return self.session.setup

    async def call(self, name: str, /, **args: Any) -> Message:  # any JSON value
        """Call a function and return the ``response`` object of its answer.

        For a ``NON_BLOCKING`` function the model's turn ends meanwhile, as in the service, and what the
        model says afterwards is another turn.
        """
        return (await self.calls((name, args)))[0]

    async def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[Message]:
        """Call several functions in one ``toolCall``, wait for all, and return the responses in the same order."""
        asked = await self.session.ask(self, calls)
        return [await self.session.answer(self, call) for call in asked]

    async def start_call(self, name: str, /, **args: Any) -> str:
        """Call a function without waiting. Returns the id, for :meth:`answer` or :meth:`cancel`."""
        (call,) = await self.session.ask(self, ((name, args),))
        return call.id or call.name

    async def answer(self, id: str) -> Message:
        """Wait for the answer to a call; for a generator, wait for its end."""
        return await self.session.answer(self, self.session.call(id))

    async def say(self, text: str, audio: bytes | None = None) -> None:
        """Say this as the setup asks: as text in pieces, or as audio, with a transcript if the setup asks for one.

        ``audio`` is 16-bit mono PCM at 24 kHz; without it, a tone as long as the words would take.
        """
        await self.session.say(self, text, audio)

    async def send(self, frame: Message | str | bytes) -> None:
        """Send any frame: an object as JSON, a string or bytes as they are (a text or a binary frame).

        The calls and cancellations in an object are counted like the model's own.
        """
        await self.session.send_raw(self, frame)

    async def cancel(self, *ids: str) -> None:
        """Send ``toolCallCancellation``; without ids, for every open call. Nothing else happens."""
        await self.session.cancel(self, ids)

    async def interrupt(self) -> None:
        """Send ``interrupted`` and the ``turnComplete`` that follows it. What it says afterwards is a new turn."""
        await self.session.say_interrupted(self)

    async def go_away(self, seconds: float | None = 10.0) -> None:
        """Announce that the connection ends in ``seconds``; ``None`` leaves the time out."""
        await self.session.go_away(seconds)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection, with the reason cut at 123 bytes.

        Raises ``ValueError`` for what is not a close code, or not a text.
        """
        # 1005, 1006 and 1015 break the line, which is what they mean.
        if code not in _CLOSE_CODES:
            raise ValueError(f"{code!r:.40} is not a close code: there are 1000 to 1015 and 3000 to 4999")
        if not hasattr(reason, "encode"):
            raise ValueError(f"the reason of a close is a text, not {reason!r:.40}")
        await self.session.close(code, reason)

    async def drop(self) -> None:
        """Cut the connection without a close frame: the client sees 1006."""
        await self.session.drop()

    async def fault(self, kind: Fault) -> None:
        """Misbehave once, now: see :class:`~livetools.testing.Faults`."""
        await self.session.fault(self, kind)


ModelFunction: TypeAlias = Callable[[Turn], Awaitable[None]]
"""A pretend model: it answers one turn of the user."""
