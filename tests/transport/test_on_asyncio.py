"""The connection on asyncio: each message is given away as it comes, and a frame is written at once."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import socket
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.raw import Raw, raw_server
from websockets.asyncio.client import ClientConnection

from livetools import ConnectFailed, LiveToolsError
from livetools.transport.contract import Gone
from livetools.transport.on_asyncio import PushConnection
from livetools.transport.setup_timeout import begin
from livetools.transport.websocket import WebSocket

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def dialled(script: Callable[[Raw], None], **options: Any) -> AsyncIterator[PushConnection]:
    with raw_server(script) as url:
        async with asyncio.timeout(20), WebSocket(**options).dial(url, {}) as transport:
            assert isinstance(transport, PushConnection)
            yield transport


def sends(*pieces: bytes) -> Callable[[Raw], None]:
    """A server that upgrades and writes this, each piece by itself."""

    def script(line: Raw) -> None:
        line.upgrade()
        for piece in pieces:
            line.sock.sendall(piece)
            time.sleep(0.01)
        line.close(1000, "bye")
        line.receive()

    return script


def frames(*texts: str) -> bytes:
    return b"".join(Raw.frame(text.encode()) for text in texts)


@pytest.mark.skipif(importlib.util.find_spec("uvloop") is None, reason="uvloop is not installed")
@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True})])
async def test_a_port_on_which_nobody_listens_is_told_so_on_uvloop_too(anyio_backend: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
    for scheme in ("ws", "wss"):
        begin()
        with pytest.raises(ConnectFailed, match=f"nobody listens on 127.0.0.1:{port}"):
            async with WebSocket().dial(f"{scheme}://127.0.0.1:{port}", {}):
                pass


@pytest.mark.parametrize(
    ("head", "line"),
    [(b"HTTP/1.1 403 Forbidden\r\n\r\n", b"\r\n"), (b"HTTP/1.1 101 Switching Protocols\r\n", b"a: b\r\n")],
    ids=["page", "headers"],
)
async def test_a_refusal_of_very_many_lines_does_not_hold_the_loop(
    head: bytes, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[int] = []
    data_received = ClientConnection.data_received

    def counted(connection: ClientConnection, data: bytes) -> None:
        passed.append(len(data))
        data_received(connection, data)

    def script(raw: Raw) -> None:
        raw.request()
        raw.sock.sendall(head + line * 100_000)

    monkeypatch.setattr(ClientConnection, "data_received", counted)
    with raw_server(script) as url, pytest.raises(LiveToolsError):
        async with asyncio.timeout(20), WebSocket().dial(url, {}):
            pass
    assert sum(passed) > len(head)
    assert len(passed) < 1000


async def test_messages_pings_and_fragments_come_in_their_order_to_whoever_listens() -> None:
    stream = (
        frames("1", "2") + Raw.frame(b"ping", 9) + Raw.frame(b"thr", 1, fin=False)
        + Raw.frame(b"pong", 10) + Raw.frame(b"ee", 0) + frames("4")
    )  # fmt: skip
    for cut in range(0, len(stream), 3):
        heard: list[bytes] = []
        async with dialled(sends(stream[:cut], stream[cut:])) as transport:
            end = await transport.listen(heard.append)
        assert heard == [b"1", b"2", b"three", b"4"]
        assert (end.code, end.reason, end.by_us) == (1000, "bye", False)


async def test_what_comes_in_one_read_with_the_response_is_not_lost() -> None:
    def script(line: Raw) -> None:
        send = line.sock.sendall

        class Together:
            """Keeps back what is sent, until the upgrade has been answered."""

            def sendall(self, data: bytes) -> None:
                send(data + frames("early"))

        line.sock, sock = Together(), line.sock  # type: ignore[assignment]  # the part of a socket that is used
        line.sock.recv = sock.recv  # type: ignore[method-assign]  # the same
        line.upgrade()
        line.sock = sock
        line.close(1000)
        line.receive()

    async with dialled(script) as transport:
        assert await transport.receive() == b"early"
        with pytest.raises(Gone):
            await transport.receive()


async def test_a_listener_that_is_cancelled_loses_nothing_to_the_next() -> None:
    heard: list[bytes] = []
    more, first = threading.Event(), asyncio.Event()

    def script(line: Raw) -> None:
        line.upgrade()
        line.sock.sendall(frames("1"))
        more.wait(10)
        line.sock.sendall(frames(*map(str, range(2, 100))))
        line.close(1000)
        line.receive()

    def feed(message: bytes) -> None:
        heard.append(message)
        first.set()

    async with dialled(script) as transport:
        task = asyncio.create_task(transport.listen(feed))
        await first.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        more.set()
        heard.append(await transport.receive())
        await transport.listen(heard.append)
    assert heard == [str(n).encode() for n in range(1, 100)]


async def test_what_a_listener_raises_is_raised_to_it_and_ends_the_line() -> None:
    def feed(message: bytes) -> None:
        raise ZeroDivisionError

    async with dialled(sends(frames("1"))) as transport:
        with pytest.raises(ZeroDivisionError):
            await transport.listen(feed)
        assert not transport.writable


async def test_fifty_thousand_frames_of_one_read_leave_the_loop_to_others() -> None:
    count, turns = 0, 0

    def feed(message: bytes) -> None:
        nonlocal count
        count += 1

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with dialled(sends(Raw.frame(b"{}") * 50_000)) as transport:
        task = asyncio.create_task(other())
        heard = asyncio.create_task(transport.listen(feed))
        worst = 0
        while not heard.done():
            before = count
            await asyncio.sleep(0)
            worst = max(worst, count - before)
        task.cancel()
    assert count == 50_000
    assert worst < 40_000  # a slice of five milliseconds holds a few thousand
    assert turns > 5


async def test_what_came_before_a_reset_is_still_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livetools.transport.on_asyncio.SLICE", 0.0)  # every frame in a turn of its own
    count = 0

    def feed(message: bytes) -> None:
        nonlocal count
        count += 1

    def script(line: Raw) -> None:
        line.upgrade()
        line.sock.sendall(frames("x") * 300)
        line.close(1011, "over")
        line.sock.close()

    async with dialled(script) as transport:
        end = await transport.listen(feed)
    assert count == 300
    assert (end.code, end.reason) == (1011, "over")


UNLAWFUL = {b"\xc1\x00": 1002, b"\x83\x00": 1002, b"\x82\x7f" + (2**50).to_bytes(8, "big"): 1009}


@pytest.mark.parametrize("begins", UNLAWFUL)
async def test_a_frame_that_may_not_be_is_refused(begins: bytes) -> None:
    closes: list[int] = []

    def script(line: Raw) -> None:
        line.upgrade()
        line.sock.sendall(frames("1") + begins)
        first, second = line.exactly(2)
        assert first == 0x88
        mask = line.exactly(4)
        data = line.exactly(second & 127)
        closes.append(int.from_bytes(bytes(b ^ mask[n % 4] for n, b in enumerate(data[:2])), "big"))

    heard: list[bytes] = []
    async with dialled(script) as transport:
        end = await transport.listen(heard.append)
    assert heard == [b"1"]
    assert closes == [UNLAWFUL[begins]]
    assert end.code == (1009 if closes == [1009] else 1006)


def reads(seen: list[bytes], wanted: int, begin: threading.Event) -> Callable[[Raw], None]:
    """A server that begins to read when it is told, until it has so many messages."""

    def script(line: Raw) -> None:
        line.upgrade()
        begin.wait(10)
        while len(seen) < wanted:
            seen.append(b"%d" % line.receive()["n"])
        line.close(1000)
        line.receive()

    return script


async def test_what_is_put_and_what_is_sent_goes_out_in_one_order() -> None:
    seen: list[bytes] = []
    begin = threading.Event()
    begin.set()
    async with dialled(reads(seen, 40, begin)) as transport:
        for n in range(0, 40, 2):
            assert transport.put(b'{"n": %d}' % n)
            await transport.send(b'{"n": %d}' % (n + 1))
        await transport.listen(lambda message: None)
    assert seen == [b"%d" % n for n in range(40)]
    assert not transport.writable


async def test_nothing_is_put_behind_a_frame_that_waits_for_the_kernel() -> None:
    seen: list[bytes] = []
    begin = threading.Event()
    async with dialled(reads(seen, 50, begin)) as transport:
        taken = 0
        while transport.writable:
            assert transport.put(b'{"n": %d, "pad": "%s"}' % (taken, b"x" * 500_000))
            taken += 1
        assert 0 < taken < 50
        begin.set()
        for n in range(taken, 50):
            await transport.send(b'{"n": %d}' % n)
        await transport.listen(lambda message: None)  # until the server has read them all
    assert seen == [b"%d" % n for n in range(50)]


async def test_a_frame_that_was_put_and_that_nobody_takes_ends_the_line() -> None:
    begin = threading.Event()
    async with dialled(reads([], 1, begin), write_timeout=0.05) as transport:
        while transport.writable:
            assert transport.put(b"x" * 500_000)
        end = await transport.listen(lambda message: None)
        begin.set()
    assert end.code == 1006
    assert "no frame was taken for 0.05 s" in end.reason


async def test_a_frame_that_the_peer_takes_when_a_blocked_loop_turns_again_has_not_run_out_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("livetools.transport.loop.timer.REST", 20.0)  # however slow the peer is
    seen: list[bytes] = []
    begin = threading.Event()
    async with dialled(reads(seen, 1, begin), write_timeout=0.1) as transport:
        assert transport.put(b'{"n": 0, "pad": "%s"}' % (b"x" * 12_000_000))
        begin.set()
        time.sleep(0.3)
        assert not transport.writable  # the peer has taken only what the kernel held
        end = await transport.listen(lambda message: None)
    assert end.code == 1000
    assert len(seen) == 1


async def test_what_comes_behind_the_end_is_not_kept() -> None:
    def script(line: Raw) -> None:
        line.upgrade()
        line.close(1000)
        while True:  # until the client has cut the line
            line.sock.sendall(frames("x" * 60_000))

    tracemalloc.start()
    try:
        async with dialled(script) as transport:
            await transport.listen(lambda message: None)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livetools.transport.on_asyncio.LINGER", 0.1)
