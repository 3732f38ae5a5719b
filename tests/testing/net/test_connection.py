"""One socket: whole messages in, whole frames out, and every end."""

from __future__ import annotations

import anyio
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode
from websockets.uri import parse_uri

from livetools.testing.net.connection import ServerConnection, SocketClosed

pytestmark = pytest.mark.anyio


class Pair:
    """Two ends of a stream in memory."""

    def __init__(self, incoming, outgoing):
        self.incoming, self.outgoing = incoming, outgoing

    async def receive(self, max_bytes=65536):
        return await self.incoming.receive()

    async def send(self, data):
        await self.outgoing.send(data)

    async def aclose(self):
        await self.incoming.aclose()
        await self.outgoing.aclose()


@pytest.fixture
async def ends():
    """A connection that stands, and the client's side of it."""
    to_server, from_client = anyio.create_memory_object_stream[bytes](100)
    to_client, from_server = anyio.create_memory_object_stream[bytes](100)
    client = ClientProtocol(parse_uri("ws://localhost/"))
    connection = ServerConnection(1, Pair(from_client, to_client))
    client.send_request(client.connect())
    assert await connection.accept(b"".join(client.data_to_send()))
    client.receive_data(await from_server.receive())
    client.events_received()
    yield connection, client, to_server, from_server
    for stream in (to_server, from_client, to_client, from_server):
        await stream.aclose()


async def test_a_message_in_fragments_and_pieces_is_heard_whole(ends):
    connection, client, to_server, _ = ends
    heard = []

    async def receiver(data):
        heard.append(data)

    client.send_text(b'{"a"', fin=False)
    client.send_ping(b"between")
    client.send_continuation(b": 1}", fin=True)
    client.send_close(1000)
    data = b"".join(client.data_to_send())
    for n in range(0, len(data), 3):
        await to_server.send(data[n : n + 3])
    await connection.receive(receiver)
    assert heard == [b'{"a": 1}']
    assert connection.closed_by == "client"
    with pytest.raises(SocketClosed):
        await connection.send(b"late")


async def test_a_send_that_is_cancelled_is_written_whole_all_the_same(ends):
    connection, client, _, from_server = ends
    with anyio.move_on_after(0):
        await connection.send(b"x" * 100)
    client.receive_data(await from_server.receive())
    assert [event.data for event in client.events_received()] == [b"x" * 100]


async def test_a_broken_line_ends_the_reader_without_a_word(ends):
    connection, _, to_server, _ = ends
    await to_server.aclose()
    await connection.receive(lambda data: None)
    assert connection.closed_by == "line"
    assert connection.ended.is_set()


@pytest.mark.parametrize("answered", [True, False])
async def test_a_ping_tells_whether_it_was_answered(ends, answered):
    connection, client, to_server, from_server = ends
    pongs = []

    async def ping():
        pongs.append(await connection.ping())

    async with anyio.create_task_group() as group:
        group.start_soon(ping)
        client.receive_data(await from_server.receive())
        if answered:
            for data in client.data_to_send():
                await to_server.send(data)
        await to_server.aclose()
        group.start_soon(connection.receive, None)
    assert pongs == [answered]


async def test_what_is_sent_together_leaves_in_one_write_and_in_its_order(ends):
    connection, client, _, from_server = ends
    async with connection.together():
        for word in (b"one", b"two", b"three"):
            await connection.send(word)
        with pytest.raises(anyio.WouldBlock):
            from_server.receive_nowait()
    client.receive_data(from_server.receive_nowait())
    assert [event.data for event in client.events_received()] == [b"one", b"two", b"three"]


async def test_what_was_sent_before_the_body_raised_is_written(ends):
    connection, client, _, from_server = ends

    async def body():
        async with connection.together():
            await connection.send(b"one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await body()
    client.receive_data(from_server.receive_nowait())
    assert [event.data for event in client.events_received()] == [b"one"]


async def test_much_does_not_wait_for_the_rest(ends):
    connection, _, _, from_server = ends
    async with connection.together():
        await connection.send(bytes(300 * 1024))
        assert len(from_server.receive_nowait()) > 300 * 1024


async def test_a_line_that_broke_meanwhile_is_told_at_the_end(ends):
    connection, _, _, from_server = ends

    async def body():
        async with connection.together():
            await connection.send(b"one")
            await from_server.aclose()

    with pytest.raises(SocketClosed):
        await body()


async def test_what_was_said_right_before_the_close_is_heard_before_the_close_is_answered(ends):
    connection, client, to_server, from_server = ends
    answered = []

    async def receiver(data):
        await anyio.lowlevel.checkpoint()
        with pytest.raises(anyio.WouldBlock):
            from_server.receive_nowait()
        answered.append(data)

    client.send_text(b"last words")
    client.send_close(1000)
    await to_server.send(b"".join(client.data_to_send()))
    await connection.receive(receiver)
    assert answered == [b"last words"]
    assert from_server.receive_nowait()


async def test_frames_that_came_with_the_request_are_heard(ends):
    to_server, from_client = anyio.create_memory_object_stream[bytes](100)
    to_client, from_server = anyio.create_memory_object_stream[bytes](100)
    client = ClientProtocol(parse_uri("ws://localhost/"))
    connection = ServerConnection(1, Pair(from_client, to_client))
    client.send_request(client.connect())
    head = b"".join(client.data_to_send())
    frames = WireFrame(Opcode.TEXT, b"early").serialize(mask=True)
    assert await connection.accept(head + frames)
    heard = []

    async def receiver(data):
        heard.append(data)
        await to_server.aclose()

    await connection.receive(receiver)
    assert heard == [b"early"]
    for stream in (from_client, to_client, from_server):
        await stream.aclose()
