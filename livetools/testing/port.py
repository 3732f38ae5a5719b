"""Where the fake server listens: a port that is known before anybody serves it, and the tasks behind it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import SocketListener, SocketStream, TaskGroup

from livetools.session.host import Host


class Port:
    """A listening TCP socket and the host of its tasks (see :mod:`livetools.session.host`)."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self._port = port
        self._socket: socket.socket | None = None
        self._tasks: Host | None = None
        self._group: TaskGroup | None = None
        self._stopping: anyio.Event | None = None

    @property
    def number(self) -> int:
        """The port's number; asking for it binds it."""
        if self._socket is None:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            self._socket = socket.socket(family)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((self.host, self._port))
            self._port = self._socket.getsockname()[1]
        return self._port

    async def open(
        self, serve: Callable[[SocketStream], Awaitable[None]], farewell: Callable[[], Awaitable[None]]
    ) -> None:
        """Serve each connection in a task of its own until :meth:`close`, which then awaits ``farewell``."""
        assert self.number
        assert self._socket is not None
        self._socket.listen(1024)
        self._stopping = anyio.Event()
        stopping, bound = self._stopping, self._socket

        async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
            self._group = group
            listener = await SocketListener.from_socket(bound)
            try:
                group.start_soon(_listen, listener, serve, group)
                ready()
                await stopping.wait()
            finally:
                await anyio.aclose_forcefully(listener)
            await farewell()

        self._tasks = Host("livetools fake server")
        await self._tasks.start(main)

    async def close(self) -> None:
        """Stop listening and end every task; idempotent."""
        if self._tasks is not None and self._stopping is not None:
            self._stopping.set()
            await self._tasks.stop(grace=5.0)
        elif self._socket is not None:
            self._socket.close()

    def start_task(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run ``function`` beside the connections, for as long as the port is open."""
        assert self._group is not None
        self._group.start_soon(function, *args)


async def _listen(
    listener: SocketListener, serve: Callable[[SocketStream], Awaitable[None]], group: TaskGroup
) -> None:
    with contextlib.suppress(anyio.ClosedResourceError):  # how it is stopped
        await listener.serve(serve, group)
