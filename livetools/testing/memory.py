"""An in-memory transport for tests: a connection without a socket, with faults.

::

    transport = MemoryTransport()
    async with connect(model, transport=transport, base_url="ws://localhost") as session: ...

    server = await transport.accept()              # in another task: the next dial
    setup = await server.receive()
    server.send({"setupComplete": {}})
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

from livetools.protocol.input.resend import PongCount
from livetools.transport.contract import Gone, Transport

T = TypeVar("T")


class MemoryTransport:
    """A dialer whose other end is in the same process.

    ``refuse``: raised by the dials that follow, while it is set. ``dials`` counts them.

    ::

        transport = MemoryTransport()

        async def serve():
            server = await transport.accept()
            print(list(await server.receive()))  # ['setup']
            server.send({"setupComplete": {}})

        async with create_task_group() as group:
            group.start_soon(serve)
            async with connect(MODEL, transport=transport, base_url="ws://localhost") as session:
                print(session.model)
    """

    def __init__(self) -> None:
        self.refuse: Exception | None = None
        self.dials = 0
        self._waiting: deque[MemoryServer] = deque()
        self._arrived = anyio.Event()

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        """See :class:`~.contract.Dialer`."""
        self.dials += 1
        await anyio.lowlevel.checkpoint()
        if self.refuse is not None:
            raise self.refuse
        server = MemoryServer(url, headers)
        self._waiting.append(server)
        self._arrived.set()
        client = _Client(server)
        try:
            yield client
        finally:
            await client.aclose()

    async def accept(self) -> MemoryServer:
        """The server's end of the next dial, or of one that came already."""
        while not self._waiting:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._waiting.popleft()


class MemoryServer:
    """The server's end of one connection. Sending and faults are immediate; only ``receive`` waits.

    ``full``: while true, the client's sends wait, as on a socket that nobody reads. ``end``: how it ended.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url, self.headers = url, headers
        self.end: Gone | None = None
        self.full = False
        # Each frame has beside it how many frames had been received here when it was sent.
        self._to_client: deque[tuple[bytes, int]] = deque()
        self._to_server: deque[bytes] = deque()
        self.sent = 0  # frames of the client's
        self.received = 0  # those that were received here
        self.known = 0  # those, when the frame was sent that the client has received last
        self._changed = anyio.Event()

    def send(self, message: Mapping[str, Any] | bytes | str) -> None:
        """One frame to the client: an object as JSON, or bytes and text as they are."""
        if isinstance(message, Mapping):
            message = json.dumps(message)
        self._to_client.append((message.encode() if isinstance(message, str) else message, self.received))
        self.changed()

    async def receive(self) -> dict[str, Any]:
        """The client's next frame. Raises :class:`Gone` after the last one."""
        frame = await self.take(self._to_server)
        self.received += 1
        return json.loads(frame)  # type: ignore[no-any-return]

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close with a code. The client still receives what was sent before."""
        self._finish(Gone(code, reason))

    def drop(self) -> None:
        """Cut the line: what was not received yet is lost, both ways."""
        self._to_client.clear()
        self._finish(Gone(1006))

    def stall(self, full: bool = True) -> None:
        """Take no more from the client (``full=False``: continue)."""
        self.full = full
        self.changed()

    def _finish(self, end: Gone) -> None:
        self.end = self.end or end
        self.changed()

    def changed(self) -> None:
        """Wake the tasks that wait for this connection."""
        self._changed.set()
        self._changed = anyio.Event()

    async def wait(self) -> None:
        """Until something changes."""
        await self._changed.wait()

    async def take(self, queue: deque[T]) -> T:
        """The next frame of one direction, or the connection's end."""
        while not queue:
            self._raise_end()
            await self.wait()
        return queue.popleft()

    async def put(self, frame: bytes) -> None:
        """What the client sends."""
        while self.full and self.end is None:
            await self.wait()
        self._raise_end()
        self._to_server.append(frame)
        self.sent += 1
        self.changed()

    def _raise_end(self) -> None:
        """Raise how the connection has ended, if it has; each time another exception, with a traceback of its own."""
        if self.end is not None:
            raise Gone(self.end.code, self.end.reason, self.end.by_us)

    async def give(self) -> bytes:
        """What the client receives."""
        frame, self.known = await self.take(self._to_client)
        return frame


class _Client:
    def __init__(self, server: MemoryServer) -> None:
        self._server = server

    async def send(self, frame: bytes) -> None:
        with anyio.CancelScope(shield=True):
            await self._server.put(frame)
        await anyio.lowlevel.checkpoint_if_cancelled()

    def ask(self, at_once: bool = True) -> PongCount:
        server, so_far = self._server, self._server.sent + 1  # with the frame that is sent next
        return lambda: int(server.known >= so_far) if server.received >= so_far else None

    def silent_for(self) -> float:
        """A line in memory is never dead."""
        return 0.0

    def hurry(self) -> None:
        """No ping is put off."""

    async def receive(self) -> bytes:
        return await self._server.give()

    async def aclose(self) -> None:
        if self._server.end is None:
            self._server.end = Gone(1000, "", by_us=True)
            self._server.changed()
