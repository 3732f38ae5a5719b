"""The websockets adapter for trio: it reads when it is asked to, and shields each write.

trio would stop a cancelled write in the middle of a frame, and lose the next one without an error.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from math import inf
from typing import Any

import trio
from websockets.protocol import OPEN
from websockets.trio.client import ClientConnection, connect

from livetools.protocol.input.resend import Pong

from .line.framing import PING, TEXT, frame
from .line.pings import Pongs
from .setup_timeout import reached
from .websocket_connection import LINGER, Adapter, Inflow, Limits, Receiving


class TrioDial(connect):
    """Notes when TLS begins."""

    async def enable_tls(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        reached("TLS")
        return await super().enable_tls(stream)


class Line(trio.abc.Stream):
    """The stream of one connection, between ``websockets`` and the socket, to which we write as well.

    Every write is whole. Reading pauses while the queue is full. A peer that is to close the line, and does not, is
    waited for ``LINGER`` seconds.
    """

    def __init__(self, stream: trio.abc.Stream, inflow: Inflow, closes: Callable[[], bool]) -> None:
        self._stream, self._inflow, self._closes = stream, inflow, closes
        self._room = trio.Event()  # the queue has room
        self._lock = trio.Lock()
        self._until = inf  # when the peer must have closed the line

    async def write(self, make: Callable[[], bytes]) -> None:
        """Write what ``make`` returns once nobody else writes; ``b""``: nothing."""
        async with self._lock:
            if data := make():
                await self._stream.send_all(data)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """A control frame, from ``websockets``. A broken line is left for the reader to find out, after what
        came before.
        """
        try:
            await self.write(lambda: bytes(data))
        except trio.BrokenResourceError as error:
            self._inflow.blame(error.__cause__)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """What came; ``b""``: nothing more will."""
        while self._inflow.full:
            self._room = trio.Event()
            await self._room.wait()
        # Once the closing frames have been exchanged it is for the peer to close the line, also one that sends on.
        # Where the close is ours, its answer may be behind much else, and has a deadline of its own.
        if self._closes():
            until = trio.current_time() + LINGER
            self._until = until if self._inflow.left else min(self._until, until)
        with trio.move_on_at(self._until):
            try:
                data = await self._stream.receive_some(max_bytes)
                self._inflow.silence.heard = trio.current_time()
                return data
            except trio.BrokenResourceError as error:
                self._inflow.blame(error.__cause__)
        return b""

    def read_on(self) -> None:
        """There is room in the queue, or nobody receives any more."""
        self._room.set()

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        self._inflow.end()
        self.read_on()
        await self._stream.aclose()


class HalfLine(Line, trio.abc.HalfCloseableStream):
    """A line without TLS."""

    _stream: trio.abc.HalfCloseableStream

    async def send_eof(self) -> None:
        await self._stream.send_eof()


class TrioConnection(Receiving, ClientConnection):
    """Reads and writes through a :class:`Line`."""

    def __init__(
        self, nursery: trio.Nursery, stream: trio.abc.Stream, protocol: Any, *, limits: Limits, **kwargs: Any
    ) -> None:
        self._nursery = nursery
        self.inflow = Inflow(limits, Pongs(self._ping, self._later, trio.current_time), trio.current_time)
        # TLS cannot close one direction alone, and websockets asks the type of the stream whether it can.
        kind = HalfLine if isinstance(stream, trio.abc.HalfCloseableStream) else Line
        self.line = kind(stream, self.inflow, protocol.close_expected)
        super().__init__(nursery, self.line, protocol, **kwargs)

    @property
    def writes(self) -> bool:
        """Whether a frame may be written."""
        return self.protocol.state is OPEN

    def watch(self) -> None:
        """Notice from here on when the line falls silent."""
        self._nursery.start_soon(self._watch)

    async def _watch(self) -> None:
        inflow = self.inflow
        while not inflow.over:
            with trio.move_on_after(inflow.silence.wait):
                return await self.wait_closed()
            if inflow.is_dead(unread=inflow.full):
                return await trio.aclose_forcefully(self.line)
        return None

    def _ping(self, payload: bytes) -> None:
        async def send() -> None:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self.line.write(lambda: frame(PING, payload, os.urandom(4)) if self.writes else b"")

        self._nursery.start_soon(send)

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        async def wait() -> None:
            with trio.move_on_after(seconds):
                await self.wait_closed()
            if not self.inflow.over:
                call()

        self._nursery.start_soon(wait)


class TrioAdapter(Adapter[TrioConnection]):
    """Shields each write."""

    async def _write(self, message: bytes, at_once: bool | None) -> Pong | None:
        connection, pong = self._connection, None
        timeout = self._inflow.limits.write_timeout

        def made() -> bytes:  # when its turn has come: what is asked goes right behind the frame
            nonlocal pong
            if not connection.writes:
                raise trio.ClosedResourceError
            data = frame(TEXT, message, next(self._masks))
            if at_once is not None:
                pong, ping = self._pongs.ask(at_once)
                data += b"" if ping is None else frame(PING, ping, next(self._masks))
            return data

        try:
            with trio.CancelScope(deadline=trio.current_time() + timeout, shield=True) as scope:
                await connection.line.write(made)
        except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
            self._inflow.blame(error.__cause__)
            raise await self._gone() from None
        # The frame may have been cut in the middle, so nothing more can be written on this line.
        if scope.cancelled_caught:
            self._inflow.blame(TimeoutError(f"no frame was taken for {timeout:g} s"))
            await self._cut()
            raise await self._gone()
        await trio.lowlevel.checkpoint_if_cancelled()  # so that a loop of sends can be cancelled
        return pong

    def _read_on(self) -> None:
        self._connection.line.read_on()

    async def _close(self) -> None:
        # Writes nothing, and waits for its turn: frames that came before the close go before it.
        await self._connection.line.write(lambda: b"")
        await self._connection.aclose()

    async def _cut(self) -> None:
        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._connection.line)
