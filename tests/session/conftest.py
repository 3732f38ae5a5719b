"""A session and the server's end of its connection, in one process and without a socket."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from support.waiting import everybody_waits

import livetools
from livetools.testing.memory import MemoryServer, MemoryTransport
from livetools.transport.contract import Gone


@dataclass
class Line:
    """What a test holds: the session, its transport, and the server's end of each connection."""

    session: livetools.Session
    transport: MemoryTransport
    servers: list[MemoryServer]

    @property
    def server(self) -> MemoryServer:
        """The server's end of the first connection."""
        return self.servers[0]

    async def receive(self, *keys: str) -> dict[str, Any]:
        """The client's next frame of this kind; what comes before it is passed over."""
        with anyio.fail_after(30):
            while True:
                frame = await self.server.receive()
                if not keys or set(keys) & set(frame):
                    return frame

    async def responses(self, count: int) -> list[dict[str, Any]]:
        """The next function responses, over as many messages as they come in."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            found += (await self.receive("toolResponse"))["toolResponse"]["functionResponses"]
        return found

    def call(self, *calls: dict[str, Any]) -> None:
        """The model calls; each ``{"name": ..., "id": ..., "args": ...}``."""
        self.server.send({"toolCall": {"functionCalls": list(calls)}})

    def says(self, text: str) -> None:
        """The model says something, and its turn ends."""
        self.server.send({"serverContent": {"outputTranscription": {"text": text}}})
        self.server.send({"serverContent": {"turnComplete": True}})

    async def quiet(self) -> None:
        """Nothing more happens by itself."""
        await everybody_waits()

    async def until(self, kind: type, *, within: float = 30.0) -> Any:
        """The next event of this class."""
        with anyio.fail_after(within):
            async for event in self.session:
                if isinstance(event, kind):
                    return event
        raise AssertionError(f"the session ended before a {kind.__name__} came")


Opened = Callable[..., AbstractAsyncContextManager[Line]]


async def greet(transport: MemoryTransport, servers: list[MemoryServer]) -> None:
    """Complete the setup of every connection that is dialled."""
    while True:
        server = await transport.accept()
        servers.append(server)
        with contextlib.suppress(Gone):
            await server.receive()
            server.send({"setupComplete": {}})


@pytest.fixture
def opened() -> Opened:
    """``async with opened(tools, model=..., **options of connect) as line``."""

    @contextlib.asynccontextmanager
    async def open_line(
        tools: Iterable[object] = (), model: str = "gemini-3.8-live", **options: Any
    ) -> AsyncIterator[Line]:
        transport = MemoryTransport()
        servers: list[MemoryServer] = []
        raised: BaseException | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(greet, transport, servers)
            try:
                async with livetools.connect(
                    model, tools=tools, transport=transport, base_url="ws://localhost", **options
                ) as session:
                    yield Line(session, transport, servers)
            except Exception as error:  # raised bare below, outside the test's own task group
                raised = error
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised

    return open_line
