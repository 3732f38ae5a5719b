"""A network between two real sockets, that can be slow, deaf, cut anywhere, and closed by halves."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterator

import anyio
from anyio.abc import SocketAttribute, SocketStream

#: The last is asyncio's, for writing to what was closed by half.
LOST = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, RuntimeError)


class Network:
    """Carries bytes from its ``port`` to ``target``, a port of this machine.

    ``delay``: seconds that each piece takes. ``hole``: what is sent vanishes, and so it stays for a connection that
    fell into it. ``budget``: bytes to each side after which the connection is cut, in the middle of whatever it is.
    """

    def __init__(self, target: int) -> None:
        self.port = 0
        self.delay = 0.0
        self.hole = False
        self.to_client = self.to_server = math.inf  # bytes that still pass
        self.connections: list[tuple[SocketStream, SocketStream]] = []
        self._target = target

    @contextlib.asynccontextmanager
    async def up(self) -> AsyncIterator[Network]:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        self.port = listener.extra(SocketAttribute.local_port)
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, self._serve)
            yield self
            group.cancel_scope.cancel()

    async def half_close(self, to: str) -> None:
        """The newest connection's ``"client"`` or ``"server"`` reads the end; the other direction stands."""
        await self.connections[-1][to == "server"].send_eof()

    async def cut(self) -> None:
        """Both sides of the newest connection."""
        for stream in self.connections[-1]:
            await anyio.aclose_forcefully(stream)

    async def _serve(self, client: SocketStream) -> None:
        async with client, await anyio.connect_tcp("127.0.0.1", self._target) as server:
            self.connections.append((client, server))
            with contextlib.suppress(*LOST):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._carry, client, server, "to_server")
                    group.start_soon(self._carry, server, client, "to_client")

    async def _carry(self, source: SocketStream, sink: SocketStream, way: str) -> None:
        swallowed = False
        with contextlib.suppress(anyio.EndOfStream, *LOST):
            while True:
                data = await source.receive()
                await anyio.sleep(self.delay)
                swallowed = swallowed or self.hole
                if swallowed:
                    continue
                left = getattr(self, way)
                setattr(self, way, left - len(data))
                await sink.send(data[: int(min(left, len(data)))])
                if left <= len(data):  # once
                    setattr(self, way, math.inf)
                    await anyio.aclose_forcefully(source)
                    await anyio.aclose_forcefully(sink)
                    return
        with contextlib.suppress(*LOST):
            await sink.send_eof()
