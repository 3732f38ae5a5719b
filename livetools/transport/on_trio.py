"""The websockets adapter for trio: it reads when it is asked to, and shields each write.

trio would stop a cancelled write in the middle of a frame, and lose the next one without an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import trio
from websockets.protocol import OPEN
from websockets.trio.client import ClientConnection, connect

from .line.framing import PING, frame
from .line.pings import Pongs
from .setup_timeout import reached
from .websocket_connection import LINGER, Flow, LineLimits, WebSocketTransport


async def dial(url: str, limits: LineLimits, **options: Any) -> tuple[Any, Any]:
    """What closes a connection when it is left, and the transport of it. ``options`` are those of ``websockets``."""
    options["create_connection"] = partial(TrioConnection, limits)
    dialled: Any = TrioDial(url, **options)
    return dialled, await dialled.__aenter__()


class TrioDial(connect):
    """Notes when TLS begins."""

    async def enable_tls(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        reached("TLS")
        return await super().enable_tls(stream)


class Line:
    """The stream of one connection, between ``websockets`` and the socket, to which we write as well.

    Every write is whole. One direction alone is never closed, which TLS cannot do either. Reading pauses while the
    queue is full. A peer that is to close the line, and does not, is waited for ``LINGER`` seconds.
    """

    def __init__(self, stream: trio.abc.Stream, flow: Flow, protocol: Any) -> None:
        self._stream, self._flow, self._protocol = stream, flow, protocol
        self.room = trio.Event()  # set when the queue has room, or nobody receives any more
        self.turn = trio.Lock()  # to write
        self._until = inf  # when the peer must have closed the line

    async def write(self, make: Callable[[], bytes]) -> None:
        """Write what ``make`` returns once nobody else writes, if the connection is open then."""
        async with self.turn:
            if self._protocol.state is not OPEN:
                raise trio.ClosedResourceError
            await self._stream.send_all(make())

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """A control frame, from ``websockets``. A broken line is left for the reader to find out, after what
        came before.
        """
        try:
            async with self.turn:
                await self._stream.send_all(data)
        except trio.BrokenResourceError as error:
            self._flow.blame(error.__cause__)

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """What came; ``b""``: nothing more will."""
        while self._flow.full:
            self.room = trio.Event()
            await self.room.wait()
        # Once the closing frames have been exchanged it is for the peer to close the line, also one that sends on.
        # Where the close is ours, its answer may be behind much else, and has a deadline of its own.
        if self._protocol.close_expected():
            until = trio.current_time() + LINGER
            self._until = until if self._flow.left else min(self._until, until)
        with trio.move_on_at(self._until):
            try:
                data = await self._stream.receive_some(max_bytes)
                self._flow.silence.heard = trio.current_time()
                return data
            except trio.BrokenResourceError as error:
                self._flow.blame(error.__cause__)
        return b""

    async def aclose(self) -> None:
        self._flow.end()
        self.room.set()
        await self._stream.aclose()


class TrioConnection(WebSocketTransport, ClientConnection):
    """Reads and writes through a :class:`Line`, and shields each write."""

    def __init__(self, limits: LineLimits, nursery: Any, stream: Any, protocol: Any, **kwargs: Any) -> None:
        self._nursery: trio.Nursery = nursery
        self.flow = Flow(limits, Pongs(self, trio.current_time))
        self._line: Any = Line(stream, self.flow, protocol)  # a stream, as far as ``websockets`` uses one
        super().__init__(nursery, self._line, protocol, **kwargs)

    def read_on(self) -> None:
        self._line.room.set()

    async def send(self, message: bytes) -> None:  # type: ignore[override]  # what a session sends
        """See :class:`~.contract.Transport`."""
        seconds = self.flow.limits.write_timeout
        try:
            with trio.CancelScope(deadline=trio.current_time() + seconds, shield=True) as scope:
                await self._line.write(partial(self.flow.framed, message))
        except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
            self.flow.blame(error.__cause__)
            raise await self.gone() from None
        # The frame may have been cut in the middle, so nothing more can be written on this line.
        if scope.cancelled_caught:
            self.give_up(f"no frame was taken for {seconds:g} s")
            raise await self.gone()
        await trio.lowlevel.checkpoint_if_cancelled()  # so that a loop of sends can be cancelled

    def write_ping(self, payload: bytes) -> None:
        async def send() -> None:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._line.write(partial(frame, PING, payload))

        self._nursery.start_soon(send)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        async def wait() -> None:
            with trio.move_on_after(seconds):
                await self.wait_closed()
            if not self.flow.over:
                call()

        self._nursery.start_soon(wait)

    async def leave(self, code: int, reason: str) -> None:
        async with self._line.turn:
            pass  # frames that came before the close go before it
        await ClientConnection.aclose(self, code, reason)

    def abort(self) -> None:
        if not self.flow.over:
            self._nursery.start_soon(trio.aclose_forcefully, self._line)
