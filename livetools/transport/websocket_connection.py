"""The part of the websockets adapter that asyncio and trio share. The first dial imports it.

Each loop has a subclass of the ``ClientConnection`` of ``websockets``, given to it as ``create_connection=``. Only what
is documented is used of it and of its ``Protocol``. Four things differ from what ``websockets`` does:

- its handshake takes a redirect for what it is, a refusal;
- messages wait in our own queue, and the order of messages and pongs is noted;
- our frames are written directly to the line, each together with the ping behind it;
- a peer that says close, but does not close the line (a proxy that hangs, a FIN that was lost), is not waited for:
  ``websockets`` has a timeout for that where the close is ours, and waits without end where it is not.

Each of the two is a transport, see :class:`~.contract.Transport`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from msgspec import Struct
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame

from livetools.protocol.input.resend import PongCount
from livetools.transport.loop.wake import make_wake

from .connection_errors import gone
from .contract import Gone
from .line.framing import DATA, PING, PONG, TEXT, frame
from .line.pings import Pongs
from .line.silence import Silence
from .setup_timeout import reached

CLOSE_TIMEOUT = 3.0  # seconds for the closing handshake; then the line is cut
LINGER = 1.0  # seconds for a peer that has said close, or broken the protocol, to close the line
WAITING = 16  # messages that wait for ``receive`` before reading is paused


class LineLimits(Struct, frozen=True, gc=False):
    """Of one connection. ``max_message``: bytes of a received message; ``write_timeout``: seconds for a sent frame;
    ``dead_after``: seconds without a byte.
    """

    max_message: int | None
    write_timeout: float
    dead_after: float | None


_NONE: deque[bytes] = deque(maxlen=0)  # a connection with a listener has no queue


class Flow:
    """What one connection keeps for us: what has come and waits for ``receive``, and the ping that goes out next.

    It is an object of its own because one of more than 30 attributes has a dict, which is large and slow, and the
    connection of ``websockets`` has most of them.
    """

    def __init__(self, limits: LineLimits, pongs: Pongs) -> None:
        self.limits, self.pongs, self.counts, self.now = limits, pongs, pongs.counts, pongs.clock
        self.silence = Silence(limits.dead_after, pongs)
        self.look: Any = None  # the timer of the next look at the silence: what ``later`` has returned
        self.waiting = _NONE
        self.parts = bytearray()  # of a message in fragments
        self.news = make_wake()  # set when a message or the end has come
        self.over = False  # the end has come, behind the messages that wait
        self.left = False  # we have closed, and nobody will receive any more: what comes is dropped
        self.cause: BaseException | None = None  # why the line broke, if it is known
        self.feed: Callable[[bytes], None] | None = None  # the listener, which asyncio can have
        self.error: Exception | None = None  # what the listener has raised
        # What comes now is ignored: the listener has raised, or a close or a forbidden frame has come before it.
        self.ended = False
        self.ping: bytes | None = None  # goes out behind the next message

    def fragment(self, frame: Frame) -> None:
        """A fragment of a message has come, or all of it."""
        self.parts += frame.data
        if frame.fin:
            message = bytes(self.parts)
            self.parts.clear()
            self.message(message)

    def message(self, message: bytes) -> None:
        """A message has come whole: it goes to the listener, or waits for ``receive``."""
        self.counts.messages += 1
        if self.feed is not None and not self.waiting:
            self.counts.taken += 1
            try:
                self.feed(message)
            except Exception as error:
                self.error, self.ended = error, True
                self.end()
        elif not self.left:
            if self.waiting is _NONE:
                self.waiting = deque()
            self.waiting.append(message)
            self.news.set()

    @property
    def full(self) -> bool:
        """Whether reading is paused: more waits than a queue should hold, and somebody may still take it."""
        return len(self.waiting) > WAITING and not (self.left or self.over)

    def blame(self, cause: BaseException | None) -> None:
        """The line breaks for this. What broke it first counts."""
        self.cause = self.cause or cause

    def end(self) -> None:
        """Nothing more will come."""
        self.over = True
        self.news.set()

    def framed(self, message: bytes) -> bytes:
        """What is written with this message, when its turn has come."""
        data = frame(TEXT, message)
        if self.ping is not None:
            data += frame(PING, self.ping)
            self.ping = None
        return data


class WebSocketTransport:
    """The first base of both connection classes: what they do otherwise than ``websockets``, and the transport."""

    flow: Flow
    #: These come from the second base, the ``ClientConnection`` of ``websockets``.
    protocol: Any
    request: Any
    response: Any
    wait_closed: Any
    #: What each loop does in its own way. ``later`` calls a function after so many seconds, unless the line has ended
    #: by then; on asyncio it returns a handle, which its caller cancels at the end of the line. ``read_on``: there is
    #: room in the queue, or nobody receives any more, so reading is resumed, if it was paused. ``leave`` is the closing
    #: handshake. ``abort`` closes the socket, if it is open.
    later: Callable[[float, Callable[[], None]], Any]
    write_ping: Callable[[bytes], None]
    read_on: Callable[[], None]
    leave: Callable[[int, str], Awaitable[None]]
    abort: Callable[[], None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        reached("TLS")  # where there is any: it comes between here and the handshake
        super().__init__(*args, **kwargs)

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        reached("upgrade")
        try:
            await super().handshake(*args, **kwargs)  # type: ignore[misc]  # the second base has it
        except InvalidStatus as error:
            if "Location" in error.response.headers:
                del error.response.headers["Location"]  # all of them: there may be several
            raise
        self.request = None  # the upgrade's, with the key: nobody asks for either any more
        self.response.headers.clear()
        self._watch()

    # What comes

    def process_event(self, event: Any) -> None:
        opcode = event.opcode if isinstance(event, Frame) else None
        if opcode in DATA:
            self.flow.fragment(event)
        elif opcode != PONG or not self.flow.pongs.answer(bytes(event.data)):
            super().process_event(event)  # type: ignore[misc]  # the second base has it

    async def receive(self) -> bytes:
        """See :class:`~.contract.Transport`."""
        flow = self.flow
        while not flow.waiting:
            if flow.over:
                raise flow.error or await self.gone()
            await flow.news.wait()
        message = flow.waiting.popleft()
        flow.counts.taken += 1
        if len(flow.waiting) <= WAITING // 4:
            self.read_on()
        return message

    def _watch(self) -> None:
        """Notice from here on when the line falls silent.

        Not with a :class:`~.loop.timer.Timer`: each look is later than the one before, and :class:`Silence` itself
        takes a gap of the clock off the silence.
        """
        if (seconds := self.flow.silence.look(unread=self.flow.full)) is None:
            self.give_up(f"no byte came for {self.flow.limits.dead_after:g} s, not even a pong")
        else:
            self.flow.look = self.later(seconds, self._watch)

    def silent_for(self) -> float:
        """See :class:`~.contract.Pinging`."""
        return self.flow.now() - self.flow.silence.heard if self.flow.pongs.out is not None else 0.0

    # What is asked of the peer

    def ask(self, at_once: bool = True) -> PongCount:
        """See :class:`~.contract.Pinging`."""
        pong, self.flow.ping = self.flow.pongs.ask(at_once)
        return pong

    def hurry(self) -> None:
        """See :class:`~.contract.Pinging`."""
        self.flow.pongs.hurry()

    # The end

    async def aclose(self, code: int = 1000, reason: str = "") -> None:
        """See :class:`~.contract.Transport`."""
        self.flow.left = True
        self.read_on()
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self.leave(code, reason)
        finally:
            self.abort()

    def give_up(self, why: str) -> None:
        """The line is dead."""
        self.flow.blame(TimeoutError(why))
        self.abort()

    async def gone(self) -> Gone:
        """The end, once it is known."""
        await self.wait_closed()
        return gone(self.protocol.close_exc, self.flow.left, self.flow.cause)
