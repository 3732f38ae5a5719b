"""The in-memory pair keeps the transport's contract, and its faults are immediate."""

from __future__ import annotations

from typing import cast

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.errors import ConnectFailed
from livetools.protocol.input.resend import PongCount
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Gone, Pinging, Transport

pytestmark = pytest.mark.anyio


async def ask(transport: Transport) -> PongCount:
    """Send something, and ask whether it arrived: a method that a transport may have or not."""
    pong = cast(Pinging, transport).ask()
    await transport.send(b'{"asks": true}')
    return pong


async def test_frames_cross_both_ways() -> None:
    pair = MemoryTransport()
    async with pair.dial("ws://x/ws", {"a": "b"}) as client:
        server = await pair.accept()
        await client.send(b'{"setup": {}}')
        assert await server.receive() == {"setup": {}}
        server.send({"setupComplete": {}})
        assert await client.receive() == b'{"setupComplete": {}}'
        assert (server.url, dict(server.headers)) == ("ws://x/ws", {"a": "b"})


async def test_a_close_comes_after_what_was_sent_and_a_drop_before_it() -> None:
    pair = MemoryTransport()
    async with pair.dial("", {}) as client:
        server = await pair.accept()
        server.send("last")
        server.close(1011, "oops")
        assert await client.receive() == b"last"
        with pytest.raises(Gone, match="1011 oops"):
            await client.receive()
    async with pair.dial("", {}) as client:
        server = await pair.accept()
        server.send("lost")
        server.drop()
        with pytest.raises(Gone, match="1006"):
            await client.receive()
        with pytest.raises(Gone, match="1006"):
            await client.send(b"{}")


async def test_a_full_socket_holds_a_send_that_completes_though_it_is_cancelled() -> None:
    pair = MemoryTransport()
    async with pair.dial("", {}) as client, anyio.create_task_group() as group:
        server = await pair.accept()
        server.stall()
        group.start_soon(client.send, b'{"n": 1}')
        await everybody_waits()
        group.cancel_scope.cancel()
        server.stall(full=False)
        with anyio.CancelScope(shield=True):
            assert await server.receive() == {"n": 1}


async def test_the_server_sees_who_left() -> None:
    pair = MemoryTransport()
    async with pair.dial("", {}) as client:
        server = await pair.accept()
        await client.aclose()
        await client.aclose()
        with pytest.raises(Gone, match="1000") as caught:
            await server.receive()
        assert caught.value.by_us


async def test_a_dial_can_be_refused() -> None:
    pair = MemoryTransport()
    pair.refuse = ConnectFailed("nobody listens")
    with pytest.raises(ConnectFailed):
        async with pair.dial("", {}):
            pass
    assert pair.dials == 1


async def test_what_the_other_end_had_received_when_it_spoke_can_be_asked() -> None:
    pair = MemoryTransport()
    async with pair.dial("", {}) as client:
        server = await pair.accept()
        behind = await ask(client)
        await client.send(b"{}")
        assert behind is not None
        assert behind() is None
        server.send("before")
        await server.receive()
        server.send("behind")
        for spoke_knowing in (False, True):
            await client.receive()
            assert bool(behind()) is spoke_knowing
