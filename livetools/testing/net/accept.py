"""Accepts sockets: TLS, the HTTP request, the websocket; and closes all of them at the end."""

from __future__ import annotations

import re
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import anyio
from anyio.abc import ByteStream, SocketStream
from anyio.streams.tls import TLSStream
from websockets.http11 import Request

from livetools.testing.wire import REQUEST_TIMEOUT

from .connection import Receiver, ServerConnection

HEAD_LIMIT = 64 * 1024  # bytes of a request's headers
HEAD_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n"
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
TLS_HELLO = b"\x16\x03"  # a record of a handshake, of any version
TLS_TO_PLAIN = (
    "a client spoke TLS (https://, wss://) to a plain port: start the server with TLS (livetools serve --tls, or "
    "FakeLiveServer(tls=True)), or let the client use http:// and ws://"
)
PLAIN_TO_TLS = (
    "a client spoke plain HTTP to a port with TLS: let it use https:// and wss://, or start without TLS"
)
INTERNAL = "Internal error encountered."
_CLOSING = 0.25  # seconds that clients are given to answer the last close


class Acceptor:
    """Receives the sockets of one server.

    ``admit`` gives the function that takes the frames of a client while its socket is open, ``http`` answers a plain
    request whose head was read, and ``failed`` receives what either raises. ``secured`` gives the TLS context, or
    ``None``, and ``lag`` the seconds that each frame waits before it is read; both are called for each client.
    ``note`` receives a line about each client that speaks TLS to a plain server, or plain text to a TLS server.
    """

    def __init__(
        self,
        admit: Callable[[ServerConnection, Request], AbstractAsyncContextManager[Receiver]],
        http: Callable[[ByteStream, bytes], Awaitable[None]],
        failed: Callable[[Exception], None],
        secured: Callable[[], ssl.SSLContext | None] = lambda: None,
        lag: Callable[[], float] = lambda: 0.0,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._admit, self._http, self._failed, self._note = admit, http, failed, note
        self._secured, self._lag = secured, lag
        self.connections: set[ServerConnection] = set()
        self._count = 0

    async def serve(self, stream: SocketStream) -> None:
        """Serve one TCP connection to its end, and close it. Never raises for what the other end does."""
        secured: ByteStream = stream
        try:
            try:
                with anyio.move_on_after(REQUEST_TIMEOUT) as silence:
                    secured = await self._secure(stream)
                    head = await _read_head(secured)
                if silence.cancelled_caught:
                    return self._note(f"a client sent no request within {REQUEST_TIMEOUT:g} s")
                if head == TLS_HELLO:
                    self._note(TLS_TO_PLAIN)
                    # In plain HTTP, as web servers do: its TLS says so at once.
                    await secured.send(_BAD_REQUEST)
                    return None
                if head is None:
                    await secured.send(HEAD_TOO_LONG)
                    return None
            except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError, OSError):
                return None  # the client has gone, or does not speak TLS
            if re.search(rb"\r\nupgrade:\s*websocket", head, re.IGNORECASE):
                await self._websocket(secured, head)
            else:
                await self._http(secured, head)
        finally:
            await anyio.aclose_forcefully(secured)

    async def _secure(self, stream: SocketStream) -> ByteStream:
        context = self._secured()
        if context is None:
            return stream
        try:
            return await TLSStream.wrap(
                stream, server_side=True, ssl_context=context, standard_compatible=False
            )
        except ssl.SSLError as error:
            if error.reason in ("HTTP_REQUEST", "WRONG_VERSION_NUMBER"):
                self._note(PLAIN_TO_TLS)
            raise

    async def _websocket(self, stream: ByteStream, head: bytes) -> None:
        self._count += 1
        connection = ServerConnection(self._count, stream)
        request = await connection.accept(head)
        if request is None:
            return
        self.connections.add(connection)
        try:
            async with self._admit(connection, request) as receiver:
                if not await connection.receive(receiver, lag=self._lag(), first_within=REQUEST_TIMEOUT):
                    self._note(f"connection {connection.number}: no message within {REQUEST_TIMEOUT:g} s")
                    await connection.close(1008, "The first message did not come in time.")
        except Exception as error:
            self._failed(error)
            await connection.close(1011, INTERNAL)
        finally:
            self.connections.discard(connection)

    async def farewell(self) -> None:
        """Close every connection: with a close frame, and after 0.25 s in any case."""
        standing = list(self.connections)
        for connection in standing:
            await connection.close(1001, "The fake server stops.")
        with anyio.move_on_after(_CLOSING):
            for connection in standing:
                await connection.ended.wait()
        for connection in standing:
            await connection.abort()


async def _read_head(stream: ByteStream) -> bytes | None:
    """The bytes up to the end of the request's headers, and what came with them; ``None`` if they never end.

    ``TLS_HELLO`` alone where TLS begins.
    """
    head = b""
    while b"\r\n\r\n" not in head:
        if len(head) > HEAD_LIMIT:
            return None
        head += await stream.receive()
        if head.startswith(TLS_HELLO):
            return TLS_HELLO
    return head
