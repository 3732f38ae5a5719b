"""What strangers may send to the fake server and to the recording proxy: each is refused by itself."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools import OutputTranscript, SessionClosed, connect
from livetools.testing import FakeLiveServer, Recording, RecordingProxy
from livetools.testing.messages.client_schema import ENUMS, MESSAGES
from livetools.testing.pretend import Pretend

UPGRADE = (
    b"GET /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent HTTP/1.1\r\n"
    b"Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n"
)
SETUP = b'{"setup": {"model": "models/gemini-3.8-live"}}'
EXAMPLES = 20  # 400 were played once
DEEP = b"[" * 20_000
REST = b"POST /v1beta/models/gemini-3.8-flash:generateContent HTTP/1.1\r\n"


def frame(payload: bytes, opcode: int = 1, *, mask: bool = True, rsv: int = 0) -> bytes:
    n, bit = len(payload), 0x80 if mask else 0
    if n < 126:
        size = bytes([bit | n])
    elif n < 65536:
        size = bytes([bit | 126]) + struct.pack(">H", n)
    else:
        size = bytes([bit | 127]) + struct.pack(">Q", n)
    return bytes([0x80 | rsv | opcode]) + size + (b"\0\0\0\0" if mask else b"") + payload


def websocket(*payloads: bytes) -> bytes:
    return UPGRADE + b"".join(map(frame, payloads))


def chunked(body: bytes) -> bytes:
    return REST + b"Transfer-Encoding: chunked\r\n\r\n" + body


def posted(body: bytes) -> bytes:
    return REST + b"Content-Length: %d\r\n\r\n" % len(body) + body


ATTACKS = {
    "a target that is not one": b"GET http://[::1 HTTP/1.1\r\n\r\n",
    "such a target of an upgrade": UPGRADE.replace(b"/ws/", b"http://[::1/ws/"),
    "a request line of one word": b"GET\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nx\r\n\r\n",
    "a key twice": UPGRADE.replace(b"Host: x", b"x-goog-api-key: a\r\nx-goog-api-key: b\r\nHost: x"),
    "a credential twice": UPGRADE.replace(b"Host: x", b"Authorization: a\r\nauthorization: b\r\nHost: x"),
    "bytes that are not ASCII in a key": UPGRADE.replace(b"Host: x", b"x-goog-api-key: \xff\xfe\r\nHost: x"),
    "bytes that are not ASCII in a path": UPGRADE.replace(b"/ws/", b"/\xff/ws/"),
    "endless headers": b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 100_000,
    "one long header of an upgrade": UPGRADE.replace(b"Host: x", b"x: " + b"y" * 50_000),
    "half a request": b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf",
    "a negative length": REST + b"Content-Length: -5\r\n\r\n12345",
    "a length with an underscore": REST + b"Content-Length: 1_0\r\n\r\n1234567890",
    "a huge length": REST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n",
    "a negative chunk": chunked(b"-5\r\nabcde\r\n0\r\n\r\n"),
    "an endless chunk line": chunked(b"1" * 1_000_000),
    "a chunk line that is a comment": chunked(b"1;" + b"x" * 1_000_000),
    "a chunk longer than it says": chunked(b"2\r\nabcdef\r\n0\r\n\r\n"),
    "many chunks of one byte": chunked(b"1\r\n{\r\n" * 20_000 + b"0\r\n\r\n"),
    "deep JSON by REST": posted(DEEP),
    "deep JSON in an object by REST": posted(b'{"contents": ' + b'{"a":' * 500 + b"1" + b"}" * 501),
    "a lone surrogate by REST": posted(rb'{"\ud800": 1}'),
    "bad UTF-8 by REST": posted(b'{"contents": "\xff"}'),
    "a raw surrogate by REST": posted(b'{"contents": "\xed\xa0\x80"}'),
    "a number with 5,000 digits by REST": posted(b'{"contents": ' + b"9" * 5000 + b"}"),
    "uses that are not a number": b"POST /v1alpha/auth_tokens HTTP/1.1\r\nContent-Length: 13\r\n\r\n"
    b'{"uses": "x"}',
    "a token's setup that is not an object": b"POST /v1alpha/auth_tokens HTTP/1.1\r\nContent-Length: 33\r\n\r\n"
    b'{"bidiGenerateContentSetup": "x"}',
    "two requests in one": b"GET / HTTP/1.1\r\n\r\nGARBAGE\r\n\r\n\0\0\0",
    "deep JSON in the setup": websocket(DEEP),
    "deep JSON after the setup": websocket(
        SETUP, b'{"clientContent": ' + b'{"turns":' * 900 + b"1" + b"}" * 901
    ),
    "deep arguments": websocket(
        SETUP, b'{"toolResponse": {"functionResponses": [{"response": ' + b'{"a":' * 500 + b"1" + b"}" * 503
    ),
    "a lone surrogate for a model": websocket(rb'{"setup": {"model": "\ud800"}}'),
    "a lone surrogate in a text": websocket(SETUP, rb'{"realtimeInput": {"text": "\udfff"}}'),
    "a lone surrogate for a name": websocket(rb'{"\udc00": {}}'),
    "bad UTF-8 in a text frame": websocket(SETUP, b'{"realtimeInput": {"text": "\xff"}}'),
    "a rate with 5,000 digits": websocket(
        SETUP,
        b'{"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=' + b"9" * 5000 + b'", "data": "AAAA"}}}',
    ),
    "a rate of zero": websocket(
        SETUP, b'{"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=0", "data": "AAAA"}}}'
    ),
    "a trigger with 5,000 digits": websocket(
        b'{"setup": {"model": "models/gemini-3.8-live", "contextWindowCompression": {"slidingWindow": {}, '
        b'"triggerTokens": "' + b"9" * 5000 + b'"}}}',
        b'{"realtimeInput": {"text": "hello"}}',
    ),
    "an integer that no float holds": websocket(
        b'{"setup": {"model": "models/gemini-3.8-live", "generationConfig": {"seed": 1' + b"0" * 400 + b"}}}"
    ),
    "a frame without a mask": UPGRADE + frame(SETUP, mask=False),
    "a frame with a reserved bit": UPGRADE + frame(SETUP, rsv=0x40),
    "a frame of an unknown kind": UPGRADE + frame(SETUP, opcode=3),
    "a frame of an exabyte": UPGRADE + b"\x82\xff" + struct.pack(">Q", 1 << 60) + b"\0\0\0\0",
    "a ping of two hundred bytes": UPGRADE + frame(b"x" * 200, opcode=9),
    "a close with one byte": UPGRADE + frame(b"x", opcode=8),
    "a close with a code that is none": UPGRADE + frame(struct.pack(">H", 999), opcode=8),
    "a continuation of nothing": UPGRADE + frame(b"x", opcode=0),
    "half a frame": UPGRADE + frame(SETUP)[:-10],
}


def talk(port: int, data: bytes) -> bytes:
    """Send this, whole and at once, and read until the other end has nothing more to say."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), 5) as stranger:
        try:
            stranger.sendall(data)
            stranger.shutdown(socket.SHUT_WR)
            while piece := stranger.recv(65536):
                answer += piece
        except OSError:  # refused before all was read
            pass
    return answer


def unharmed(server: FakeLiveServer) -> None:
    """It still answers, and nothing of it raised."""
    errors = server.service.log.errors.copy()
    server.service.log.errors.clear()
    assert not errors
    assert talk(server.port, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 404 ")


@pytest.fixture(scope="module", params=[True, False], ids=["strict", "lenient"])
def server(request):
    server = FakeLiveServer(Pretend(), strict=request.param).start()
    yield server
    server.stop(check=False)


@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_stranger_sends_is_refused_by_itself(server, name):
    answer = talk(server.port, ATTACKS[name])
    unharmed(server)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")


@pytest.mark.parametrize("name", [name for name in ATTACKS if "JSON" in name or "surrogate" in name])
def test_its_refusal_says_what_was_wrong(server, name):
    answer = talk(server.port, ATTACKS[name])
    if ATTACKS[name].startswith(b"POST"):
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"Invalid JSON payload received." in answer
    else:
        assert struct.pack(">H", 1007) + b"Invalid JSON payload received." in answer


names = st.sampled_from(sorted({name for fields in MESSAGES.values() for name in fields}))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(sorted(set().union(*ENUMS.values())))
    | st.sampled_from(["audio/pcm;rate=16000", "AAAA", "models/gemini-3.8-live", "1"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def near(draw, kind: str, depth: int = 0):
    """A message of this kind, its fields mostly of the right shape."""
    message = {}
    for field in draw(st.lists(st.sampled_from(sorted(MESSAGES[kind].values(), key=str)), max_size=4)):
        if draw(st.integers(0, 9)) == 0:
            value = draw(anything)
        elif field.type in MESSAGES and MESSAGES[field.type] and depth < 6:
            value = draw(near(field.type, depth + 1))
        elif field.type in ENUMS:
            value = draw(st.sampled_from(sorted(ENUMS[field.type])))
        else:
            value = draw(anything)
        message[field.name] = [value] if field.repeated else {"x": value} if field.mapped else value
    return message


@settings(deadline=None, max_examples=EXAMPLES, derandomize=True)
@given(setup=near("Setup"), messages=st.lists(near("ClientMessage"), max_size=4))
def test_no_message_of_the_right_names_and_wrong_values_ends_the_server(server, setup, messages):
    setup = {"model": "models/gemini-3.8-live"} | setup
    talk(server.port, websocket(*(json.dumps(each).encode() for each in [{"setup": setup}, *messages])))
    talk(server.port, websocket(SETUP, *(json.dumps(each).encode() for each in messages)))
    unharmed(server)


@settings(deadline=None, max_examples=EXAMPLES, derandomize=True)
@given(near("GenerateContentRequest"))
def test_no_request_of_the_right_names_and_wrong_values_ends_the_server(server, body):
    talk(server.port, posted(json.dumps(body).encode()))
    unharmed(server)


@settings(deadline=None, max_examples=EXAMPLES, derandomize=True)
@given(
    base=st.sampled_from([ATTACKS["a rate of zero"], posted(b"{}"), chunked(b"2\r\n{}\r\n0\r\n\r\n")]),
    at=st.integers(0, 400),
    put=st.binary(max_size=20),
    cut=st.integers(0, 40),
)
def test_no_garbage_within_a_request_ends_the_server(server, base, at, put, cut):
    talk(server.port, base[:at] + put + base[at + cut :])
    unharmed(server)


# -- the recording proxy, and what the service may send through it


@pytest.mark.anyio
async def test_the_recording_proxy_survives_each_of_them_too(tmp_path):
    async with FakeLiveServer(Pretend(), strict=False) as service:
        with Recording(tmp_path / "talk.jsonl") as recording:
            async with RecordingProxy(service.url, recording) as proxy:
                for attack in ATTACKS.values():
                    await anyio.to_thread.run_sync(talk, proxy.port, attack)
                answer = await anyio.to_thread.run_sync(talk, proxy.port, b"GET / HTTP/1.1\r\n\r\n")
                assert answer.startswith(b"HTTP/1.1 501 ")
        service.service.log.errors.clear()
    assert not [line for line in proxy.log if "a connection failed" in line]
    assert Recording.load(tmp_path / "talk.jsonl").frames == recording.frames


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["\ud800", "a\u2028b\x85c", "\x00", "😀"])
async def test_whatever_text_the_service_says_is_recorded_and_played_as_it_was(tmp_path, text):
    said = {"serverContent": {"outputTranscription": {"text": text}, "turnComplete": True}}
    path = tmp_path / "talk.jsonl"

    async def heard(url):
        async with connect("gemini-3.8-live", base_url=url, api_key="k", reconnect=False) as session:
            await session.send_text("go")
            async for event in session:
                if isinstance(event, OutputTranscript):
                    return event.text
        return None

    async with FakeLiveServer() as service:
        service.model(lambda turn: turn.send(said))
        with Recording(path) as recording:
            async with RecordingProxy(service.url, recording) as proxy:
                what_it_hears = await heard(service.url)  # a lone surrogate is not text in Python either
                assert await heard(proxy.url) == what_it_hears
    assert said in [frame.message for frame in Recording.load(path).frames]
    async with FakeLiveServer.replay(path) as player:
        assert await heard(player.url) == what_it_hears


@pytest.mark.anyio
@pytest.mark.parametrize("code", [1005, 1006, 1015, 1008, 4000])
async def test_every_close_of_the_service_is_passed_on(tmp_path, code):
    async with FakeLiveServer() as service:
        service.model(lambda turn: turn.close(code, ""))
        with Recording(tmp_path / "talk.jsonl") as recording:
            async with RecordingProxy(service.url, recording) as proxy:
                options = {"base_url": proxy.url, "api_key": "k", "reconnect": False}
                async with connect("gemini-3.8-live", **options) as session:
                    with pytest.raises(SessionClosed) as caught:
                        await session.ask("go")
    assert caught.value.code == (1006 if code == 1015 else code)
    assert not [line for line in proxy.log if "a connection failed" in line]
