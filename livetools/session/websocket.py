"""The transport that everybody uses: ``websockets``, on asyncio and on trio, behind one thin adapter.

What the defaults of ``websockets`` would do to a live session, and what is done instead:

- a ping timeout of 20 s kills healthy sessions (pongs of 8 to 30 s were measured: python-genai#1894): no
pings,
  unless asked for, and then a patience of 60 s;
- messages above 1 MiB end the connection (1009): no limit;
- a redirect to another origin would carry ``x-goog-api-key`` along (of the headers only ``authorization``
and the
  cookies are taken off): no redirects;
- at DEBUG it logs the request's headers: its logger is kept at INFO;
- a send that is cancelled on a full socket tears the frame on trio: it is shielded.
"""

from __future__ import annotations

import asyncio
import logging
import ssl as tls
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from .closing import dial_error, gone
from .transport import Gone, Transport
from .wake import on_trio

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection as AsyncioConnection
    from websockets.trio.client import ClientConnection as TrioConnection

CLOSE_TIMEOUT = 3.0  # seconds for the closing handshake; then the line is cut
PONG_TIMEOUT = 60.0
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class WebSocket:
    """How the connection is made.

    ``ssl``: a context for ``wss://`` (default: the system's). ``proxy``: ``True`` as the environment says, a
    URL, or ``None``; loopback is always reached directly. ``headers``: sent in addition, with every dial.
    ``allow_insecure``: ``ws://`` to other hosts than loopback. ``ping_interval``: seconds between pings,
    ``None`` for none. ``write_timeout``: seconds after which a frame that the peer does not take is the end
    of the line.
    """

    ssl: tls.SSLContext | None = field(default=None, repr=False)
    proxy: str | bool | None = field(default=True, repr=False)  # may hold a password
    headers: Mapping[str, str] | None = field(default=None, repr=False)  # may hold a token
    allow_insecure: bool = False
    ping_interval: float | None = None
    write_timeout: float = 30.0

    def dial(self, url: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[Transport]:
        """Connect to ``url``: TCP, TLS, proxy and upgrade. See :class:`~.transport.Dialer` for the contract.

        Raises ``ConnectFailed`` when nobody answers, ``RemoteProtocolError`` when something other than a
        websocket does, and what the HTTP status says when the upgrade is refused.
        """
        return self._dial(url, {**(self.headers or {}), **headers})

    @asynccontextmanager
    async def _dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        host = urlsplit(url).hostname or ""
        options: dict[str, Any] = {  # what websockets.connect takes
            "additional_headers": headers,
            "proxy": None if host in LOOPBACK or not self.proxy else self.proxy,
            "compression": None,
            "open_timeout": None,  # the setup's deadline covers it
            "ping_interval": self.ping_interval,
            "ping_timeout": PONG_TIMEOUT,
            "close_timeout": CLOSE_TIMEOUT,
            "max_size": None,
            "logger": _quiet_logger(),
        }
        if self.ssl is not None and url.startswith("wss:"):
            options["ssl"] = self.ssl
        try:
            opening = _opening(url, options)
            connection = await opening.__aenter__()
        except Exception as error:
            raise dial_error(error, url) from None
        adapter = _TrioAdapter if on_trio() else _AsyncioAdapter
        transport = adapter(connection, self.write_timeout)
        try:
            yield transport
        finally:
            try:
                await transport.aclose()
            finally:
                await opening.__aexit__(None, None, None)


def _opening(url: str, options: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
    """The client of the loop that runs. ``Any``: the two connections have no common type."""
    if on_trio():
        from websockets.trio.client import ClientConnection as OnTrio
        from websockets.trio.client import connect as connect_trio

        return connect_trio(url, create_connection=_without_redirects(OnTrio), **options)
    from websockets.asyncio.client import ClientConnection, connect

    # write_limit 0: a send returns when the kernel has the frame, not when a buffer of ours has it
    return connect(url, create_connection=_without_redirects(ClientConnection), write_limit=0, **options)


def _without_redirects(connection: type[Any]) -> type[Any]:
    """The connection class, whose handshake takes a redirect for what it is: a refusal."""
    from websockets.exceptions import InvalidStatus

    async def handshake(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            await connection.handshake(self, *args, **kwargs)
        except InvalidStatus as error:
            if error.response.status_code in range(300, 400):
                error.response.headers.pop("Location", None)
            raise

    return type("ClientConnection", (connection,), {"handshake": handshake})


def _quiet_logger() -> logging.Logger:
    logger = logging.getLogger("livetools.websocket")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    return logger


class _AsyncioAdapter:
    """A send puts its whole frame into asyncio's buffer at once: what may be cancelled is only the wait."""

    def __init__(self, connection: AsyncioConnection, write_timeout: float) -> None:
        self._connection = connection
        self._timeout = write_timeout
        self._closing = False
        self._sending: list[float] = []  # when the sends that still wait began
        self._watchdog: asyncio.TimerHandle | None = None

    async def send(self, frame: bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        loop = self._connection.loop
        began = loop.time()
        self._sending.append(began)
        if self._watchdog is None:  # one timer for many sends: arming one for each costs more than it guards
            self._watchdog = loop.call_later(self._timeout, self._watch)
        try:
            await self._connection.send(frame, text=True)
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None
        finally:
            self._sending.remove(began)

    def _watch(self) -> None:
        self._watchdog = None
        if not self._sending:
            return
        loop = self._connection.loop
        late = self._sending[0] + self._timeout - loop.time()
        if late <= 0:
            self._connection.set_connection_exc(TimeoutError(f"no frame was taken for {self._timeout:g} s"))
            self._connection.transport.abort()
        else:
            self._watchdog = loop.call_later(late, self._watch)

    async def receive(self) -> bytes:
        from websockets.exceptions import ConnectionClosed

        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None

    async def aclose(self) -> None:
        self._closing = True
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self._connection.close()
        finally:
            self._connection.transport.abort()  # nothing, where it is closed
            if self._watchdog is not None:
                self._watchdog.cancel()
                self._watchdog = None


class _TrioAdapter:
    """Shields each send: trio would stop in the middle of a frame, and lose the next one without an error."""

    def __init__(self, connection: TrioConnection, write_timeout: float) -> None:
        self._connection = connection
        self._timeout = write_timeout
        self._closing = False

    async def send(self, frame: bytes) -> None:
        import trio
        from websockets.exceptions import ConnectionClosed

        try:
            with trio.CancelScope(deadline=trio.current_time() + self._timeout, shield=True) as scope:
                await self._connection.send(frame, text=True)
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None
        if scope.cancelled_caught:
            await self._cut()
            raise Gone(1006, f"no frame was taken for {self._timeout:g} s")
        await trio.lowlevel.checkpoint_if_cancelled()  # so that a loop of sends can be cancelled

    async def receive(self) -> bytes:
        from websockets.exceptions import ConnectionClosed

        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise gone(error, self._closing) from None

    async def aclose(self) -> None:
        self._closing = True
        try:
            with anyio.move_on_after(CLOSE_TIMEOUT):
                await self._connection.aclose()
        finally:
            await self._cut()

    async def _cut(self) -> None:
        import trio

        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._connection.stream)
