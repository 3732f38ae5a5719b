"""Dials that fail, hang, or are given up: each is one clear error, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest
from support.waiting import cancelled_once_it_waits

import livetools
from livetools import AuthenticationError, ConnectFailed, SetupTimeout
from livetools.protocol.connection.http_statuses import http_error
from livetools.testing import FakeLiveServer, User
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Dialer, Transport
from livetools.transport.websocket import WebSocket

pytestmark = pytest.mark.anyio

AT_ONCE = livetools.ReconnectPolicy(initial=0.001)


async def enter(**options: object) -> None:
    async with livetools.connect("gemini-3.8-live", base_url="ws://localhost:1", **options):  # type: ignore[arg-type]
        raise AssertionError("it cannot stand")


async def test_a_port_that_nobody_listens_on_is_not_tried_again() -> None:
    with pytest.raises(ConnectFailed, match="nobody listens on localhost:1"):
        await enter()


async def test_a_dial_that_hangs_is_given_up_with_the_setup() -> None:
    class Hanging:
        @asynccontextmanager
        async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
            await anyio.sleep_forever()
            raise AssertionError
            yield

    with pytest.raises(SetupTimeout):
        await enter(transport=Hanging(), setup_timeout=0.05)


async def test_a_transport_that_raises_something_of_its_own_is_still_one_clear_error() -> None:
    transport = MemoryTransport()
    transport.refuse = ZeroDivisionError("a bug in a transport of the user's")
    with pytest.raises(ConnectFailed, match="ZeroDivisionError"):
        await enter(transport=transport)


async def test_a_key_that_cannot_be_had_is_the_error() -> None:
    async def key() -> str:
        raise ConnectFailed("the vault is sealed")

    with pytest.raises(livetools.LiveToolsError, match=r"api_key\(\) raised"):
        await enter(api_key=key, transport=MemoryTransport())


async def test_cancelling_the_entry_leaves_nothing_behind() -> None:
    transport = MemoryTransport()
    async with cancelled_once_it_waits() as scope:
        await enter(transport=transport)
    assert scope.cancelled_caught
    server = await transport.accept()
    assert server.end is not None


@pytest.mark.virtual_time
async def test_a_transport_that_does_not_end_does_not_keep_a_session_from_being_left() -> None:
    transport, ended = MemoryTransport(), anyio.Event()

    class Lingering:
        @asynccontextmanager
        async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
            async with transport.dial(url, headers) as inner:
                try:
                    yield inner
                finally:
                    try:
                        await anyio.sleep_forever()
                    finally:
                        ended.set()

    async def serve() -> None:
        server = await transport.accept()
        await server.receive()
        server.send({"setupComplete": {}})

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            async with livetools.connect(
                "gemini-3.8-live", base_url="ws://localhost:1", transport=Lingering()
            ):
                pass
    assert ended.is_set()


async def test_a_dial_that_ends_its_connection_with_a_scope_of_its_own_is_a_line_that_broke() -> None:
    scopes: list[anyio.CancelScope] = []
    line = WebSocket()

    class Bounded:
        @asynccontextmanager
        async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
            async with line.dial(url, headers) as inner:
                with anyio.CancelScope() as scope:
                    scopes.append(scope)
                    yield inner

    with anyio.fail_after(30):
        async with FakeLiveServer() as server:

            @server.conversation
            async def script(user: User) -> None:
                await (await user.says("one")).say("1")
                await user.end_turn()
                await user.reconnects()
                await (await user.says("two")).say("2")

            async with livetools.connect(
                "gemini-3.8-live", base_url=server.url, transport=Bounded(), reconnect=AT_ONCE
            ) as session:
                assert str(await session.ask("one")) == "1"
                scopes[0].cancel()
                async for event in session:
                    if isinstance(event, livetools.Reconnected):
                        break
                assert str(await session.ask("two")) == "2"
    assert len(scopes) == 2


class Credentials:
    """Google's, as far as they are used: each refresh gives another token, and none says that it has expired."""

    token = "token-0"
    expired = False
    refreshed = 0

    def refresh(self, request: object) -> None:
        self.refreshed += 1
        self.token = f"token-{self.refreshed}"


class Door:
    """The way to ``server``, for the tokens that are in ``good`` now; HTTP 401 for every other."""

    def __init__(self, *good: str) -> None:
        self.good = {f"Bearer {token}" for token in good}
        self.shown: list[str] = []
        self.inner = livetools.WebSocket()

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        self.shown.append(headers.get("Authorization", ""))
        if self.shown[-1] not in self.good:
            raise http_error(401)
        async with self.inner.dial(url, headers) as transport:
            yield transport


def vertex(server: FakeLiveServer, door: Door, credentials: Credentials) -> livetools.Session:
    return livetools.connect(
        "gemini-3.8-live", vertexai=True, project="p", location="us", credentials=credentials,
        base_url=server.url, transport=door, reconnect=AT_ONCE,
    )  # fmt: skip


async def test_credentials_that_vertex_refuses_are_refreshed_and_shown_again() -> None:
    credentials, door = Credentials(), Door("token-1")
    async with FakeLiveServer() as server, vertex(server, door, credentials) as session:
        assert await session.ask("Are you there?")
    assert door.shown == ["Bearer token-0", "Bearer token-1"]


async def test_a_token_that_is_revoked_in_mid_session_is_refreshed_at_the_next_dial() -> None:
    credentials, door = Credentials(), Door("token-0")
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user: User) -> None:
            turn = await user.says("one")
            await turn.say("First.")
            door.good = {"Bearer token-1"}
            await turn.drop()
            await user.reconnects()
            await (await user.says("two")).say("Second.")

        async with vertex(server, door, credentials) as session:
            assert str(await session.ask("one")) == "First."
            assert str(await session.ask("two")) == "Second."
    assert credentials.refreshed == 1


async def test_credentials_that_are_refused_again_are_the_error_with_what_to_do_on_vertex() -> None:
    credentials, door = Credentials(), Door()
    async with FakeLiveServer() as server:
        with pytest.raises(AuthenticationError, match="application-default login") as caught:
            async with vertex(server, door, credentials):
                raise AssertionError("it cannot stand")
    assert len(door.shown) == 2
    assert caught.value.code == 401
    assert "GEMINI_API_KEY" not in str(caught.value)
    assert "token-" not in str(caught.value)


async def test_a_header_of_ones_own_is_not_renewed_by_credentials() -> None:
    credentials, door = Credentials(), Door()
    with pytest.raises(AuthenticationError):
        await enter(
            transport=door, vertexai=True, project="p", location="us", credentials=credentials,
            config={"http_options": {"headers": {"Authorization": "Bearer mine"}}},
        )  # fmt: skip
    assert (door.shown, credentials.refreshed) == (["Bearer mine"], 0)


async def test_an_api_key_that_is_refused_is_dialled_once() -> None:
    door = Door()
    with pytest.raises(AuthenticationError, match="Check the API key"):
        await enter(transport=door, api_key="k")
    assert len(door.shown) == 1


class Bare:
    """A transport without pings: the three methods of the contract, and nothing else."""

    def __init__(self, inner: Transport) -> None:
        self.send, self.receive, self.aclose = inner.send, inner.receive, inner.aclose


class Bares:
    """Dials transports without pings, by another dialer."""

    def __init__(self, inner: Dialer) -> None:
        self.inner = inner

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        async with self.inner.dial(url, headers) as transport:
            yield Bare(transport)


async def test_that_a_dead_line_cannot_be_noticed_is_said_once(
    live_server: FakeLiveServer, caplog: pytest.LogCaptureFixture
) -> None:
    @live_server.conversation
    async def script(user: User) -> None:
        turn = await user.says("one")
        await turn.drop()
        await user.reconnects()
        turn = await user.says("one")
        await turn.say("1")

    caplog.set_level("INFO", "livetools.session")
    async with livetools.connect(
        "gemini-3.8-live", transport=Bares(WebSocket()), reconnect=AT_ONCE
    ) as session:
        assert str(await session.ask("one")) == "1"
    said = [record.message for record in caplog.records if "no pings" in record.message]
    assert said == ["Bare sends no pings: that a line is dead shows only when it takes no more frames"]
