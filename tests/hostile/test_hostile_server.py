"""A server that means no good: the session stays, or ends with an error that says so; nothing hangs."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from support.raw import Raw, raw_server
from support.waiting import everybody_waits, running_time

from livetools import (
    ConnectFailed,
    OutputTranscript,
    Reconnected,
    ReconnectPolicy,
    RemoteProtocolError,
    Session,
    SessionClosed,
    SetupTimeout,
    UnknownMessage,
    WebSocket,
    connect,
    tool,
)
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Gone

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


@pytest.mark.parametrize("named", [True, False])
async def test_a_message_of_hundreds_of_calls_is_answered_though_they_end_in_reverse(
    opened: Opened, named: bool
) -> None:
    gates = [anyio.Event() for _ in range(300)]

    @tool
    async def wait(n: int) -> int:
        await gates[n].wait()
        return n

    def one(n: int) -> dict[str, Any]:
        return {"name": "wait", "args": {"n": n}, **({"id": f"c{n}"} if named else {})}

    async with opened([wait], max_concurrency=None) as line:
        line.server.send({"toolCall": {"functionCalls": [one(n) for n in range(300)]}})
        await everybody_waits()
        for gate in reversed(gates):
            gate.set()
            await anyio.lowlevel.checkpoint()
        answers = [answer["response"]["output"] for answer in await line.answers(300)]
    assert answers == (list(reversed(range(300))) if named else list(range(300)))


NEST = 10_000
BROKEN_CALLS = {
    "no name": '{"id": "x"}',
    "a number for a name": '{"id": "x", "name": 5}',
    "a list for arguments": '{"id": "x", "name": "add", "args": [1]}',
    "text for arguments": '{"id": "x", "name": "add", "args": "n=1"}',
    "null for arguments": '{"id": "x", "name": "add", "args": null}',
    "arguments without end": f'{{"id": "x", "name": "add", "args": {{"n": {"[" * NEST}{"]" * NEST}}}}}',
    "objects without end": f'{{"id": "x", "name": "add", "args": {{"n": {"{" + chr(34) + "n" + chr(34) + ":"}'
    f"{'[' * NEST}{']' * NEST}}}}}}}",
    "a number of digits": f'{{"id": "x", "name": "add", "args": {{"n": {"9" * 6000}}}}}',
    "no number": '{"id": "x", "name": "add", "args": {"n": NaN}}',
    "a text of megabytes": f'{{"id": "x", "name": "add", "args": {{"n": "{"x" * 5_000_000}"}}}}',
    "half a character": '{"id": "x", "name": "add", "args": {"n": "\\ud800"}}',
    "a control character": '{"id": "x", "name": "add", "args": {"n": "\x01"}}',
    "an unknown name": '{"id": "x", "name": "sub\\u0000tract", "args": {}}',
}


@tool
async def add(n: int) -> int:
    """One more."""
    return n + 1


@pytest.mark.parametrize("kind", BROKEN_CALLS)
async def test_a_broken_call_is_answered_with_an_error_under_its_id(opened: Opened, kind: str) -> None:
    async with opened([add]) as line:
        line.server.send('{"toolCall": {"functionCalls": [' + BROKEN_CALLS[kind] + "]}}")
        (answer,) = await line.answers(1)
        assert answer["id"] == "x"
        assert "error" in answer["response"]
        assert len(str(answer)) < 2000
        assert await line.answer("add", "y", n=1) == {"output": 2}


@pytest.mark.parametrize("id", ["7", '""', "null", '"%s"' % ("i" * 1_000_000), "9" * 5000, "NaN", "{}", "[]"])
async def test_a_call_of_any_id_is_answered_once_and_with_an_id_only_if_it_had_one(
    opened: Opened, id: str
) -> None:
    async with opened([add]) as line:
        frame = '{"toolCall": {"functionCalls": [{"id": ' + id + ', "name": "add", "args": {"n": 1}}]}}'
        line.server.send(frame)
        (answer,) = await line.answers(1)
        assert answer["response"] == {"output": 2}
        assert answer.get("id", id).strip('"') == id.strip('"') or id == "NaN"
        if "id" in answer:
            line.server.send(frame)  # again: a duplicate
        assert await line.answer("add", "y", n=2) == {"output": 3}


NOISE = [
    "", "null", "[]", "0", '"x"', "{", "{}", '{"setupComplete": {}}', '{"setupComplete": 5}', "\x00", "\ufeff{}",
    '{"serverContent": null}', '{"serverContent": []}', '{"serverContent": {"modelTurn": {"parts": {}}}}',
    '{"serverContent": {"modelTurn": {"parts": [null, 1, {"text": {}}, {"inlineData": {"data": "*"}}]}}}',
    '{"toolCall": null}', '{"toolCall": [1]}', '{"toolCall": {"functionCalls": [null, 1, "f", [], [[]]]}}',
    '{"toolCallCancellation": {"ids": ["y", 1, null, {}]}}', '{"toolCallCancellation": 1}',
    '{"sessionResumptionUpdate": {"newHandle": {}, "resumable": "yes"}}', '{"sessionResumptionUpdate": []}',
    '{"usageMetadata": []}', '{"usageMetadata": {"totalTokenCount": "many", "promptTokenCount": -1e999}}',
    '{"voiceActivity": {"type": {}}}', '{"interactionStatus": "DANCING"}', '{"interactionStatus": {}}',
    '{"news": {"of": "tomorrow"}}', '{"serverContent": {"interrupted": true, "turnComplete": true}}',
]  # fmt: skip


async def test_noise_of_every_kind_is_told_and_harms_nothing(opened: Opened) -> None:
    async with opened([add]) as line:
        for n, noise in enumerate(NOISE):
            line.server.send(noise)
            line.server.send(noise.encode("utf-16"))
            assert await line.answer("add", f"c{n}", n=n) == {"output": n + 1}
        with anyio.fail_after(30):
            async for event in line.session:
                if isinstance(event, UnknownMessage) and "tomorrow" in str(event.raw):
                    break


EARLY: dict[str, dict[str, Any]] = {
    "a call": {"toolCall": {"functionCalls": [{"name": "add", "id": "e", "args": {"n": 1}}]}},
    "words": {"serverContent": {"outputTranscription": {"text": "x"}}},
    "a status": {"interactionStatus": "IN_PROGRESS"},
    "an interruption": {"serverContent": {"interrupted": True}},
    "a goAway": {"goAway": {"timeLeft": "0s"}},
}


@pytest.mark.parametrize("model", ["gemini-2.5-flash-native-audio-preview-12-2025", "gemini-3.8-live"])
@pytest.mark.parametrize("kind", EARLY)
async def test_what_came_before_a_setup_that_was_never_completed_is_lost_with_it(
    kind: str, model: str
) -> None:
    transport = MemoryTransport()
    policy = ReconnectPolicy(initial=0.0)

    async def serve() -> None:
        first = await transport.accept()
        await first.receive()
        first.send({"setupComplete": {}})
        first.send({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}})
        first.close(1011)
        second = await transport.accept()
        await second.receive()
        second.send(EARLY[kind])
        second.close(1011)
        third = await transport.accept()
        await third.receive()
        third.send({"setupComplete": {}})
        with contextlib.suppress(Gone):
            while frame := await third.receive():
                if frame.get("clientContent", {}).get("turnComplete"):
                    text = "so" if "hello" in str(frame) else "I see"
                    third.send(
                        {"serverContent": {"outputTranscription": {"text": text}, "turnComplete": True}}
                    )

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        options: dict[str, Any] = {"transport": transport, "base_url": "ws://localhost", "reconnect": policy}
        async with connect(model, tools=[add], **options) as session:
            async for event in session:
                if isinstance(event, Reconnected):
                    break
            with anyio.fail_after(30):
                assert str(await session.ask("hello")) == "so"
            assert session.stats()["calls"] == []
            group.cancel_scope.cancel()


def hold(line: Raw) -> None:
    """Read on, until the client is gone."""
    while True:
        line.receive()


def silent(line: Raw) -> None:
    """Say close, and never close the line."""
    line.begin()
    line.close(1011, "gone")
    hold(line)


def odd(data: bytes) -> Callable[[Raw], None]:
    def script(line: Raw) -> None:
        line.begin()
        line.sock.sendall(data)
        hold(line)

    return script


def talks_on(line: Raw) -> None:
    line.begin()
    line.close(1011, "over")
    while True:  # until the client has cut the line
        line.sock.sendall(Raw.frame(b"x" * 60_000))


BROKEN_LINES: dict[str, Callable[[Raw], None]] = {
    "a close, and a line that stays": silent,
    "a close, and messages without end": talks_on,
    "an opcode that is none": odd(b"\x83\x00"),
    "bits that must not be set": odd(b"\xff\x7f" * 8),
    "a masked frame of exabytes": odd(b"\x81\xff" + (2**62).to_bytes(8) + b"x" * 100),
    "a close of one byte": odd(b"\x88\x01\x03"),
    "a close with a code that is none": odd(b"\x88\x02\xff\xff"),
    "a close with a reason that is no text": odd(b"\x88\x04\x03\xf3\xff\xfe"),
    "half a frame, and a reset": lambda line: (
        line.begin(),
        line.sock.sendall(b"\x81\x70half"),
        line.reset(),
    ),
    "no word, and the end": lambda line: line.begin(),
    "a ping flood, and the end": lambda line: (line.begin(), line.sock.sendall(b"\x89\x01p" * 5000)),
}  # type: ignore[dict-item]  # what a script returns is not looked at


async def listen(opening: Session, talk: Callable[[Session], Awaitable[None]] | None = None) -> None:
    async with opening as session:
        if talk is not None:
            await talk(session)
        async for _ in session:
            pass


@pytest.mark.parametrize("kind", BROKEN_LINES)
async def test_a_line_that_breaks_ends_the_session_with_an_error(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for loop in ("asyncio", "trio"):
        monkeypatch.setattr(f"livetools.transport.on_{loop}.LINGER", 0.05)
    with raw_server(BROKEN_LINES[kind]) as url, anyio.fail_after(30):
        with pytest.raises(SessionClosed) as told:
            await listen(connect("gemini-3.8-live", base_url=url, reconnect=False))
    assert told.value.code in (1006, 1011)
    assert told.value.retryable


def http(status: int) -> Callable[[Raw], None]:
    def script(line: Raw) -> None:
        line.request()
        line.sock.sendall(
            b"HTTP/1.1 %d X\r\nLocation: https://elsewhere/\r\nContent-Length: 4\r\n\r\nnope" % status
        )

    return script


def garbage(line: Raw) -> None:
    line.request()
    line.sock.sendall(b"SSH-2.0 \x00\xff\r\n\r\n")


@pytest.mark.parametrize("status", [200, 204, 301, 302, 401, 403, 404, 407, 426, 429, 500, 503, 999, 0])
async def test_an_upgrade_that_is_answered_otherwise_is_told_and_not_tried_again(status: int) -> None:
    dials: list[int] = []

    def script(line: Raw) -> None:
        dials.append(line.number)
        (http(status) if status else garbage)(line)

    with raw_server(script) as url, anyio.fail_after(30):
        with pytest.raises((ConnectFailed, SessionClosed, RemoteProtocolError)):
            await connect("gemini-3.8-live", base_url=url, api_key="AIzaSecret123").__aenter__()
    assert dials == [1]


@pytest.mark.parametrize("hangs", ["at the upgrade", "at the setup"])
async def test_a_server_that_hangs_is_given_up_in_time(hangs: str) -> None:
    ended = threading.Event()

    def script(line: Raw) -> None:
        if hangs == "at the setup":
            line.upgrade()
        ended.wait(20)

    with raw_server(script) as url, anyio.fail_after(30), running_time() as passed:
        with pytest.raises(SetupTimeout):
            await connect("gemini-3.8-live", base_url=url, setup_timeout=0.2).__aenter__()
        assert passed.seconds < 2.5
        ended.set()


@pytest.mark.parametrize("sends", ["audio", "text", "answers"])
async def test_a_server_that_reads_no_more_is_a_broken_line(sends: str) -> None:
    ended = threading.Event()

    def script(line: Raw) -> None:
        line.begin()
        if sends == "answers":
            for n in range(300):
                line.send({"toolCall": {"functionCalls": [{"name": "big", "id": f"c{n}", "args": {}}]}})
        ended.wait(20)

    @tool
    def big() -> str:
        return "x" * 100_000

    async def talk(session: Session) -> None:
        if sends == "audio":
            while True:
                await session.send_audio(bytes(64_000))
        if sends == "text":
            await session.send_text("x" * 20_000_000)

    with raw_server(script) as url, anyio.fail_after(30):
        options: dict[str, Any] = {"transport": WebSocket(write_timeout=0.3), "reconnect": False}
        with pytest.raises(SessionClosed) as told:
            await listen(connect("gemini-3.8-live", tools=[big], base_url=url, **options), talk)
    ended.set()
    assert told.value.code == 1006
    assert "no frame was taken" in told.value.reason


async def test_ten_thousand_tiny_frames_and_one_of_ten_megabytes_are_read() -> None:
    def script(line: Raw) -> None:
        line.begin()
        tiny = Raw.frame(b'{"serverContent":{"outputTranscription":{"text":"x"}}}')
        for _ in range(10):
            line.sock.sendall(tiny * 1000)
        line.send(b'{"serverContent":{"outputTranscription":{"text":"' + b"y" * 10_000_000 + b'"}}}')
        line.close(1000)
        hold(line)

    with raw_server(script) as url, anyio.fail_after(60):
        async with connect("gemini-3.8-live", base_url=url) as session:
            heard = [len(e.text) async for e in session if isinstance(e, OutputTranscript)]
    assert heard == [1] * 10_000 + [10_000_000]


@pytest.mark.parametrize("refuses", ["a status that repeats the request", "a reset"])
async def test_no_variable_of_a_traceback_holds_the_key(refuses: str) -> None:
    def script(line: Raw) -> None:
        if refuses == "a reset":
            line.reset()
        request = line.request()
        line.sock.sendall(b"HTTP/1.1 401 X\r\nContent-Length: %d\r\n\r\n%b" % (len(request), request))

    keys = iter(["AIzaSecret123456"])
    with raw_server(script) as url:
        session = connect("gemini-3.8-live", base_url=url, api_key=lambda: next(keys))
        with pytest.raises((ConnectFailed, SessionClosed)) as told:
            await session.__aenter__()
    frames: list[Any] = []
    errors: list[BaseException | None] = [told.value]
    while errors:
        if (error := errors.pop()) is not None:
            frames += [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)][
                1:
            ]  # not this test's
            errors += [error.__cause__, error.__context__]
    assert "AIzaSecret123456" not in f"{told.value!r} {frames!r} {session!r} {vars(session)!r}"
