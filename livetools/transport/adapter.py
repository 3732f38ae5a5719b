"""The part of the websockets adapter that asyncio and trio share. The first dial imports it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from websockets.exceptions import ConnectionClosed, InvalidStatus

from livetools.protocol.input.outbox import Pong

from .contract import Gone
from .dialling import reached
from .pongs import Pongs
from .websocket_errors import gone

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.protocol import Event
    from websockets.trio.client import ClientConnection as TrioConnection

    class _Connection:
        """What both loops' connections have."""

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
        async def handshake(self, *args: Any, **kwargs: Any) -> None: ...
        def process_event(self, event: Event) -> None: ...
else:
    _Connection = object

C = TypeVar("C", bound="ClientConnection | TrioConnection")

CLOSE_TIMEOUT = 3.0  # seconds for the closing handshake; then the line is cut
LINGER = 1.0  # seconds for a peer that has said close, or broken the protocol, to close the line


# Of each connection class three things are changed. Its handshake takes a redirect for what it is, a refusal. It notes
# in which order messages and pongs came. And a peer that says close, but does not close the line (a proxy that hangs,
# a FIN that was lost), is not waited for: websockets has a timeout for that where the close is ours, and waits for
# ever where it is not.


class Noting(_Connection):
    """What both connection classes do otherwise than ``websockets``. ``linger``: seconds for a peer that said close."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        reached("TLS")  # where there is any: it comes between here and the handshake
        super().__init__(*args, **kwargs)
        self.pongs = Pongs()
        self.linger = LINGER

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        reached("upgrade")
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as error:
            if error.response.status_code in range(300, 400):
                error.response.headers.pop("Location", None)
            raise

    def process_event(self, event: Event) -> None:
        super().process_event(event)
        self.pongs.came(event)


class Adapter(ABC, Generic[C]):
    """What the loops have in common. ``C``: the connection, of which each loop has its own class."""

    def __init__(self, connection: C, pongs: Pongs, write_timeout: float) -> None:
        self._connection, self._pongs = connection, pongs
        self._timeout = write_timeout
        self._closing = False

    async def send_with_ping(self, frame: bytes) -> Pong | None:
        """``send``, with a ping behind it in one write, so that nobody answers the frame before the ping is there."""
        ping = self._pongs.ask()
        await self._write(frame, None if ping is None else ping.payload)
        return ping

    async def send(self, frame: bytes) -> None:
        """See :class:`~.transport.Transport`."""
        await self._write(frame, None)

    async def aclose(self) -> None:
        """See :class:`~.transport.Transport`."""
        self._closing = True
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self._close()
        finally:
            await self._cut()

    def _gone(self, error: ConnectionClosed) -> Gone:
        return gone(error, self._closing)

    @abstractmethod
    async def receive(self) -> bytes:
        """See :class:`~.transport.Transport`."""

    @abstractmethod
    async def _write(self, frame: bytes, ping: bytes | None) -> None:
        """Within the write timeout, and whole though the caller is cancelled; raises ``Gone``."""

    @abstractmethod
    async def _close(self) -> None:
        """The closing handshake."""

    @abstractmethod
    async def _cut(self) -> None:
        """Close the socket; nothing, where it is closed."""
