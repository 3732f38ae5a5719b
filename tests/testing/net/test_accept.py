"""Sockets that arrive and do not behave, and how everybody is sent home."""

from __future__ import annotations

import contextlib
import logging
import re

import anyio
import pytest
from anyio.streams.tls import TLSStream

import livetools
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("data", [b"", b"\x16\x03\x01nonsense", b"GET / HTTP/1.1\r\n", b"x" * 100_000])
async def test_a_socket_that_says_nothing_sensible_harms_nobody(dial, data, tls):
    async with FakeLiveServer(tls=tls) as server:
        async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
            if data:
                await stream.send(data)
        async with dial(server) as client:
            await client.say("hello")
            await client.until("turnComplete")


@pytest.mark.parametrize(
    ("tls", "data", "told"),
    [
        (
            False,
            b"\x16\x03\x01\x02\x00\x01",
            r"spoke TLS \(.*\) to a plain port: .*livetools serve --tls",
        ),
        (True, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "spoke plain HTTP to a port with TLS: .*https://"),
    ],
)
async def test_a_client_that_speaks_tls_where_there_is_none_is_told_of_and_the_other_way_round(
    tls, data, told
):
    async with FakeLiveServer(tls=tls) as server:
        async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
            await stream.send(data)
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    await stream.receive()
        assert [line for line in server.log if re.search(told, line)]


async def test_an_upgrade_that_is_none_is_answered_in_http():
    async with FakeLiveServer() as server, await anyio.connect_tcp("127.0.0.1", server.port) as stream:
        await stream.send(b"GET /ws/x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 4")


async def test_no_log_holds_a_key_even_at_debug(caplog):
    caplog.set_level(logging.DEBUG)
    async with FakeLiveServer(api_keys=["secret-key"]) as server:
        async with livetools.connect("gemini-3.8-live", **server.options):
            pass
    assert not [record for record in caplog.records if "secret-key" in record.getMessage()]


async def test_leaving_closes_who_is_still_there_with_1001(dial):
    server = FakeLiveServer()
    async with anyio.create_task_group() as group:
        opened, seen = anyio.Event(), []

        async def visitor():
            async with dial(server) as client:
                opened.set()
                seen.append(await client.closed())

        async with server:
            group.start_soon(visitor)
            await opened.wait()
    assert seen == [(1001, "The fake server stops.")]


async def test_an_answer_that_is_under_way_when_the_server_is_left_is_waited_for(dial):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.call("f")

    async with anyio.create_task_group() as group:
        called, go = anyio.Event(), anyio.Event()

        async def visitor():
            async with dial(server) as client:
                await client.say("go")
                (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
                called.set()
                await go.wait()
                await client.answer(call, output=1)
                await client.closed()

        async with server:
            group.start_soon(visitor)
            await called.wait()
            go.set()
    assert server.calls[0].state == "answered"


@pytest.mark.parametrize("tls", [False, True])
async def test_a_client_that_has_said_nothing_is_sent_home_too(tls):
    async with FakeLiveServer(tls=tls) as server:
        stream = await anyio.connect_tcp("127.0.0.1", server.port)
        async with stream:
            await stream.send(b"")
            await server.listener.close()
            with anyio.fail_after(30), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()


UPGRADE = (
    b"GET /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x HTTP/1.1\r\n"
    b"Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
BODILESS = b"POST /v1beta/models/x:generateContent HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"


@pytest.fixture
def impatient(monkeypatch):
    """Clients have little time."""
    for module in ("net.accept", "rest.http"):
        monkeypatch.setattr(f"livetools.testing.{module}.REQUEST_TIMEOUT", 0.2)


@pytest.mark.virtual_time
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "said", [b"", b"GET / HT", UPGRADE, BODILESS], ids=["nothing", "half", "upgrade", "post"]
)
async def test_a_socket_that_falls_silent_too_early_is_closed(impatient, said, tls):
    async with FakeLiveServer(tls=tls) as server:
        async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
            if tls and said:
                stream = await TLSStream.wrap(stream, ssl_context=server.ssl_context, hostname="localhost")
            if said:
                await stream.send(said)
            with anyio.fail_after(3), contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    await stream.receive()
        assert not server.service.log.errors


@pytest.mark.virtual_time
async def test_a_client_that_has_spoken_may_be_silent_for_as_long_as_it_likes(impatient, dial):
    async with FakeLiveServer() as server, dial(server) as client:
        await anyio.sleep(0.5)
        await client.say("hello")
        await client.until("turnComplete")
