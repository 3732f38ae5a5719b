"""``FakeLiveServer``: a websocket server that behaves as the Live API, with a model that you write.

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

import inspect
import random
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio
from anyio.abc import ByteStream
from anyio.from_thread import BlockingPortal, start_blocking_portal
from websockets.http11 import Request

from livetools.errors import ConfigError
from livetools.log import get_logger
from livetools.session.running.clock import Clock, SystemClock
from livetools.setup.did_you_mean import explains_keywords
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan_fields import ValueCheck, check
from livetools.tools.definition.callbacks import overrides

from .auth.ephemeral_tokens import Tokens
from .live import handshake
from .live.conversation_script import ConversationScript
from .live.fake_session import FakeSession
from .live.resumption import SessionRegistry
from .model.fake_call import FakeCall
from .model.turn import ModelFunction, Turn
from .net.accept import Acceptor
from .net.connection import Receiver, ServerConnection
from .net.port import Port
from .net.urls import Address
from .recording_playback import RecordingPlayback
from .recordings.jsonl_file import Recording
from .rest import endpoints
from .service import Service
from .settings.fault_switches import Faults
from .settings.time_limits import Limits
from .settings.vad import ActivityDetector
from .wire import Frame, Message

log = get_logger("livetools.testing")
T = TypeVar("T")

LAST_ANSWERS = 0.25  # seconds that answers under way are given when the server is left


async def echo(turn: Turn) -> None:
    """The default model: it repeats what the user said."""
    await turn.say(turn.text or f"I heard {len(turn.audio)} bytes of sound.")


def require_async(function: object, parameter: str) -> None:
    """Raise ``ConfigError`` for a function without ``async``: it would fail in the first turn, and far from here."""
    __tracebackhide__ = True  # pytest shows the line of the decorator
    written = inspect.unwrap(function) if callable(function) else None
    called = written if inspect.isroutine(written) else getattr(written, "__call__", None)  # noqa: B004
    anonymous = getattr(called, "__name__", "") == "<lambda>"  # it may return a coroutine
    if inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(written) or anonymous:
        return
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(written, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    raise ConfigError(
        f"{name}{place} is not a coroutine function, and the fake server awaits it: async def {name}({parameter}): ..."
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_clock(value: object) -> bool:
    return all(overrides(value, Clock, name) for name in ("now", "sleep_until"))


#: What the switches of a server take, and how an error says it.
SWITCHES: Mapping[str, ValueCheck] = {
    "profile": (
        lambda v: v is None or isinstance(v, ModelProfile) or (isinstance(v, str) and bool(v.strip())),
        "a ModelProfile, the name of a model, or None",
    ),
    "strict": (lambda v: isinstance(v, bool), "True or False"),
    "clock": (_is_clock, "a Clock, such as FakeClock()"),
    "limits": (lambda v: isinstance(v, Limits), "a Limits, such as Limits(go_away=60)"),
    "faults": (lambda v: isinstance(v, Faults), "a Faults, such as Faults(drop=0.1)"),
    **dict.fromkeys(("pace", "hold"), (_is_number, "a number from 0 on, such as 1")),
    "detector": (callable, "a class such as EnergyDetector, or another callable that makes a detector"),
    "transcriber": (lambda v: v is None or callable(v), "a function of PCM and a rate, or None"),
    "recording": (lambda v: v is None or isinstance(v, Recording), "a Recording, or None"),
    "patience": (lambda v: v is None or _is_number(v), "a number of seconds, or None for no limit"),
}

_PLACE: Mapping[str, ValueCheck] = {
    "host": (lambda v: isinstance(v, str) and bool(v), "an address, such as 127.0.0.1"),
    "port": (lambda v: type(v) is int and 0 <= v < 2**16, "a whole number from 0 to 65535, 0 for a free one"),
}


class _Switch(Generic[T]):
    """An attribute of the server that its parts read from the :class:`~livetools.testing.service.Service`."""

    def __set_name__(self, owner: type[FakeLiveServer], name: str) -> None:
        self._name = name

    def __get__(self, server: FakeLiveServer | None, owner: type[FakeLiveServer]) -> T:
        if server is None:  # asked of the class, as documentation tools do
            raise AttributeError(self._name)
        value: T = getattr(server.service, self._name)
        return value

    def __set__(self, server: FakeLiveServer, value: T) -> None:
        """Raises ``ConfigError`` for a value that the switch does not take."""
        check({self._name: value}, {self._name: SWITCHES[self._name]} if self._name in SWITCHES else {})
        setattr(server.service, self._name, value)


@explains_keywords(
    **dict.fromkeys(("api_key", "key", "keys"), "api_keys=[...]"),
    **dict.fromkeys(("ssl", "https", "secure"), "tls="),
    **dict.fromkeys(("handler", "respond", "answer"), "model="),
    **dict.fromkeys(("script", "conversation"), "@server.conversation"),
    **{
        name: f"server.{name} = ..., before a client connects"
        for name in ("faults", "limits", "pace", "hold", "detector")
    },
)
class FakeLiveServer(Address):
    """A fake Live API on a local port. You write the model.

    ``model``: a coroutine that is called for each user turn (without one, the server echoes the user);
    :meth:`model` and :meth:`conversation` set it later. ``profile``: a :class:`~livetools.ModelProfile` or the name
    of the model to imitate; ``None``: the model of the client's setup. ``strict``: refuse what the service refuses.
    ``tls``: serve ``wss://`` with a self-made certificate. ``port``: 0 chooses a free one. ``api_keys``: the keys
    that are accepted (``None``: any). ``clock`` times handles and goAways; ids are made from ``seed``.

    Set these attributes before a client connects: ``pace`` (0: send audio as fast as possible; 1: in real time, with
    ``turnComplete`` when it would have been played), ``hold`` (1: send audio at once, and ``turnComplete`` when it
    would have been played, like the service), ``limits`` (when goAway comes, how long a handle lasts; see
    :class:`~livetools.testing.Limits`), ``faults`` (see :class:`~livetools.testing.Faults`), ``detector`` (detects
    speech), ``transcriber`` (turns PCM and a rate into text), ``patience``: once the script of a conversation is over
    and nothing is pending, the test fails if the program is still connected and sends nothing but media for so many
    seconds of real time (5; ``None``: never; nor with a :class:`~livetools.testing.FakeClock`).

    As an async context manager it runs in the caller's event loop, asyncio or trio; with :meth:`start` and :meth:`stop`
    it runs in a thread with its own loop. Leaving it raises ``AssertionError`` if a call is unanswered, an answer came
    after a cancellation, a script was not played to its end, or the model raised. When the body raised something
    itself, that comes out, unless a script had raised before, or a model had and the body met a
    :class:`~livetools.LiveToolsError`.

    ::

        async with FakeLiveServer() as server:
            @server.model
            async def model(turn):
                weather = await turn.call("get_weather", city="Oslo")
                await turn.say(f"It is {weather['output']}.")

            async with connect(MODEL, tools=[get_weather], **server.options) as session:
                print(await session.ask("Weather in Oslo?"))  # It is 12 °C, rain.
    """

    def __init__(
        self,
        model: ModelFunction | None = None,
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
        if model is not None:
            require_async(model, "turn")
        if isinstance(api_keys, str | bytes):
            raise ConfigError(
                "api_keys is one key, whose letters would each be taken: pass a list, api_keys=[...]"
            )
        check({"host": host, "port": port}, _PLACE)
        super().__init__(Port(host, port), tls)
        self.service = Service(
            model=model or echo,
            clock=clock or SystemClock(),
            chance=random.Random(seed),
            start_task=self.listener.start_task,
            api_keys=None if api_keys is None else frozenset(api_keys),
        )
        self.profile, self.strict, self.clock = profile, strict, self.service.clock
        self.registry = SessionRegistry(self.service)
        self.playback: RecordingPlayback | None = None
        self._acceptor = Acceptor(
            self._admit,
            self._http,
            self._failed,
            secured=lambda: self.server_ssl,
            lag=lambda: self.service.faults.slow_pong,
            note=lambda text: self.service.log.note(text),
        )
        self._thread: tuple[AbstractContextManager[BlockingPortal], BlockingPortal] | None = None

    profile = _Switch[ModelProfile | str | None]()
    strict = _Switch[bool]()
    clock = _Switch[Clock]()
    chance = _Switch[random.Random]()
    limits = _Switch[Limits]()
    faults = _Switch[Faults]()
    pace = _Switch[float]()
    hold = _Switch[float]()
    detector = _Switch[Callable[[Mapping[str, Any]], ActivityDetector]]()
    transcriber = _Switch[Callable[[bytes, int], str] | None]()
    tokens = _Switch[Tokens]()
    recording = _Switch[Recording | None]()
    patience = _Switch[float | None]()

    # -- what it answers with

    def model(self, function: ModelFunction) -> ModelFunction:
        """A decorator: this coroutine is called for every user turn, one at a time in a session.

        Raises ``ConfigError`` for a function without ``async``.
        """
        require_async(function, "turn")
        self.service.model, self.registry.script = function, None
        return function

    def conversation(self, function: ConversationScript) -> ConversationScript:
        """A decorator: this coroutine is called once for a session and scripts all its turns and connections.

        Raises ``ConfigError`` for a function without ``async``.
        """
        require_async(function, "user")
        self.registry.script = function
        return function

    # -- where it is

    @property
    def options(self) -> dict[str, Any]:  # keyword arguments of connect, of several types
        """Arguments of ``livetools.connect`` to reach this server: ``connect(model, **server.options)``."""
        key = min(self.service.api_keys) if self.service.api_keys else "fake-key"
        options: dict[str, Any] = {"base_url": self.url, "api_key": key}
        if self.tls:
            from livetools.transport.websocket import WebSocket

            options["transport"] = WebSocket(ssl=self.ssl_context)
        return options

    # -- what happened

    @property
    def frames(self) -> list[Frame]:
        """Every frame of both directions, in order."""
        return self.service.log.frames

    @property
    def calls(self) -> list[FakeCall]:
        """Every call that the model made, with its answer."""
        return self.service.log.calls

    @property
    def log(self) -> list[str]:
        """One line for everything that it refused, ignored or tolerated, with the reason."""
        return self.service.log.lines

    @property
    def sessions(self) -> list[FakeSession]:
        """Every conversation, in the order of their beginnings."""
        return self.registry.sessions

    def unanswered(self) -> list[FakeCall]:
        """The calls that nobody has answered, cancelled or lost."""
        return self.service.log.unanswered()

    def assert_all_answered(self) -> None:
        """Raise ``AssertionError`` if a call is unanswered, was answered too late, or the model raised."""
        self.service.log.assert_all_answered()

    # -- recordings

    @classmethod
    def replay(cls, path: str | Path, *, pace: float = 0.0, **options: Any) -> Self:  # as of the constructor
        """A server that plays a recording: its server's frames as they were, its client's frames expected.

        ``pace`` 1 keeps the recorded times, 0 waits for nothing. A client that says something else learns
        it from the close, and leaving the server raises with the differences. Sound and pictures are not
        compared. Raises as :meth:`.Recording.load`, and ``ConfigError`` where no frame was recorded.
        """
        recording = Recording.load(path)
        if not recording.frames:
            raise ConfigError(f"{path}: there is nothing to play: no frame was recorded")
        server = cls(**options)
        server.playback = RecordingPlayback(recording, pace)
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
        __tracebackhide__ = True  # pytest shows the test, not how it was judged
        if error is None or self.service.log.explains(error):
            self.assert_all_answered()

    def start(self) -> Self:
        """Run in a thread with an event loop of its own, for programs and tests that have none."""
        manager = start_blocking_portal("asyncio")
        portal = manager.__enter__()
        try:
            portal.call(self._up)
        except BaseException:
            manager.__exit__(None, None, None)
            raise
        self._thread = (manager, portal)
        return self

    def check(self, error: BaseException | None = None) -> None:
        """Raise what leaving would raise, while the server of :meth:`start` continues.

        ``error`` is what the test has raised, if it has.
        """
        __tracebackhide__ = True
        if self._thread is not None:
            self._thread[1].call(self._rest)
        self._judge(error)

    async def _rest(self) -> None:
        with anyio.move_on_after(LAST_ANSWERS):
            await self.registry.at_rest()
        played = self.registry if self.playback is None else self.playback
        self.service.log.unplayed = played.unplayed()

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
        self.service.leaving = False
        await self.listener.open(self._acceptor.serve, self._farewell, self._failed)

    async def _farewell(self) -> None:
        """Answers under way may arrive, and scripts run on; then all connections are closed."""
        self.service.leaving = True
        standing = {each.number for each in self._acceptor.connections if each.open}
        with anyio.move_on_after(LAST_ANSWERS):
            for call in self.unanswered():
                if call.connection in standing:
                    await call.done.wait()
        await self._rest()
        await self._acceptor.farewell()

    async def _down(self) -> None:
        await self.listener.close()

    # -- tokens

    def mint_token(self, *, uses: int = 1, setup: Message | None = None) -> str:
        """An ephemeral token, ``auth_tokens/…``, good for ``uses`` sessions (0: any number).

        They are opened within a minute. What ``setup`` holds (camelCase) replaces the client's own words.
        """
        return self.service.mint_token(uses=uses, setup=setup)

    # -- its sockets

    def _admit(self, connection: ServerConnection, request: Request) -> AbstractAsyncContextManager[Receiver]:
        """Returns the receiver of this client's frames: a conversation, or the recording that is played."""
        if self.playback is not None:
            return self.playback.admit(self.service, connection, request)
        return handshake.admit(self.service, self.registry, connection, request)

    async def _http(self, stream: ByteStream, head: bytes) -> None:
        """Answer a plain HTTP request."""
        await endpoints.serve(self.service, stream, head)

    def _failed(self, error: Exception) -> None:
        """A task of a connection raised: a hook of the test's, or this server itself."""
        log.error("a task of the fake server failed", exc_info=error)
        self.service.log.fail("a task of the fake server", error)
