"""A listening port, and the tasks behind it."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.lowlevel
import pytest
from support.waiting import until_true

from livetools.testing.net.port import Port

pytestmark = pytest.mark.anyio


def test_a_fake_server_serves_where_python_leaves_out_assertions():
    program = (
        "import asyncio, livetools, livetools.testing; MODEL = 'gemini-3.8-live'\n"
        "async def main():\n"
        "    async with livetools.testing.FakeLiveServer() as s, livetools.connect(MODEL, **s.options) as session:\n"
        "        print(await session.ask('hello'))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "hello", done.stderr


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
        with anyio.fail_after(30):
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


@contextmanager
def no_descriptors() -> Iterator[None]:
    """The process may open nothing more: what it has open already stays so."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_without_descriptors_it_waits_for_some_and_goes_on(monkeypatch, caplog):
    monkeypatch.setattr("livetools.testing.net.port.RETRY", 0.001)
    async with Server() as server:
        server.served = 1  # the first one would raise
        with socket.socket() as client:
            client.setblocking(False)
            with no_descriptors():
                client.connect_ex(("127.0.0.1", server.port.number))
                await until_true(lambda: "no connection can be accepted now" in caplog.text)
            await until_true(lambda: server.served == 2)
    assert "Too many open files" in caplog.text
    assert not server.failures
