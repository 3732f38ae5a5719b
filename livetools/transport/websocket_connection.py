"""The part of the websockets adapter that asyncio and trio share. The first dial imports it.

Each loop has a subclass of the ``ClientConnection`` of ``websockets``, given to it as ``create_connection=``. Only what
is documented is used of it and of its ``Protocol``. Four things differ from what ``websockets`` does:

- its handshake takes a redirect for what it is, a refusal;
- messages wait in our own queue, and the order of messages and pongs is noted;
- our frames are written directly to the line, each together with the ping behind it;
- a peer that says close, but does not close the line (a proxy that hangs, a FIN that was lost), is not waited for:
  ``websockets`` has a timeout for that where the close is ours, and waits without end where it is not.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from msgspec import Struct
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame

from livetools.protocol.input.resend import Pong
from livetools.transport.loop.wake import make_wake

from .contract import Gone
from .line.framing import DATA, PONG, masks
from .line.pings import Pongs
from .line.silence import Silence
from .setup_timeout import reached
from .websocket_errors import gone

if TYPE_CHECKING:
    from websockets.protocol import Event

    class _Connection:
        """What both loops' connections have."""

        protocol: Any

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
        async def handshake(self, *args: Any, **kwargs: Any) -> None: ...
        def process_event(self, event: Event) -> None: ...
        async def wait_closed(self) -> None: ...
else:
    _Connection = object

CLOSE_TIMEOUT = 3.0  # seconds for the closing handshake; then the line is cut
LINGER = 1.0  # seconds for a peer that has said close, or broken the protocol, to close the line
WAITING = 16  # messages that wait for ``receive`` before reading is paused


class Limits(Struct, frozen=True, gc=False):
    """Of one connection. ``max_message``: bytes of a received message; ``write_timeout``: seconds for a sent frame;
    ``dead_after``: seconds without a byte.
    """

    max_message: int | None
    write_timeout: float
    dead_after: float | None


_NONE: deque[bytes] = deque(maxlen=0)  # a connection with a listener has no queue


class Inflow:
    """What has come on one connection, and waits for ``receive``."""

    def __init__(self, limits: Limits, pongs: Pongs, now: Callable[[], float]) -> None:
        self.limits, self.pongs, self.now = limits, pongs, now
        self.silence = Silence(limits.dead_after, now, pongs.ping)
        self.waiting = _NONE
        self.parts = bytearray()  # of a message in fragments
        self.news = make_wake()  # set when a message or the end has come
        self.over = False  # the end has come, behind the messages that wait
        self.left = False  # we have closed, and nobody will receive any more: what comes is dropped
        self.cause: BaseException | None = None  # why the line broke, if it is known

    def fragment(self, frame: Frame) -> None:
        """A fragment of a message has come, or all of it."""
        self.parts += frame.data
        if frame.fin:
            message = bytes(self.parts)
            self.parts.clear()
            self.message(message)

    def message(self, message: bytes) -> None:
        """A message has come whole: it waits for ``receive``."""
        self.pongs.messages += 1
        if self.left:
            return
        if self.waiting is _NONE:
            self.waiting = deque()
        self.waiting.append(message)
        self.news.set()

    @property
    def full(self) -> bool:
        """Whether reading is paused: more waits than a queue should hold, and somebody may still take it."""
        return len(self.waiting) > WAITING and not (self.left or self.over)

    def is_dead(self, unread: bool) -> bool:
        """Look at the silence of the line: ask it for a sign of life where that is due. True: it has broken."""
        dead = self.silence.look(unread)
        if dead:
            self.blame(TimeoutError(f"no byte came for {self.silence.dead_after:g} s, not even a pong"))
        return dead

    def blame(self, cause: BaseException | None) -> None:
        """The line breaks for this. What broke it first counts."""
        self.cause = self.cause or cause

    def end(self) -> None:
        """Nothing more will come."""
        self.over = True
        self.news.set()


class Receiving(_Connection):
    """What both connection classes do otherwise than ``websockets``. What comes goes to the inflow."""

    inflow: Inflow

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        reached("TLS")  # where there is any: it comes between here and the handshake
        super().__init__(*args, **kwargs)

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        reached("upgrade")
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as error:
            if error.response.status_code in range(300, 400):
                error.response.headers.pop("Location", None)
            raise

    def process_event(self, event: Event) -> None:
        if isinstance(event, Frame):
            if event.opcode in DATA:
                return self.inflow.fragment(event)
            if event.opcode == PONG and self.inflow.pongs.answer(bytes(event.data)):
                return None
        return super().process_event(event)

    @abstractmethod
    def watch(self) -> None:
        """Notice from here on when the line falls silent."""


C = TypeVar("C", bound=Receiving)


class Adapter(ABC, Generic[C]):
    """The transport of one connection. ``C``: the class of the connection, of which each loop has its own."""

    def __init__(self, connection: C) -> None:
        self._connection, self._inflow, self._pongs = connection, connection.inflow, connection.inflow.pongs
        self._masks = masks(os.urandom)
        connection.watch()

    async def send(self, frame: bytes) -> None:
        """See :class:`~.contract.Transport`."""
        await self._write(frame, None)

    async def send_with_ping(self, frame: bytes, at_once: bool = True) -> Pong | None:
        """See :class:`~.contract.Pinging`."""
        return await self._write(frame, at_once)

    def hurry(self) -> None:
        """See :class:`~.contract.Pinging`."""
        self._pongs.hurry()

    def silent_for(self) -> float:
        """See :class:`~.contract.Pinging`."""
        return self._inflow.silence.seconds if self._pongs.out else 0.0

    async def receive(self) -> bytes:
        """See :class:`~.contract.Transport`."""
        inflow = self._inflow
        while not inflow.waiting:
            if inflow.over:
                raise await self._gone()
            await inflow.news.wait()
        message = inflow.waiting.popleft()
        self._pongs.taken += 1
        if len(inflow.waiting) <= WAITING // 4:
            self._read_on()
        return message

    async def aclose(self) -> None:
        """See :class:`~.contract.Transport`."""
        self._inflow.left = True
        self._read_on()
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self._close()
        finally:
            await self._cut()

    async def _gone(self) -> Gone:
        """The end, once it is known."""
        await self._connection.wait_closed()
        return gone(self._connection.protocol.close_exc, self._inflow.left, self._inflow.cause)

    @abstractmethod
    async def _write(self, message: bytes, at_once: bool | None) -> Pong | None:
        """Write it within the write timeout, and whole though the caller is cancelled; raises ``Gone``.

        With a ping behind it, ``at_once`` or later; ``None``: without.
        """

    @abstractmethod
    def _read_on(self) -> None:
        """There is room in the queue, or nobody receives any more: resume reading, if that was paused."""

    @abstractmethod
    async def _close(self) -> None:
        """The closing handshake."""

    @abstractmethod
    async def _cut(self) -> None:
        """Close the socket; nothing, where it is closed."""
