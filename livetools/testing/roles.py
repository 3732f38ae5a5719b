"""What the parts of the fake server know of each other.

The server owns the conversations, and these its ears and its floor, each of which calls back. They meet here, as
protocols, so that no import runs in a circle and each part can be read alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from livetools.protocol.profiles import ModelProfile
from livetools.session.clock import Clock

from .calls import Book, FakeCall
from .connection import Connection
from .faults import Faults
from .journal import Journal
from .limits import Limits
from .said import History, Said
from .tokens import Tokens
from .turn import Talk, Turn
from .vad import ActivityDetector
from .wire import Message


class Listener(Protocol):
    """The port, as far as others start tasks on it."""

    def start_task(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None: ...


class Script(Protocol):
    """The user's side of a conversation that is scripted."""

    done: bool

    async def hear(self, turn: Turn) -> None: ...

    def arrived(self, *, with_handle: bool) -> None: ...


class Floor(Protocol):
    """Whose turn it is."""

    speaker: Turn | None
    begun: bool
    thinking: bool

    since: float

    @property
    def busy(self) -> bool: ...

    @property
    def quiet(self) -> bool: ...

    @property
    def user(self) -> Script | None: ...

    def take(self, turn: Turn) -> None: ...

    async def leave(self) -> None: ...

    async def user_spoke(self, turn: Turn, *, interrupts: bool) -> None: ...


class Ears(Protocol):
    """What was heard of the user."""

    seeding: bool
    manual: bool
    in_activity: bool
    rate: int | None

    @property
    def empty(self) -> bool: ...

    @property
    def user_speaks(self) -> bool: ...

    def rate_of(self, mime: str) -> int: ...


class Session(Talk, Protocol):
    """One conversation."""

    profile: ModelProfile
    said: Said
    setup: Message

    @property
    def history(self) -> History: ...

    @property
    def server(self) -> Server: ...

    @property
    def connection(self) -> Connection | None: ...

    @property
    def ears(self) -> Ears: ...

    @property
    def floor(self) -> Floor: ...

    @property
    def book(self) -> Book: ...

    @property
    def ended_at(self) -> float | None: ...

    def open_calls(self) -> list[FakeCall]: ...

    async def attach(self, connection: Connection) -> None: ...

    def detach(self, connection: Connection) -> None: ...

    async def hear(self, kind: str, body: Message) -> None: ...

    async def take_responses(self, responses: Iterable[Message]) -> None: ...

    async def send(self, frame: Message | str | bytes) -> None: ...

    def together(self) -> AbstractAsyncContextManager[None]: ...

    async def send_handle(self) -> None: ...

    async def interrupt_floor(self) -> None: ...


class Lobby(Protocol):
    """Where conversations begin and are resumed."""

    def new_handle(self, session: Any) -> str: ...  # a FakeSession, which is made elsewhere

    def resumable(self, handle: str) -> Session | None: ...

    def admit(self, setup: Message, profile: ModelProfile) -> Session: ...


class Server(Protocol):
    """The house."""

    faults: Faults
    limits: Limits
    pace: float
    hold: float

    @property
    def strict(self) -> bool: ...

    @property
    def profile(self) -> ModelProfile | str | None: ...

    @property
    def api_keys(self) -> Collection[str] | None: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def chance(self) -> random.Random: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def calls(self) -> list[FakeCall]: ...

    @property
    def tokens(self) -> Tokens: ...

    @property
    def lobby(self) -> Lobby: ...

    @property
    def listener(self) -> Listener: ...

    @property
    def detector(self) -> Callable[[Mapping[str, Any]], ActivityDetector]: ...

    @property
    def transcriber(self) -> Callable[[bytes, int], str] | None: ...

    def manners(self, model: str, *, vertex: bool) -> ModelProfile: ...

    def mint_token(self, *, uses: int = 1, setup: Message | None = None) -> str: ...

    def record(self, direction: Literal["client", "server"], connection: int, message: Message) -> None: ...

    def note(self, text: str) -> None: ...

    async def answer_turn(self, turn: Turn) -> None: ...

    async def model_failed(self, session: Talk, error: Exception, *, scripted: bool = False) -> None: ...
