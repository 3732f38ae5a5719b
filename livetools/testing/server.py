"""A Live server to test against: a websocket that speaks as the service does, and a model you write.

::

    async with FakeLiveServer() as server:
        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.")

        async with livetools.connect("gemini-3.8-live", tools=[get_weather], **server.options) as session:
            assert str(await session.ask("Weather in Oslo?")) == "It is 12 °C, rain."
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import anyio
from anyio.abc import ByteStream
from anyio.from_thread import BlockingPortal, start_blocking_portal
from websockets.http11 import Request

from livetools.protocol.profiles import ModelProfile, find
from livetools.session.clock import Clock, SystemClock

from . import guest, rest
from .calls import FakeCall
from .connection import Connection, Receiver
from .conversation import Script
from .faults import Faults
from .journal import Journal
from .limits import Limits
from .lobby import Lobby
from .playback import Playback
from .port import Port
from .reception import Reception
from .recording import Recording
from .session import FakeSession
from .tokens import Tokens
from .turn import Talk, Turn
from .urls import Address
from .vad import ActivityDetector, EnergyDetector
from .wire import Frame, Message

logger = logging.getLogger("livetools.testing")

Model: TypeAlias = Callable[[Turn], Awaitable[None]]

LAST_ANSWERS = 0.25  # seconds that answers under way are given when the server is left


async def echo(turn: Turn) -> None:
    """The model of a server that has none: it says what it heard."""
    await turn.say(turn.text or f"I heard {len(turn.audio)} bytes of sound.")


class FakeLiveServer(Address):
    """The Live service on a local port, with a pretend model.

    ``model`` is a coroutine a user turn (``None`` echoes); :meth:`model` and :meth:`conversation` set it
    later. ``profile`` is a :class:`~livetools.ModelProfile` or a model's name whose manners it has;
    ``None`` follows the setup. ``strict`` closes for what the service closes for; ``tls`` makes it
    ``wss://`` with a certificate of its own; ``port`` 0 takes a free one; ``api_keys`` are the keys it
    accepts (``None``: any). ``clock`` times handles and goAways, ``seed`` makes the ids.

    Attributes to set before a client comes: ``pace`` (0: sound goes out as fast as it can; 1: in real time,
    and ``turnComplete`` when it would have been played), ``hold`` (1: sound goes out at once, and ``turnComplete``
    when it would have been played, as the service has it), ``limits`` (when goAway comes, how long a handle
    lasts; see :mod:`livetools.testing.limits`), ``faults`` (see :mod:`livetools.testing.faults`), ``detector``
    (hears speech begin and end), ``transcriber`` (from PCM and rate to what was said).

    As an async context manager it runs in the caller's loop, asyncio or trio; with :meth:`start` and
    :meth:`stop` in a thread with a loop of its own. Leaving it raises ``AssertionError`` when a call was
    left unanswered, an answer came after its cancellation, a script was not played out, or the model raised.
    When the body raised something itself, that comes out, unless a script had raised before, or a model had and
    the body met a :class:`~livetools.LiveToolsError`.
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        profile: ModelProfile | str | None = None,
        strict: bool = True,
        tls: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        api_keys: Iterable[str] | None = None,
        clock: Clock | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(Port(host, port), tls)
        self.profile = profile
        self.strict = strict
        self.api_keys = None if api_keys is None else frozenset(api_keys)
        self.clock = clock or SystemClock()
        self.chance = random.Random(seed)
        self.journal = Journal()
        self.limits = Limits()
        self.faults = Faults()
        self.pace = 0.0
        self.hold = 0.0
        self.detector: Callable[[Mapping[str, Any]], ActivityDetector] = EnergyDetector
        self.transcriber: Callable[[bytes, int], str] | None = None
        self.tokens = Tokens()
        self.lobby = Lobby(self)
        self.reception = Reception(self)
        self.playback: Playback | None = None
        self.recording: Recording | None = None
        self._model = model or echo
        self._thread: tuple[AbstractContextManager[BlockingPortal], BlockingPortal] | None = None

    # -- what it answers with

    def model(self, function: Model) -> Model:
        """A decorator: this coroutine answers every user turn, one at a time a session."""
        self._model, self.lobby.script = function, None
        return function

    def conversation(self, function: Script) -> Script:
        """A decorator: this coroutine, one a session, answers over turns and connections."""
        self.lobby.script = function
        return function

    # -- where it is

    @property
    def options(self) -> dict[str, Any]:  # keyword arguments of connect, of several types
        """What ``livetools.connect`` needs to come here: ``connect(model, **server.options)``."""
        key = min(self.api_keys) if self.api_keys else "fake-key"
        options: dict[str, Any] = {"base_url": self.url, "api_key": key}
        if self.tls:
            from livetools.session.websocket import WebSocket

            options["transport"] = WebSocket(ssl=self.ssl_context)
        return options

    # -- what happened

    @property
    def frames(self) -> list[Frame]:
        """Every frame of both directions, in order."""
        return self.journal.frames

    @property
    def calls(self) -> list[FakeCall]:
        """Every call of the model, with its answer."""
        return self.journal.calls

    @property
    def log(self) -> list[str]:
        """Why it refused, ignored or forgave what it did, a line each."""
        return self.journal.log

    @property
    def sessions(self) -> list[FakeSession]:
        """Every conversation, in the order of their beginnings."""
        return self.lobby.sessions

    def unanswered(self) -> list[FakeCall]:
        """The calls that nobody has answered, cancelled or lost."""
        return self.journal.unanswered()

    def assert_all_answered(self) -> None:
        """Raise ``AssertionError`` if a call is unanswered, was answered too late, or the model raised."""
        self.journal.assert_all_answered()

    # -- recordings

    @classmethod
    def replay(cls, path: str | Path, *, pace: float = 0.0, **options: Any) -> Self:  # as of the constructor
        """A server that plays a recording: its server's frames as they were, its client's frames expected.

        ``pace`` 1 keeps the recorded times, 0 waits for nothing. A client that says something else is told
        so in the close, and leaving the server raises with the differences. Sound and pictures are not
        compared.
        """
        server = cls(**options)
        server.playback = Playback(Recording.load(path), pace)
        return server

    # -- its life

    async def __aenter__(self) -> Self:
        await self._up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._down()
        self._judge(error)

    def _judge(self, error: BaseException | None) -> None:
        """Raise ``AssertionError`` for what went wrong here, unless ``error`` was raised already.

        What a script raised comes before that, and what a model raised where it is why the client met an error.
        """
        if error is None or self.journal.explains(error):
            self.assert_all_answered()

    def start(self) -> Self:
        """Run in a thread with an event loop of its own, for programs and tests that have none."""
        manager = start_blocking_portal("asyncio", name="livetools fake server")
        portal = manager.__enter__()
        try:
            portal.call(self._up)
        except BaseException:
            manager.__exit__(None, None, None)
            raise
        self._thread = (manager, portal)
        return self

    def check(self, error: BaseException | None = None) -> None:
        """Raise what leaving would raise, while the server of :meth:`start` goes on.

        ``error`` is what the test has raised, if it has.
        """
        if self._thread is not None:
            self._thread[1].call(self._rest)
        self._judge(error)

    async def _rest(self) -> None:
        with anyio.move_on_after(LAST_ANSWERS):
            await self.lobby.at_rest()
        self.journal.unplayed = self.lobby.unplayed()

    def stop(self, *, check: bool = True) -> None:
        """End what :meth:`start` began; idempotent. With ``check`` it raises as leaving the context does."""
        if self._thread is None:
            return
        (manager, portal), self._thread = self._thread, None
        try:
            portal.call(self._down)
        finally:
            manager.__exit__(None, None, None)
        if check:
            self.assert_all_answered()

    async def _up(self) -> None:
        await self.listener.open(self.reception.serve, self._farewell, self.failed)

    async def _farewell(self) -> None:
        """Answers under way may arrive, and scripts run on; then everybody goes home."""
        standing = {each.number for each in self.reception.connections if each.open}
        with anyio.move_on_after(LAST_ANSWERS):
            for call in self.unanswered():
                if call.connection in standing:
                    await call.done.wait()
        await self._rest()
        await self.reception.farewell()

    async def _down(self) -> None:
        await self.listener.close()

    # -- tokens

    def mint_token(self, *, uses: int = 1, setup: Message | None = None) -> str:
        """An ephemeral token, ``auth_tokens/…``, good for ``uses`` sessions (0: any number).

        They are opened within a minute. What ``setup`` holds (camelCase) replaces the client's own words.
        """
        name = f"auth_tokens/{self.chance.getrandbits(128):032x}"
        return self.tokens.mint(name, self.clock.now(), uses, setup)

    # -- for the rooms behind the reception

    @property
    def lag(self) -> float:
        return self.faults.slow_pong

    def manners(self, model: str, *, vertex: bool) -> ModelProfile:
        """How to behave to a client that asks this endpoint for this model."""
        if isinstance(self.profile, ModelProfile):
            return self.profile
        return find(self.profile or model, vertex=vertex)

    def admit(self, connection: Connection, request: Request) -> AbstractAsyncContextManager[Receiver]:
        """What takes the frames of this client: a conversation, or the recording that is played."""
        house = guest if self.playback is None else self.playback
        return house.admit(self, connection, request)

    def record(self, direction: Literal["client", "server"], connection: int, message: Message) -> None:
        """Enter a frame in the journal."""
        frame = Frame(self.clock.now(), direction, connection, message)
        self.journal.keep(frame)
        if self.recording is not None:
            self.recording.add(frame)

    def note(self, text: str) -> None:
        self.journal.note(text)

    async def answer_turn(self, turn: Turn) -> None:
        await self._model(turn)

    async def model_failed(self, session: Talk, error: Exception, *, scripted: bool = False) -> None:
        """The model or a script raised: the client sees what a failing service shows, the test gets the error.

        Whoever dials after that is refused with the error's text: a client that reconnects would do so for ever.
        """
        self.journal.fail("the pretend model", error, scripted=scripted)
        await session.close(1011, "Internal error encountered.")

    def failed(self, error: Exception) -> None:
        """A task of a connection raised: a hook of the test's, or this server itself."""
        logger.error("a task of the fake server failed", exc_info=error)
        self.journal.fail("a task of the fake server", error)

    async def http(self, stream: ByteStream, head: bytes) -> None:
        """Answer a plain HTTP request."""
        await rest.serve(self, stream, head)
