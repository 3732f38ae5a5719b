"""A proxy between a client and the service that records all frames.

::

    with Recording("call.jsonl", media=False) as recording:
        async with RecordingProxy("wss://generativelanguage.googleapis.com", recording) as proxy:
            ...                     # a real client, with proxy.url or proxy.http_url as its base URL
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio.abc import ByteStream
from websockets.http11 import Request

from livetools.errors import LiveToolsError
from livetools.log import get_logger
from livetools.session.running.clock import Clock, SystemClock
from livetools.transport.contract import Gone as UpstreamGone
from livetools.transport.contract import Transport
from livetools.transport.websocket import WebSocket

from .auth.client_identity import header
from .net.accept import Acceptor
from .net.connection import Receiver, ServerConnection, SocketClosed
from .net.port import Port
from .net.urls import Address
from .recordings.jsonl_file import Recording
from .server_log import Log
from .wire import Frame, ServiceRefusal, close_message, parse

log = get_logger("livetools.testing")

PASSED_ON = ("x-goog-api-key", "authorization", "x-goog-user-project", "x-goog-api-client", "user-agent")


class RecordingProxy(Address):
    """A local port whose every connection is passed on to ``upstream`` and recorded.

    Keys travel on and are never written. An upstream that cannot be reached closes the client's connection
    with 1011 and the reason; ``log`` has the whole of it. Leaving it closes every connection.

    ::

        with Recording(FOLDER / "call.jsonl") as recording:
            async with FakeLiveServer() as service, RecordingProxy(service.url, recording) as proxy:
                async with connect(MODEL, base_url=proxy.url) as session:
                    await session.ask("Hello?")
        print(len(recording.frames), "frames")
    """

    def __init__(
        self,
        upstream: str,
        recording: Recording,
        *,
        tls: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        upstream_ssl: ssl.SSLContext | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(Port(host, port), tls)
        self.upstream = (
            upstream.rstrip("/").replace("http", "ws", 1) if upstream.startswith("http") else upstream
        )
        self.recording = recording
        self._log = Log()
        self._clock = clock or SystemClock()
        self._dialer = WebSocket(ssl=upstream_ssl)
        self._acceptor = Acceptor(self._admit, self._http, self._failed, secured=lambda: self.server_ssl)

    @property
    def log(self) -> list[str]:
        """What went wrong, a line each."""
        return self._log.lines

    async def __aenter__(self) -> Self:
        await self.listener.open(self._acceptor.serve, self._acceptor.farewell, self._failed)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.listener.close()

    @contextlib.asynccontextmanager
    async def _admit(self, connection: ServerConnection, request: Request) -> AsyncIterator[Receiver]:
        """Dial upstream for this client, and pass on the frames of both until one of them leaves."""
        headers = {name: value for name in PASSED_ON if (value := header(request, name)) is not None}
        url = f"{self.upstream}/{request.path.lstrip('/')}"
        async with contextlib.AsyncExitStack() as stack:
            try:
                transport = await stack.enter_async_context(self._dialer.dial(url, headers))
            except (
                LiveToolsError,
                ValueError,
            ) as error:  # ValueError: a path or a header that cannot be sent on
                self._log.note(f"connection {connection.number}: {error}")
                await connection.close(1011, f"The proxy cannot reach the service: {error}")
                yield _deaf
                return
            group = await stack.enter_async_context(anyio.create_task_group())
            group.start_soon(self._back, transport, connection)
            yield lambda data: self._forth(data, transport, connection)
            group.cancel_scope.cancel()

    async def _forth(self, data: bytes, transport: Transport, connection: ServerConnection) -> None:
        self._record("client", connection, data)
        with contextlib.suppress(UpstreamGone):  # the other direction tells the client
            await transport.send(data)

    async def _back(self, transport: Transport, connection: ServerConnection) -> None:
        try:
            while True:
                data = await transport.receive()
                self._record("server", connection, data)
                await connection.send(data)
        except SocketClosed:
            return
        except UpstreamGone as gone:
            close = close_message(gone.code, gone.reason)
            self.recording.add(Frame(self._clock.now(), "server", connection.number, close))
            await connection.close(gone.code, gone.reason)

    def _record(
        self, direction: Literal["client", "server"], connection: ServerConnection, data: bytes
    ) -> None:
        try:
            message = parse(data)
        except ServiceRefusal:
            message = {"_text": data.decode(errors="replace")}
        self.recording.add(Frame(self._clock.now(), direction, connection.number, message))

    async def _http(self, stream: ByteStream, head: bytes) -> None:
        """Only websockets are passed on."""
        body = b"This is livetools' recording proxy. It passes on websockets only.\n"
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await stream.send(b"HTTP/1.1 501 Not Implemented\r\nConnection: close\r\n\r\n" + body)

    def _failed(self, error: Exception) -> None:
        """Log the error of a connection's task. The other connections continue."""
        log.error("a task of the recording proxy failed", exc_info=error)
        self._log.note(f"a connection failed: {type(error).__name__}: {error}")


async def _deaf(data: bytes) -> None:
    """Drops the frames of a client that has no connection upstream."""
