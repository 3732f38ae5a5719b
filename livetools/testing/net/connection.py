"""One websocket of a client: handshake, frames in and out, and every way to end it, abrupt ones too.

The protocol is the Sans-I/O half of ``websockets``, driven over an anyio stream: one code path for asyncio
and trio, and a socket within reach, which half a frame, a dropped line or a late pong need.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from math import inf
from typing import TypeAlias

import anyio
from anyio.abc import ByteStream
from websockets.frames import Close, Opcode
from websockets.frames import Frame as WireFrame
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from livetools.testing.wire import clip_reason
from livetools.transport.websocket import quiet_logger

_tokens = itertools.count()  # what pings say

BREATH = 256 * 1024  # bytes that may wait to be written together
_MAX_MESSAGE = 64 * 1024 * 1024  # bytes of a message; a longer one is closed for with 1009
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
NO_CODE, BROKEN = 1005, (1006, 1015)  # codes that no close frame may carry

Receiver: TypeAlias = Callable[[bytes], Awaitable[None]]


class SocketClosed(Exception):
    """The socket is closed: nothing can be sent on it."""


class _Protocol(ServerProtocol):
    """Answers a close frame without a code with 1000: an echoed 1005 kills the Node client of a framework."""

    def recv_frame(self, frame: WireFrame) -> None:
        if frame.opcode is Opcode.CLOSE and not frame.data:
            frame.data = Close(1000, "").serialize()
        super().recv_frame(frame)


class ServerConnection:
    """A websocket to one client. Methods may be called from any task; frames leave in the order of the calls.

    ``number`` counts sockets over the life of the server. ``closed_by`` is ``None`` while it is open, then
    ``"client"``, ``"server"`` or ``"line"`` (broken without a close frame).
    """

    def __init__(self, number: int, stream: ByteStream) -> None:
        self.number = number
        self.closed_by: str | None = None
        self.ended = anyio.Event()
        self.told_to_go = False  # a goAway was sent
        self.silent_until = 0.0  # a stall, by the server's clock
        self.held_back: bytes | None = None  # a frame that is to change places with the next
        self._stream = stream
        self._protocol = _Protocol(max_size=_MAX_MESSAGE, logger=quiet_logger())
        self._lock = anyio.Lock(fast_acquire=True)
        self._together = 0  # how many are sending what may leave in one write
        self._held = 0  # bytes that wait for the others
        self._message = bytearray()
        self._early = b""  # frames that came with the request
        self._pongs: dict[bytes, anyio.Event] = {}
        self._silence = anyio.CancelScope()  # of a client that has not sent a message yet

    @property
    def open(self) -> bool:
        return self.closed_by is None and self._protocol.state is State.OPEN

    async def accept(self, head: bytes) -> Request | None:
        """Read ``head`` as an upgrade and answer it: returns the request, if the websocket is open now.

        What came behind the request waits for :meth:`receive`: no frame counts before the answer.
        """
        top, end, self._early = head.partition(b"\r\n\r\n")
        self._protocol.receive_data(top + end)
        request = next((each for each in self._protocol.events_received() if isinstance(each, Request)), None)
        if request is not None:
            self._protocol.send_response(self._protocol.accept(request))
        elif not any(self._protocol.writes):  # an empty one means the end of the stream
            self._protocol.writes.append(_BAD_REQUEST)
        await self._flush()
        return request if self.open else None

    async def send(self, data: bytes, *, text: bool = False) -> None:
        """Send one frame, whole or not at all; raises :class:`SocketClosed`. Cancelling waits until it is written."""
        if not self.open:
            raise SocketClosed(f"connection {self.number} is closed")
        (self._protocol.send_text if text else self._protocol.send_binary)(data)
        self._held += len(data)
        if not self._together or self._held > BREATH:
            await self._written()

    @contextlib.asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """What is sent inside may leave in one write, at the latest at the end. Raises :class:`SocketClosed`.

        A write costs more than all else that a frame needs: it wakes the reader, who may share the processor.
        """
        self._together += 1
        try:
            yield
        except BaseException:
            await self._flush()
            raise
        finally:
            self._together -= 1
        await self._written()

    async def _written(self) -> None:
        await self._flush()
        if not self.open:
            raise SocketClosed(f"connection {self.number} broke")

    async def send_half(self, data: bytes) -> None:
        """Write the first half of a frame, and break the line."""
        frame = WireFrame(Opcode.BINARY, data).serialize(mask=False)
        with anyio.CancelScope(shield=True):
            async with self._lock:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._stream.send(frame[: len(frame) // 2])
        await self.drop()

    async def ping(self) -> bool:
        """Send a ping and wait for its pong; false if the connection ends without it."""
        if not self.open:
            return False
        token, pong = str(next(_tokens)).encode(), anyio.Event()
        self._pongs[token] = pong
        self._protocol.send_ping(token)
        await self._flush()
        await pong.wait()
        return token not in self._pongs  # what is answered is forgotten

    async def receive(self, receiver: Receiver, lag: float = 0.0, first_within: float = inf) -> bool:
        """Hand each whole message to ``receiver`` until the connection ends, however it ends.

        Waits ``lag`` seconds before it reads each piece. Returns False if no message came within ``first_within``
        seconds; the connection is still open then.
        """
        with anyio.move_on_after(first_within) as self._silence:
            await self._read(receiver, lag)
        return not self._silence.cancelled_caught

    async def _read(self, receiver: Receiver, lag: float) -> None:
        while True:
            try:
                early, self._early = self._early, b""
                self._protocol.receive_data(early or await self._stream.receive())
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._end("line")
                return
            events = self._protocol.events_received()
            if lag:
                await anyio.sleep(lag)
            if self._protocol.writes and self._protocol.state is State.OPEN:  # pongs
                await self._flush()
            for event in events:
                await self._event(event, receiver)
            if self._protocol.writes:  # a close is answered when all that came before it was heard
                await self._flush()
            if self._protocol.close_expected() and self._protocol.state is not State.OPEN:
                self._end("client" if self._protocol.close_rcvd_then_sent else "server")
                return

    async def _event(self, event: object, receiver: Receiver) -> None:
        if not isinstance(event, WireFrame):
            return
        if event.opcode is Opcode.PONG:
            answered = self._pongs.pop(bytes(event.data), None)
            if answered is not None:
                answered.set()
        elif event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._message += event.data
            if event.fin:
                message, self._message = bytes(self._message), bytearray()
                self._silence.deadline = inf
                if self.closed_by is None:  # after our own close nothing is read
                    await receiver(message)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Send a close frame; the reader ends when the client has answered it, or has gone.

        1005 sends a frame without a code, 1006 and 1015 break the line: no frame may say these codes, and this is
        what they mean.
        """
        if code in BROKEN:
            await self.drop()
        elif self.open:
            self._protocol.send_close(*(() if code == NO_CODE else (code, clip_reason(reason))))
            self.closed_by = "server"
            await self._flush()

    async def drop(self) -> None:
        """Cut the line without a close frame: the client sees 1006."""
        await self.abort()

    async def abort(self) -> None:
        """Close the socket now. Tasks that send or receive on it are woken."""
        await anyio.aclose_forcefully(self._stream)
        self._end("server")

    def _end(self, by: str) -> None:
        if self.closed_by is None:
            self.closed_by = by
        self.ended.set()
        for pong in self._pongs.values():
            pong.set()

    async def _flush(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._lock:
                self._held = 0
                try:
                    if data := b"".join(self._protocol.data_to_send()):
                        await self._stream.send(data)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
                    self._end("line")  # TLS calls a line that is half closed the end of its stream
