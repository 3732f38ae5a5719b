"""The websocket adapter keeps the transport's contract on both loops."""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import anyio
import pytest
from support.waiting import everybody_waits
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.sync.server import Server, ServerConnection, serve

import livetools
from livetools.errors import (
    AuthenticationError,
    ConfigError,
    ConnectFailed,
    LiveToolsError,
    RemoteProtocolError,
)
from livetools.protocol.input.resend import PongCount
from livetools.testing import FakeLiveServer
from livetools.transport.contract import Gone, Pinging, Transport
from livetools.transport.websocket import WebSocket
from livetools.transport.websocket_connection import WebSocketTransport

pytestmark = pytest.mark.anyio


async def ask(transport: Transport) -> PongCount:
    """Send something, and ask whether it arrived: a method that a transport may have or not."""
    pong = cast(Pinging, transport).ask()
    await transport.send(b'{"asks": true}')
    return pong


Handler = Callable[[ServerConnection], None]


@contextmanager
def server(handler: Handler, **options: object) -> Iterator[str]:
    """A websocket server in a thread: the same one for both loops."""
    with serve(handler, "127.0.0.1", 0, max_size=None, close_timeout=0.1, **options) as running:  # type: ignore[arg-type]
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{_port(running)}"
        finally:
            running.shutdown()
            thread.join()


def _port(running: Server) -> int:
    return int(running.socket.getsockname()[1])


def echo(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


def leave(connection: ServerConnection) -> None:
    connection.recv()


async def send_for_ever(transport: Transport) -> None:
    while True:
        await transport.send(b"x" * 1_000_000)


async def test_frames_go_out_as_text_and_come_in_as_bytes() -> None:
    kinds: list[type] = []

    def note(connection: ServerConnection) -> None:
        message = connection.recv()
        kinds.append(type(message))
        connection.send(message)
        connection.send(b"{}")

    with server(note) as url:
        async with WebSocket().dial(url, {}) as transport:
            await transport.send('{"setup": {"a": "ü"}}'.encode())
            assert await transport.receive() == '{"setup": {"a": "ü"}}'.encode()
            assert await transport.receive() == b"{}"
    assert kinds == [str]


async def test_messages_above_a_mebibyte_pass_both_ways() -> None:
    big = b'"' + b"x" * 3_000_000 + b'"'
    with server(echo) as url:
        async with WebSocket().dial(url, {}) as transport, anyio.create_task_group() as group:
            group.start_soon(transport.send, big)
            assert await transport.receive() == big


async def test_a_close_of_the_server_is_gone_with_its_code_and_reason() -> None:
    with server(lambda connection: connection.close(1008, "no such model")) as url:
        async with WebSocket().dial(url, {}) as transport:
            with pytest.raises(Gone) as caught:
                await transport.receive()
            assert (caught.value.code, caught.value.reason, caught.value.by_us) == (
                1008,
                "no such model",
                False,
            )
            with pytest.raises(Gone):
                await transport.send(b"{}")


async def test_a_line_that_breaks_is_1006() -> None:
    with server(lambda connection: connection.socket.close()) as url:
        async with WebSocket().dial(url, {}) as transport:
            with pytest.raises(Gone) as caught:
                await transport.receive()
            assert caught.value.code == 1006
            assert not caught.value.by_us


async def test_closing_from_another_task_ends_the_reader_and_says_by_us() -> None:
    ends: list[Gone] = []

    with server(leave) as url:
        async with WebSocket().dial(url, {}) as transport, anyio.create_task_group() as group:

            async def read() -> None:
                with pytest.raises(Gone) as caught:
                    await transport.receive()
                ends.append(caught.value)

            group.start_soon(read)
            await anyio.lowlevel.checkpoint()
            await transport.aclose()
            await transport.aclose()
    assert (ends[0].code, ends[0].by_us) == (1000, True)


async def test_a_frame_that_is_being_sent_goes_before_the_close() -> None:
    heard: list[str | bytes] = []
    over = threading.Event()  # the server reads in a thread of its own

    def listen(connection: ServerConnection) -> None:
        heard.extend(connection)
        over.set()

    with server(listen) as url:
        async with WebSocket().dial(url, {}) as transport, anyio.create_task_group() as group:
            begun = anyio.Event()

            async def say() -> None:
                begun.set()
                await transport.send(b"last words")

            group.start_soon(say)
            await begun.wait()
            await transport.aclose()
        assert await anyio.to_thread.run_sync(over.wait, 5)
    assert heard == ["last words"]


async def test_a_cancelled_receive_loses_nothing() -> None:
    release = threading.Event()

    def later(connection: ServerConnection) -> None:
        release.wait()
        connection.send(b"1")
        connection.send(b"2")
        connection.recv()

    with server(later) as url:
        async with WebSocket().dial(url, {}) as transport:
            with anyio.move_on_after(0.01):
                await transport.receive()
            release.set()
            assert [await transport.receive(), await transport.receive()] == [b"1", b"2"]


async def test_a_send_cancelled_on_a_full_socket_neither_tears_a_frame_nor_loses_the_next() -> None:
    release, over = threading.Event(), threading.Event()
    seen: list[bytes] = []

    def deaf(connection: ServerConnection) -> None:
        release.wait()
        for message in connection:
            seen.append(message.encode() if isinstance(message, str) else message)
            if seen[-1] == b"next":
                over.set()

    frame = b"%06d" + b"x" * 200_000
    begun = 0
    with server(deaf, max_queue=1) as url:
        async with WebSocket().dial(url, {}) as transport:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:

                    async def fill() -> None:
                        nonlocal begun
                        while True:
                            begun += 1
                            await transport.send(frame % begun)

                    group.start_soon(fill)
                    before = -1
                    while before != begun:  # until the socket takes no more
                        before = begun
                        await anyio.sleep(0.05)
                    scope.cancel()
                    release.set()
            await transport.send(b"next")
            await anyio.to_thread.run_sync(partial(over.wait, 30))  # a slow reader loses nothing to the end
    assert [message[:6] for message in seen[:-1]] == [b"%06d" % n for n in range(1, len(seen))]
    assert len(seen[:-1]) == begun
    assert {len(message) for message in seen[:-1]} == {200_006}
    assert seen[-1] == b"next"


async def test_a_frame_that_nobody_takes_ends_the_line_after_the_write_timeout() -> None:
    release = threading.Event()
    with server(lambda connection: release.wait() and None, max_queue=1) as url:
        async with WebSocket(write_timeout=0.05).dial(url, {}) as transport:
            with pytest.raises(Gone) as caught:
                await send_for_ever(transport)
            release.set()
            assert caught.value.code == 1006
            assert "no frame was taken for 0.05 s" in caught.value.reason


async def test_leaving_is_bounded_though_the_peer_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livetools.transport.websocket_connection.CLOSE_TIMEOUT", 0.1)
    release = threading.Event()
    with server(lambda connection: release.wait() and None, max_queue=1) as url:
        with anyio.fail_after(30):
            async with (
                WebSocket(write_timeout=0.2).dial(url, {}) as transport,
                anyio.create_task_group() as group,
            ):

                async def fill() -> None:
                    with pytest.raises(Gone):
                        await send_for_ever(transport)

                group.start_soon(fill)
                await anyio.sleep(0.05)
                await transport.aclose()
        release.set()


@pytest.mark.parametrize("ending", ["leaves", "raises", "is cancelled", "has sent too much"])
async def test_messages_that_nobody_took_keep_nobody_from_leaving(ending: str) -> None:
    sent, release = threading.Event(), threading.Event()

    def talk(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for _ in range(1000):  # more than waits for a reader
                connection.send("x" * 100)
            sent.set()
            release.wait()

    with server(talk, max_queue=1) as url:
        try:
            with anyio.fail_after(30), anyio.CancelScope() as scope, contextlib.suppress(ZeroDivisionError):
                async with WebSocket(write_timeout=0.05).dial(url, {}) as transport:
                    await transport.receive()
                    await anyio.to_thread.run_sync(sent.wait)
                    await everybody_waits()
                    if ending == "raises":
                        raise ZeroDivisionError
                    if ending == "is cancelled":
                        scope.cancel()
                    if ending == "has sent too much":
                        with pytest.raises(Gone):
                            await send_for_ever(transport)
        finally:
            release.set()


async def test_a_cancelled_body_leaves_at_once() -> None:
    with server(leave) as url:
        with anyio.move_on_after(0.05) as scope:
            async with WebSocket().dial(url, {}) as transport:
                await transport.receive()
        assert scope.cancelled_caught


async def test_nobody_listening_is_said_so() -> None:
    with pytest.raises(ConnectFailed, match=r"nobody listens on 127\.0\.0\.1:1$"):
        async with WebSocket().dial("ws://127.0.0.1:1/ws", {}):
            pass


async def test_a_server_that_is_no_websocket_is_told_apart() -> None:
    def plain(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(200, "hello")

    with server(echo, process_request=plain) as url:
        with pytest.raises(LiveToolsError):
            async with WebSocket().dial(url, {}):
                pass


async def test_tls_where_none_is_spoken_is_explained() -> None:
    with server(echo) as url:
        with pytest.raises((ConnectFailed, RemoteProtocolError)):
            async with WebSocket(ssl=ssl.create_default_context()).dial(url.replace("ws:", "wss:"), {}):
                pass


async def test_a_refusal_that_names_several_other_places_is_told_as_what_it_is() -> None:
    def refuse(connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(403, "no\n" * 1000)
        response.headers["Location"] = "http://localhost/a"
        response.headers["Location"] = "http://localhost/b"
        return response

    with server(echo, process_request=refuse) as url:
        with pytest.raises(AuthenticationError, match="403"):
            async with WebSocket().dial(url, {}):
                pass


async def test_a_redirect_is_not_followed_for_it_would_take_the_key_along() -> None:
    keys: list[str | None] = []

    def redirect(connection: ServerConnection, request: Request) -> Response:
        keys.append(request.headers.get("x-goog-api-key"))
        response = connection.respond(302, "elsewhere")
        response.headers["Location"] = f"ws://localhost:{_port_of(connection)}/elsewhere"
        return response

    with server(echo, process_request=redirect) as url:
        with pytest.raises(RemoteProtocolError, match="redirects"):
            async with WebSocket().dial(url, {"x-goog-api-key": "secret-key"}):
                pass
    assert keys == ["secret-key"]


def _port_of(connection: ServerConnection) -> int:
    return int(connection.socket.getsockname()[1])


async def test_no_log_holds_a_header_even_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), server(echo) as url:
        async with WebSocket(headers={"x-tenant": "secret-tenant"}).dial(
            url, {"x-goog-api-key": "secret-key"}
        ) as t:
            await t.send(b"{}")
    ours = [
        record.getMessage() for record in caplog.records if not record.name.startswith("websockets.server")
    ]
    assert not [text for text in ours if "secret" in text]


async def test_a_connection_that_stands_keeps_nothing_that_it_was_dialled_with() -> None:
    with server(echo) as url:
        async with WebSocket().dial(url, {"x-goog-api-key": "secret-key"}) as t:
            await t.send(b"{}")
            gc.collect()
            objects = gc.get_objects()
            standing = [o for o in objects if isinstance(o, WebSocketTransport) and o.state is State.OPEN]  # type: ignore[attr-defined]
            assert {connection.request for connection in standing} == {None}  # type: ignore[attr-defined]
            assert not [o for o in objects if isinstance(o, connect) and "secret" in str(vars(o))]


def test_a_repr_holds_neither_headers_nor_a_proxy() -> None:
    text = repr(WebSocket(headers={"authorization": "secret"}, proxy="http://user:secret@proxy"))
    assert "secret" not in text


def silent(pings: list[Frame], connection: ServerConnection) -> None:
    """Answers no ping."""
    send = connection.protocol.send_frame
    connection.protocol.send_frame = lambda f: pings.append(f) if f.opcode is Opcode.PONG else send(f)  # type: ignore[method-assign]
    echo(connection)


async def test_what_comes_behind_a_pong_is_known_to_come_behind_it() -> None:
    with server(echo) as url:
        async with WebSocket().dial(url, {}) as transport:
            await transport.send(b"{}")
            await transport.receive()
            behind = await ask(transport)
            assert not behind()  # what was received last came before
            await transport.receive()
            assert behind()  # in one write: the pong is sent before anybody can answer
            later = await ask(transport)
            assert not later()


async def test_without_a_pong_nothing_is_behind_it_and_pings_do_not_pile_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pings: list[Frame] = []
    with server(partial(silent, pings)) as url:
        async with WebSocket().dial(url, {}) as transport:
            await transport.send(b"{}")
            await transport.receive()
            asked = [await ask(transport) for _ in range(100)]
            for _ in asked:
                await transport.receive()
            assert [behind() for behind in asked] == [None] * 100
            assert len(pings) == 1
    gc.collect()
    # the test's own server may still be sending when we have left
    told = [record for record in caplog.records if not record.name.startswith("websockets.server")]
    assert not [record for record in told if record.levelno >= logging.WARNING]


async def test_a_line_that_has_ended_is_asked_nothing() -> None:
    with server(leave) as url:
        async with WebSocket().dial(url, {}) as transport:
            await transport.send(b"{}")
            with pytest.raises(Gone):
                await transport.receive()
            with pytest.raises(Gone):
                await ask(transport)


@pytest.mark.parametrize("pieces", [1, 4])
async def test_a_message_past_the_bound_ends_the_line_with_1009(pieces: int) -> None:
    def big(connection: ServerConnection) -> None:
        connection.send(b"x" * 1000)
        connection.send([b"x" * (2000 // pieces)] * pieces if pieces > 1 else b"x" * 2000)
        connection.recv()

    with server(big) as url:
        async with WebSocket(max_message=1000).dial(url, {}) as transport:
            assert await transport.receive() == b"x" * 1000
            with pytest.raises(Gone) as caught:
                await transport.receive()
    assert caught.value.code == 1009
    assert "exceeds max_message" in caught.value.reason
    assert not caught.value.by_us


async def test_a_message_in_very_many_fragments_is_read() -> None:
    def crumbs(connection: ServerConnection) -> None:
        connection.send("x" for _ in range(5000))
        connection.recv()

    with server(crumbs) as url:
        async with WebSocket(max_message=6000).dial(url, {}) as transport:
            assert await transport.receive() == b"x" * 5000


@pytest.mark.parametrize("bound", [0, -1, 1.5, True, "64"])
def test_a_bound_that_is_not_a_number_of_bytes_is_refused(bound: object) -> None:
    with pytest.raises(ConfigError, match="max_message"):
        WebSocket(max_message=bound)  # type: ignore[arg-type]  # the case


@pytest.mark.parametrize(
    ("option", "value"),
    [("ssl", False), ("ssl", "ca.pem"), ("headers", [("a", "b")]), ("allow_insecure", "no"), ("proxy", 5)],
)
def test_an_option_of_another_kind_is_an_error_before_anything_is_dialled(option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{option} is a {type(value).__name__}: expected"):
        WebSocket(**{option: value})


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan, True, "40"])
def test_a_silence_that_is_not_a_number_of_seconds_is_refused(seconds: object) -> None:
    with pytest.raises(ConfigError, match="dead_after"):
        WebSocket(dead_after=seconds)  # type: ignore[arg-type]  # the case


@pytest.mark.parametrize("name", ["ping_interval", "write_timeout"])
@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "3", True])
def test_what_is_no_number_of_seconds_is_refused_where_it_is_given(name: str, seconds: Any) -> None:
    with pytest.raises(ConfigError, match=rf"{name} is .*: seconds above 0"):
        WebSocket(**{name: seconds})


def test_a_write_has_an_end_and_pings_need_not_be_sent() -> None:
    assert WebSocket(ping_interval=None, dead_after=None).ping_interval is None
    with pytest.raises(ConfigError, match="write_timeout is None: seconds above 0 are expected"):
        WebSocket(write_timeout=None)  # type: ignore[arg-type]  # the case


async def test_a_line_that_has_fallen_silent_ends_and_says_so() -> None:
    pings: list[Frame] = []
    with server(partial(silent, pings)) as url:
        async with WebSocket(dead_after=0.2).dial(url, {}) as transport:
            await transport.send(b"{}")
            await transport.receive()
            with pytest.raises(Gone, match=r"no byte came for 0\.2 s, not even a pong") as caught:
                await transport.receive()
    assert (caught.value.code, caught.value.by_us) == (1006, False)
    assert len(pings) == 1


async def test_a_line_that_answers_pings_is_not_cut_however_quiet_it_is() -> None:
    answered = threading.Event()

    def quiet(connection: ServerConnection) -> None:
        pongs = 0
        send = connection.protocol.send_frame

        def counted(frame: Frame) -> None:
            nonlocal pongs
            pongs += frame.opcode is Opcode.PONG
            if pongs == 5:
                answered.set()
            send(frame)

        connection.protocol.send_frame = counted  # type: ignore[method-assign]
        answered.wait(20)
        echo(connection)

    with server(quiet) as url:
        async with WebSocket(dead_after=0.1).dial(url, {}) as transport:
            await anyio.to_thread.run_sync(answered.wait, 20)
            await transport.send(b"{}")
            assert await transport.receive() == b"{}"


@pytest.mark.parametrize(
    "proxy",
    [
        "", " ", "http://", "://x", "http://[::1", "http://h:port", "http://h:0", "http://user:SECRET@h:99999",
        "gopher://user:SECRET@h:1", "http:///x", "http://h h:1", "http://h\n:1", b"http://h:1", 5,
    ],
)  # fmt: skip
def test_a_proxy_that_is_none_is_refused_at_once_and_without_its_password(proxy):
    with pytest.raises(ConfigError, match="proxy") as refused:
        WebSocket(proxy=proxy)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("proxy", ["h:3128", "http://me@h:1", "socks://h:1", "https://h", True, False, None])
def test_a_proxy_as_people_write_it_is_taken(proxy):
    assert WebSocket(proxy=proxy).proxy == proxy


@pytest.mark.parametrize("tls", [False, True])
async def test_a_stream_of_audio_is_taken_over_tcp_and_over_tls(tls: bool) -> None:
    async with FakeLiveServer(tls=tls) as server:
        async with livetools.connect("gemini-3.8-live", **server.options) as session:
            with anyio.fail_after(30):
                for _ in range(30):
                    await session.send_audio(bytes(3200))
                assert str(await session.ask("hello"))
        audio = [f for f in server.frames if "audio" in str(f.message)[:60]]
        assert len(audio) >= 30


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio_a_websockets_without_a_client_for_it_is_a_config_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "livetools.transport.on_trio", raising=False)
    monkeypatch.setitem(sys.modules, "websockets.trio.client", None)  # as before websockets 17
    async with FakeLiveServer() as server:
        with pytest.raises(livetools.ConfigError, match=r"pip install '.*\[trio\]'"):
            async with livetools.connect("gemini-3.8-live", **server.options):
                raise AssertionError("it cannot stand")
