"""A session, and the server's end of its line in the hands of a test that means no good."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

import livetools
from livetools.testing.memory import MemoryServer, MemoryTransport
from livetools.transport.contract import Gone


@dataclass
class Line:
    """The session, its transport, and the server's ends of its connections, the newest last."""

    session: livetools.Session
    transport: MemoryTransport
    servers: list[MemoryServer] = field(default_factory=list)

    @property
    def server(self) -> MemoryServer:
        return self.servers[-1]

    def call(self, name: str, id: str | None = "c1", **args: object) -> None:
        one = {"name": name, "args": args} if id is None else {"name": name, "id": id, "args": args}
        self.server.send({"toolCall": {"functionCalls": [one]}})

    async def answers(self, count: int) -> list[dict[str, Any]]:
        """The next function responses."""
        found: list[dict[str, Any]] = []
        with anyio.fail_after(30):
            while len(found) < count:
                frame = await self.server.receive()
                found += frame.get("toolResponse", {}).get("functionResponses", [])
        return found

    async def answer(self, name: str, id: str = "c1", **args: object) -> dict[str, Any]:
        """What a call is answered."""
        self.call(name, id, **args)
        (response,) = await self.answers(1)
        assert response["id"] == id
        return dict(response["response"])


Opened = Callable[..., AbstractAsyncContextManager[Line]]


async def greet(transport: MemoryTransport, servers: list[MemoryServer]) -> None:
    """Complete every setup, with a handle."""
    while True:
        server = await transport.accept()
        with contextlib.suppress(Gone):
            await server.receive()
            servers.append(server)
            server.send({"setupComplete": {}})
            server.send({"sessionResumptionUpdate": {"newHandle": f"h{len(servers)}", "resumable": True}})


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
        options.setdefault("base_url", "ws://localhost")
        async with anyio.create_task_group() as group:
            group.start_soon(greet, transport, servers)
            try:
                async with livetools.connect(model, tools=tools, transport=transport, **options) as session:
                    yield Line(session, transport, servers)
            except BaseException as error:  # raised bare below, outside the test's own task group
                raised = error
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised

    return open_line
