"""Real sockets through a proxy that drops, delays and half-closes, with TLS too."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

import livetools
from livetools import Reconnected, ReconnectPolicy, ToolFinished, ToolLost
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio

QUICK = ReconnectPolicy(initial=0.01, maximum=0.05)
MODEL = "gemini-3.8-live"


class Proxy:
    """Bytes pass while it is ``up``; cutting it drops every connection at once, without a word."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._scopes: set[anyio.CancelScope] = set()
        self.port = 0
        self.deaf = False  # accepts, and lets nothing through
        self.connections = 0

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            self.port = listener.extra(SocketAttribute.local_port)
            task_status.started()
            await listener.serve(self._serve)

    def cut(self) -> None:
        for scope in self._scopes:
            scope.cancel()

    async def _serve(self, client: ByteStream) -> None:
        self.connections += 1
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            async with client, await anyio.connect_tcp("127.0.0.1", self._target) as server:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._pass, client, server)
                    group.start_soon(self._pass, server, client)
        self._scopes.discard(scope)

    async def _pass(self, source: ByteStream, sink: ByteStream) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in source:
                while self.deaf:
                    await anyio.sleep(0.005)
                await sink.send(data)
            await sink.send_eof()


@contextlib.asynccontextmanager
async def through_a_proxy(
    server: FakeLiveServer, *tools: Any, **options: Any
) -> AsyncIterator[tuple[livetools.Session, Proxy]]:
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    proxy = Proxy(port)
    async with anyio.create_task_group() as group:
        await group.start(proxy.run)
        given = {**server.options, **options}
        given["base_url"] = given["base_url"].replace(str(port), str(proxy.port))
        async with livetools.connect(MODEL, tools=tools, **given) as session:
            yield session, proxy
        group.cancel_scope.cancel()


async def until(session: livetools.Session, kind: type) -> Any:
    with anyio.fail_after(30):
        async for event in session:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"no {kind.__name__}")


@pytest.mark.parametrize("tls", [False, True])
async def test_a_line_that_is_cut_is_dialled_again_and_the_conversation_goes_on(tls: bool) -> None:
    async with FakeLiveServer(tls=tls) as server:
        async with through_a_proxy(server, reconnect=QUICK) as (session, proxy):
            assert "one" in str(await session.ask("one", timeout=30))
            proxy.cut()
            await until(session, Reconnected)
            assert "two" in str(await session.ask("two", timeout=30))
            assert proxy.connections == 2


@pytest.mark.parametrize("tls", [False, True])
async def test_a_result_survives_the_line_and_is_told_once(tls: bool) -> None:
    release, runs = anyio.Event(), 0

    async def slow() -> str:
        """Slow."""
        nonlocal runs
        runs += 1
        await release.wait()
        return "the result"

    async def model(turn: Turn) -> None:
        if turn.text == "go":
            await turn.start_call("slow")
        else:
            await turn.say("heard")

    async with FakeLiveServer(model, tls=tls) as server:
        async with through_a_proxy(server, slow, reconnect=QUICK) as (session, proxy):
            await session.send_text("go")
            await until(session, livetools.ToolStarted)
            proxy.cut()
            lost = await until(session, ToolLost)
            assert lost.delivery == "text"
            await until(session, Reconnected)
            release.set()
            await until(session, ToolFinished)
            with anyio.fail_after(30):
                while not any(
                    "the result" in str(f.message) for f in server.frames if f.direction == "client"
                ):
                    await anyio.sleep(0.01)
        assert runs == 1


async def test_text_sent_while_the_line_is_deaf_arrives_once_it_hears_again() -> None:
    async with FakeLiveServer() as server, through_a_proxy(server, reconnect=QUICK) as (session, proxy):
        proxy.deaf = True
        async with anyio.create_task_group() as group:
            replies = []

            async def ask() -> None:
                replies.append(str(await session.ask("patience", timeout=30)))

            group.start_soon(ask)
            await anyio.sleep(0.05)
            assert replies == []
            proxy.deaf = False
        assert "patience" in replies[0]
