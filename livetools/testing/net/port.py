"""The listening port of a fake server, and the tasks behind it. Its number is known before it is served."""

from __future__ import annotations

import functools
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import SocketListener, SocketStream, TaskGroup

from livetools.log import get_logger
from livetools.session.running.task_host import Host

log = get_logger("livetools.testing")

RETRY = 0.1  # seconds before another try, where the system had no means to accept a connection


#: Whether anyio takes a socket that is bound already (4.12); else it binds one of its own to the same port.
_TAKES_SOCKETS = hasattr(SocketListener, "from_socket")
_SHARED = socket.SO_REUSEADDR if _TAKES_SOCKETS else socket.SO_REUSEPORT


async def _listener(bound: socket.socket) -> SocketListener:
    """What accepts connections to the port of this socket."""
    if _TAKES_SOCKETS:
        return await SocketListener.from_socket(bound)
    host, port, *_ = bound.getsockname()
    listeners = await anyio.create_tcp_listener(
        local_host=host, local_port=port, backlog=1024, reuse_port=True
    )
    (listener,) = listeners.listeners  # of one address there is one
    assert isinstance(listener, SocketListener)
    return listener


class Port:
    """A listening TCP socket and the host of its tasks (see :mod:`livetools.session.running.task_host`)."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self._port = port
        self._socket: socket.socket | None = None
        self._tasks: Host | None = None
        self._group: TaskGroup | None = None
        self._stopping: anyio.Event | None = None
        self._failed: Callable[[Exception], None] = _nobody

    @property
    def number(self) -> int:
        """The port's number; asking for it binds it."""
        if self._socket is None:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            if not _TAKES_SOCKETS:  # one that shares its port would not notice that another server has it
                with socket.socket(family) as alone:
                    alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    alone.bind((self.host, self._port))
            bound = socket.socket(family)
            try:
                bound.setsockopt(socket.SOL_SOCKET, _SHARED, 1)
                bound.bind((self.host, self._port))
            except OSError:
                bound.close()
                raise
            self._socket, self._port = bound, bound.getsockname()[1]
        return self._port

    async def open(
        self,
        serve: Callable[[SocketStream], Awaitable[None]],
        farewell: Callable[[], Awaitable[None]],
        failed: Callable[[Exception], None],
    ) -> None:
        """Serve each connection in a task of its own until :meth:`close`, which then awaits ``farewell``.

        What a task raises ends that task alone, and is given to ``failed``: one connection's fault must not
        end the others.
        """
        if self._socket is not None and self._socket.fileno() < 0:
            self._socket = None  # it was closed, and is opened again with the same number
        _ = self.number  # binds the port; an assertion would not, under python -O
        assert self._socket is not None
        if _TAKES_SOCKETS:
            self._socket.listen(1024)
        self._stopping, self._failed = anyio.Event(), failed
        stopping, bound = self._stopping, self._socket

        async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
            self._group = group
            listener = await _listener(bound)
            try:
                group.start_soon(_listen, listener, functools.partial(self._guarded, serve), group)
                ready()
                await stopping.wait()
            finally:
                # The loop must hear of it before the socket closes: else it continues watching a number that the next
                # socket may get, which then cannot be watched, and whose wake-ups are lost.
                await anyio.aclose_forcefully(listener)
                bound.close()  # below anyio 4.16 closing the listener leaves it open
            await farewell()

        self._tasks = Host("livetools fake server")
        await self._tasks.start(main)

    async def close(self) -> None:
        """Stop listening and end every task; idempotent. The port may be opened again."""
        if self._tasks is not None and self._stopping is not None:
            self._stopping.set()
            await self._tasks.stop(grace=5.0)
        elif self._socket is not None:
            self._socket.close()

    def start_task(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run ``function`` beside the connections, for as long as the port is open."""
        assert self._group is not None
        self._group.start_soon(self._guarded, function, *args)

    async def _guarded(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        try:
            await function(*args)
        except Exception as error:
            self._failed(error)


def _nobody(error: Exception) -> None:
    raise error


async def _listen(
    listener: SocketListener, serve: Callable[[SocketStream], Coroutine[Any, Any, None]], group: TaskGroup
) -> None:
    """Accept until the listener is closed. Without descriptors or memory clients wait until there are some again."""
    while True:
        try:
            group.start_soon(serve, await listener.accept())
        except anyio.ClosedResourceError:  # how it is stopped
            return
        except (OSError, anyio.BrokenResourceError) as error:
            # On trio anyio raises the latter, with the system's error as its cause.
            reason = error if isinstance(error, OSError) else error.__cause__
            log.warning("no connection can be accepted now: %s", getattr(reason, "strerror", None) or error)
            await anyio.sleep(RETRY)
