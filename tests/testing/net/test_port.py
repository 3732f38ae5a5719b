"""A listening port, and the tasks behind it."""

from __future__ import annotations

import anyio
import pytest

from livetools.testing.net.port import Port

pytestmark = pytest.mark.anyio


class Server:
    """Answers each connection with a letter, and raises for the first."""

    def __init__(self):
        self.port = Port("127.0.0.1", 0)
        self.served, self.failures, self.farewells = 0, [], 0

    async def serve(self, stream):
        async with stream:
            self.served += 1
            if self.served == 1:
                raise ZeroDivisionError
            await stream.send(b"x")

    async def farewell(self):
        self.farewells += 1

    async def __aenter__(self):
        await self.port.open(self.serve, self.farewell, self.failures.append)
        return self

    async def __aexit__(self, *_):
        await self.port.close()


async def ask(port):
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        return await stream.receive()


async def test_what_one_connection_raises_ends_it_alone_and_is_told():
    async with Server() as server:
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await ask(server.port.number)
        assert await ask(server.port.number) == b"x"
        assert [type(error) for error in server.failures] == [ZeroDivisionError]


async def test_so_does_a_task_that_was_started_beside_them():
    async def fails(text):
        raise ValueError(text)

    async with Server() as server:
        server.port.start_task(fails, "mine")
        with anyio.fail_after(5):
            while not server.failures:
                await anyio.lowlevel.checkpoint()
        server.served = 1
        assert await ask(server.port.number) == b"x"
    assert [str(error) for error in server.failures] == ["mine"]


async def test_it_says_farewell_once_and_refuses_from_then_on():
    server = Server()
    async with server:
        number = server.port.number
    await server.port.close()
    assert server.farewells == 1
    with pytest.raises(OSError, match=r"."):
        await anyio.connect_tcp("127.0.0.1", number)


async def test_a_port_that_was_only_named_is_closed_too():
    port = Port("127.0.0.1", 0)
    assert port.number == port.number
    await port.close()
    other = Port("127.0.0.1", port.number)
    assert other.number
    await other.close()
