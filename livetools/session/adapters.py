"""What ``websockets`` is made into: the transport's contract, on either loop. The first dial imports it.

The adapters are two because the loops differ in what a cancelled send leaves behind, and in nothing else.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.protocol import Event

from livetools.protocol.delivery import Pong

from .closing import dial_error, gone
from .order import Order
from .transport import Gone, Transport
from .wake import on_trio

if TYPE_CHECKING:
    from websockets.trio.client import ClientConnection as TrioConnection

    class _Connection:
        """What both loops' connections have."""

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
        async def handshake(self, *args: Any, **kwargs: Any) -> None: ...
        def process_event(self, event: Event) -> None: ...
else:
    _Connection = object

C = TypeVar("C", bound="ClientConnection | TrioConnection")

__all__ = ["adapted", "dial_error", "opening"]

CLOSE_TIMEOUT = 3.0  # seconds for the closing handshake; then the line is cut
LINGER = 1.0  # seconds for a peer that has said close, or broken the protocol, to close the line


def opening(url: str, options: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
    """The client of the loop that runs. ``Any``: the two connections have no common type."""
    if on_trio():
        from websockets.trio.client import connect as connect_trio

        return connect_trio(url, create_connection=_on_trio(), close_timeout=CLOSE_TIMEOUT, **options)
    # write_limit 1: a send returns when the kernel has the frame, not when a buffer of ours has it. 0 says
    # the same over TCP, but over TLS asyncio takes an empty buffer for a full one, and a send waits for ever.
    return connect(url, create_connection=_OnAsyncio, close_timeout=CLOSE_TIMEOUT, write_limit=1, **options)


# Of each connection class three things are changed. Its handshake takes a redirect for what it is, a refusal. It notes
# in which order messages and pongs came. And a peer that says close, but does not close the line (a proxy that hangs,
# a FIN that was lost), is not waited for: websockets has a timeout for that where the close is ours, and waits for
# ever where it is not.


class _Ours(_Connection):
    """What is the same on both loops."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order = Order()

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as error:
            if error.response.status_code in range(300, 400):
                error.response.headers.pop("Location", None)
            raise

    def process_event(self, event: Event) -> None:
        super().process_event(event)
        self.order.came(event)


class _OnAsyncio(_Ours, ClientConnection):
    _cutting = False

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._cutting and self.protocol.close_expected():
            self._cutting = True
            self.loop.call_later(LINGER, self.transport.abort)  # nothing, where it is closed by then


@cache
def _on_trio() -> type[TrioConnection]:
    import trio
    from websockets.trio.client import ClientConnection as Base

    class OnTrio(_Ours, Base):
        _cutting = False

        async def send_data(self) -> None:
            theirs = (
                self.close_deadline is None and self.protocol.close_expected()
            )  # ours sets it before it is sent
            if theirs and not self._cutting:
                self._cutting = True
                self.nursery.start_soon(self._cut)
            try:
                await super().send_data()
            except trio.BrokenResourceError:
                if not theirs:
                    raise
                # nobody reads our reply to a close: what came before that close is still to be handed out

        async def _cut(self) -> None:
            with trio.move_on_after(LINGER):
                await self.stream_closed.wait()
                return
            await trio.aclose_forcefully(self.stream)

    return OnTrio


def adapted(connection: Any, write_timeout: float) -> Transport:
    """The transport of a connection that :func:`opening` has made."""
    return (_TrioAdapter if on_trio() else _AsyncioAdapter)(connection, connection.order, write_timeout)


class _Adapter(ABC, Generic[C]):
    """What the loops have in common. ``C``: the connection, of which each loop has its own class."""

    def __init__(self, connection: C, order: Order, write_timeout: float) -> None:
        self._connection, self._order = connection, order
        self._timeout = write_timeout
        self._closing = False

    async def send(self, frame: bytes) -> None:
        await self._write(self._connection.send(frame, text=True))

    async def send_with_ping(self, frame: bytes) -> Pong | None:
        ping = self._order.ask()
        if ping is None:
            await self.send(frame)
        else:
            await self._write(self._together(frame, ping.payload))
        return ping

    async def _together(self, frame: bytes, payload: bytes) -> None:
        """In one write, so that nobody answers the frame before the ping is there."""
        async with self._connection.send_context():
            protocol = self._connection.protocol
            protocol.send_text(frame)
            protocol.send_ping(payload)
            protocol.writes = [b"".join(protocol.writes)]

    async def receive(self) -> bytes:
        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None
        self._order.taken += 1
        return message

    async def aclose(self) -> None:
        self._closing = True
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self._close()
        finally:
            await self._cut()

    @abstractmethod
    async def _write(self, writing: Awaitable[object]) -> None:
        """Within the write timeout, and whole though the caller is cancelled; raises ``Gone``."""

    @abstractmethod
    async def _close(self) -> None:
        """The closing handshake."""

    @abstractmethod
    async def _cut(self) -> None:
        """Close the socket; nothing, where it is closed."""


class _AsyncioAdapter(_Adapter["ClientConnection"]):
    """A send puts its whole frame into asyncio's buffer at once: what may be cancelled is only the wait."""

    def __init__(self, connection: ClientConnection, order: Order, write_timeout: float) -> None:
        super().__init__(connection, order, write_timeout)
        self._writing: list[float] = []  # when the writes that still wait began
        self._watchdog: asyncio.TimerHandle | None = None

    async def _write(self, writing: Awaitable[object]) -> None:
        loop = self._connection.loop
        began = loop.time()
        self._writing.append(began)
        if self._watchdog is None:  # one timer for many writes: arming one for each costs more than it guards
            self._watchdog = loop.call_later(self._timeout, self._watch)
        try:
            await writing
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None
        finally:
            self._writing.remove(began)

    def _watch(self) -> None:
        self._watchdog = None
        if not self._writing:
            return
        loop = self._connection.loop
        late = self._writing[0] + self._timeout - loop.time()
        if late <= 0:
            self._connection.set_connection_exc(TimeoutError(f"no frame was taken for {self._timeout:g} s"))
            self._connection.transport.abort()
        else:
            self._watchdog = loop.call_later(late, self._watch)

    async def _close(self) -> None:
        await self._connection.close()

    async def _cut(self) -> None:
        self._connection.transport.abort()
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None


class _TrioAdapter(_Adapter["TrioConnection"]):
    """Shields each write: trio would stop in the middle of a frame, and lose the next one without an error."""

    async def _write(self, writing: Awaitable[object]) -> None:
        import trio

        try:
            with trio.CancelScope(deadline=trio.current_time() + self._timeout, shield=True) as scope:
                await writing
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None
        if scope.cancelled_caught:
            late = f"no frame was taken for {self._timeout:g} s"
            # For the reader, who may hear of the cut first. The connection's own word on it cannot be had here:
            # its task has yet to see the cut.
            self._connection.set_connection_exc(TimeoutError(late))
            await self._cut()
            raise Gone(1006, late, self._closing)
        await trio.lowlevel.checkpoint_if_cancelled()  # so that a loop of sends can be cancelled

    async def _close(self) -> None:
        await self._connection.aclose()

    async def _cut(self) -> None:
        import trio

        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._connection.stream)
