"""The bridge between a telephone and a session, from the provider's side."""

from __future__ import annotations

import base64
import functools
import hmac
import json
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.phone import TELNYX_START, TWILIO_START, phone, recorded, settled, tone
from support.waiting import until_true

import livetools
from livetools import ConfigError, ToolContext, ToolResult
from livetools.audio.pcm import Resampler
from livetools.integrations.drain import Drain
from livetools.integrations.telephony import Ended, telnyx, twilio
from livetools.integrations.telephony.sound.codec import PCMA, PCMU
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

URL = "wss://example.org/call"
TOKEN = "the-token-of-the-account"
SILENCE = b"\xff" * 8000  # a second
SPEECH = PCMU.encode(tone(0.4))
TWO_SECONDS = bytes(96_000)
BRIDGES = [(twilio, TWILIO_START), (telnyx, TELNYX_START)]


def book(table: int) -> str:
    """Book a table."""
    return f"table {table} is booked"


def agent_of(server: FakeLiveServer, **options: Any) -> Callable[..., livetools.Session]:
    options = {"tools": [book], **options}
    return functools.partial(livetools.connect, "gemini-3.8-live", **options, **server.options)


def says(text: str, audio: bytes | None = None) -> Callable[[Any], Any]:
    """A pretend model that says this, whatever it hears."""

    async def model(turn: Any) -> None:
        await turn.say(text, audio)

    return model


# A whole call


@pytest.mark.parametrize(("bridge", "start"), BRIDGES)
async def test_a_caller_speaks_a_tool_runs_and_the_answer_is_heard(
    bridge: Any, start: dict[str, Any]
) -> None:
    heard: list[bytes] = []
    ended: list[Ended] = []

    async def model(turn: Any) -> None:
        heard.append(turn.audio)
        result = await turn.call("book", table=7)
        await turn.say(result["output"], tone(0.5, rate=24000))

    async with FakeLiveServer(model) as server:
        async with phone(bridge, agent_of(server), start, on_end=ended.append) as line:
            line.begin()
            line.speak(SPEECH + SILENCE)
            await line.until("mark")
            while sum(map(len, line.heard)) < 4000:
                await line.receive()
            line.play()
            await settled()
            line.hang_up()
    assert len(heard[0]) > 0.4 * 32000, "8 kHz came as 16 kHz"
    assert sum(map(len, line.heard)) == pytest.approx(4000, abs=160)
    answer = PCMU.decode(b"".join(line.heard))
    assert max(answer[:4000]) > 0
    (end,) = ended
    assert end.reason == "hangup"
    assert end.error is None
    assert end.start["start"] == start["start"]
    assert end.heard == pytest.approx(0.5, abs=0.02)
    assert "table 7 is booked" in str(end.contents)


async def test_telnyx_says_which_law_and_is_answered_in_it() -> None:
    pcma = {**TELNYX_START, "start": {**TELNYX_START["start"], "media_format": {"encoding": "PCMA"}}}
    sound = tone(0.5, rate=24000)
    async with FakeLiveServer(says("Hi.", sound)) as server:
        async with phone(telnyx, agent_of(server), pcma, greeting="Greet.") as line:
            line.begin()
            while sum(map(len, line.heard)) < 4000:
                await line.receive()
    loud = array("h", PCMA.decode(b"".join(line.heard)))[200:3000]
    true = array("h", tone(0.5))[200:3000]
    assert max(abs(a - b) for a, b in zip(loud, true, strict=True)) < 500  # of 8000


async def test_a_codec_that_is_not_known_is_refused_with_a_word() -> None:
    odd = {**TELNYX_START, "start": {**TELNYX_START["start"], "media_format": {"encoding": "G722"}}}
    async with FakeLiveServer() as server:
        async with phone(telnyx, agent_of(server), odd) as line:
            line.begin()
            closed = await line.page.closed()
    assert closed.code == 1003
    assert "G722" in closed.reason


# Who calls


@pytest.mark.parametrize(("bridge", "start"), BRIDGES)
async def test_deps_are_made_of_the_start_frame(bridge: Any, start: dict[str, Any]) -> None:
    async def deps(frame: Any) -> str:
        parameters = "custom_parameters" if bridge is telnyx else "customParameters"
        assert frame["start"][parameters] == frame[parameters]
        return str(frame[parameters]["table"])

    def whose(context: ToolContext[str]) -> str:
        """Whose table."""
        return context.deps

    got: list[Any] = []

    async def model(turn: Any) -> None:
        got.append(await turn.call("whose"))

    async with FakeLiveServer(model) as server:
        async with phone(bridge, agent_of(server, tools=[whose]), start, deps=deps, greeting="Go.") as line:
            line.begin()
            await until_true(lambda: got)
    assert got == [{"output": "7"}]


async def test_a_caller_who_is_not_allowed_is_closed_with_1008() -> None:
    def nobody(start: Any) -> None:
        raise PermissionError("banned")

    async with FakeLiveServer() as server:
        async with phone(twilio, agent_of(server), deps=nobody) as line:
            line.begin()
            assert (await line.page.closed()).code == 1008
        assert not server.frames


def signature(url: str, token: str = TOKEN) -> dict[str, str]:
    digest = hmac.new(token.encode(), url.encode(), "sha1").digest()
    return {"X-Twilio-Signature": base64.b64encode(digest).decode()}


@pytest.mark.parametrize(
    ("signed", "right"),
    [
        (URL, True),
        (URL + "/", True),
        ("wss://example.org:443/call", True),
        ("wss://example.org/other", False),
        ("wss://example.org:8443/call", False),
        ("https://example.org/call", False),
        (None, False),
    ],
)
async def test_twilios_signature_is_checked_against_the_url_that_was_dialled(
    signed: str | None, right: bool
) -> None:
    headers = {} if signed is None else signature(signed)
    async with FakeLiveServer(says("Hi.")) as server:
        options: dict[str, Any] = {"auth_token": TOKEN, "url": URL, "greeting": "Greet."}
        async with phone(twilio, agent_of(server), headers=headers, **options) as line:
            line.begin()
            if right:
                await line.until("media")
            else:
                closed = await line.page.closed()
                assert closed.code == 1008
                assert TOKEN not in closed.reason


async def test_without_a_url_it_is_the_one_of_the_request() -> None:
    async with FakeLiveServer(says("Hi.")) as server:
        headers = signature("ws://127.0.0.1:8000/")
        async with phone(
            twilio, agent_of(server), headers=headers, auth_token=TOKEN, greeting="Greet."
        ) as line:
            line.begin()
            await line.until("media")


@pytest.mark.parametrize(
    ("headers", "connected", "right"),
    [
        ({"Authorization": f"Bearer {TOKEN}"}, {}, True),
        ({"Authorization": TOKEN}, {}, True),
        ({"X-Telnyx-Streaming-Auth-Token": TOKEN}, {}, True),
        ({}, {"connected": {"x-telnyx-streaming-auth-token": TOKEN}}, True),
        ({}, {"stream_auth_token": TOKEN}, True),
        ({}, {"connected": {"token": TOKEN}}, True),
        ({"Authorization": "Bearer of-a-proxy"}, {"stream_auth_token": TOKEN}, True),
        ({"Authorization": "Bearer wrong"}, {}, False),
        ({}, {"stream_auth_token": "wrong", "note": TOKEN}, False),
        ({}, {}, False),
    ],
)
async def test_telnyx_token_comes_in_a_header_or_in_the_first_frame(
    headers: dict[str, str], connected: dict[str, Any], right: bool
) -> None:
    async with FakeLiveServer(says("Hi.")) as server:
        agent = agent_of(server)
        async with phone(telnyx, agent, TELNYX_START, headers, auth_token=TOKEN, greeting="Greet.") as line:
            line.begin(**connected)
            if right:
                await line.until("media")
            else:
                assert (await line.page.closed()).code == 1008


# What is heard


async def test_sound_out_of_order_is_put_in_order() -> None:
    heard: list[bytes] = []

    async def model(turn: Any) -> None:
        heard.append(turn.audio)

    frames = [PCMU.encode(tone(0.02, frequency=200.0 + 40 * n)) for n in range(20)]
    async with FakeLiveServer(model) as server:
        for order in (range(20), [1, 0, 3, 2, 2, *range(6, 3, -1), *range(7, 20)]):
            async with phone(telnyx, agent_of(server), TELNYX_START) as line:
                line.begin()
                for n in order:
                    line.media(frames[n], chunk=n + 1)
                    line.media(b"\x00" * 160, chunk=n + 1, track="outbound")
                for n in range(50):
                    line.media(SILENCE[:160], chunk=21 + n)
                await until_true(lambda wanted=1 + (order != range(20)): len(heard) >= wanted)
    assert heard[0][:12_000] == heard[1][:12_000]


async def test_an_interruption_clears_the_line_and_what_was_cleared_was_not_heard() -> None:
    ended: list[Ended] = []

    async def model(turn: Any) -> None:
        if turn.text:
            await turn.say("A long story.", TWO_SECONDS)
            await anyio.sleep(5)

    async with FakeLiveServer(model) as server:
        async with phone(twilio, agent_of(server), greeting="Tell a story.", on_end=ended.append) as line:
            line.begin()
            await line.until("mark")
            line.play()  # the first piece was heard
            first = len(line.heard[0]) / 8000
            while sum(map(len, line.heard)) < 15_000:
                await line.receive()
            line.speak(SPEECH + SILENCE[:800])
            await line.until("clear")
            await settled()
            line.hang_up()
    assert line.cleared == 1
    assert ended[0].heard == pytest.approx(first)


async def test_keys_go_to_the_model_as_a_text() -> None:
    texts: list[str] = []

    async def model(turn: Any) -> None:
        texts.append(turn.text)

    clock = FakeClock()
    async with FakeLiveServer(model) as server:
        async with phone(twilio, agent_of(server), clock=clock) as line:
            line.begin()
            line.press("1")
            line.press("2")
            with anyio.fail_after(5):
                while not texts:
                    await anyio.sleep(0.01)
                    clock.advance(0.1)
                line.press("3#")
                await until_true(lambda: len(texts) >= 2)
    assert "12" in texts[0]
    assert "3#" in texts[1]


async def test_without_a_greeting_the_bridge_says_nothing() -> None:
    async with FakeLiveServer(says("Hi.")) as server:
        async with phone(twilio, agent_of(server)) as line:
            line.begin()
            await until_true(lambda: len(server.frames) >= 2)
            await anyio.sleep(0.1)
            sent = [frame for frame in server.frames if frame.direction == "client"]
        assert [next(iter(frame.message)) for frame in sent] == ["setup"]


# The end


async def test_a_farewell_is_heard_before_the_call_ends() -> None:
    def hang_up() -> ToolResult:
        """End the call."""
        return ToolResult("goodbye", ends_session=True)

    async def model(turn: Any) -> None:
        await turn.call("hang_up")
        await turn.say("Goodbye!", TWO_SECONDS)

    ended: list[Ended] = []
    async with FakeLiveServer(model) as server:
        agent = agent_of(server, tools=[hang_up])
        async with phone(twilio, agent, greeting="Go.", on_end=ended.append) as line:
            line.begin()
            while sum(map(len, line.heard)) < 16_000:
                await line.receive()
            while len(line.marks) < len(line.heard):
                await line.receive()
            await anyio.sleep(0.3)
            assert not ended, "it is not heard to the end"
            line.play()
            closed = await line.page.closed()
    assert closed.code == 1000
    assert ended[0].reason == "ended"
    assert ended[0].heard == pytest.approx(2.0, abs=0.05)


async def test_marks_that_never_come_are_not_waited_for_for_ever() -> None:
    def hang_up() -> ToolResult:
        """End the call."""
        return ToolResult("goodbye", ends_session=True)

    async def model(turn: Any) -> None:
        await turn.call("hang_up")
        await turn.say("Bye!", bytes(4800))

    clock = FakeClock()
    async with FakeLiveServer(model) as server:
        async with phone(twilio, agent_of(server, tools=[hang_up]), greeting="Go.", clock=clock) as line:
            line.begin()
            await line.until("mark")
            await until_true(lambda: clock.sleepers)
            clock.advance(10.0)
            assert (await line.page.closed()).code == 1000


async def test_who_hangs_up_in_the_middle_of_a_tool_stops_it() -> None:
    stopped, ended = anyio.Event(), list[Ended]()
    started = anyio.Event()

    async def slow() -> str:
        """Takes its time."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return ""

    async def model(turn: Any) -> None:
        await turn.start_call("slow")

    async with FakeLiveServer(model, strict=False) as server:
        server_of_a_call_that_is_never_answered = server
        async with phone(twilio, agent_of(server, tools=[slow]), greeting="Go.", on_end=ended.append) as line:
            line.begin()
            with anyio.fail_after(5):
                await started.wait()
                line.hang_up()
                await stopped.wait()
                await until_true(lambda: ended)
        server_of_a_call_that_is_never_answered.calls.clear()
    assert ended[0].reason == "hangup"


@pytest.mark.parametrize("when", ["before the start", "while the session opens"])
async def test_who_hangs_up_early_leaves_nothing_behind(when: str) -> None:
    ended: list[Ended] = []
    async with FakeLiveServer() as server:
        async with phone(twilio, agent_of(server), on_end=ended.append) as line:
            if when == "before the start":
                line.page.leave()
            else:
                line.begin()
                line.hang_up()
    assert [end.reason for end in ended] == ([] if when == "before the start" else ["hangup"])


async def test_nobody_speaks_and_the_call_ends() -> None:
    clock, ended, asked = FakeClock(), list[Ended](), list[str]()

    async def model(turn: Any) -> None:
        asked.append(turn.text)

    async with FakeLiveServer(model) as server:
        agent = agent_of(server, clock=clock, idle=1000.0)  # the bridge's own is the one that counts
        async with phone(twilio, agent, idle=10.0, on_end=ended.append, clock=clock) as line:
            line.begin()
            with anyio.fail_after(10):
                while not ended:
                    await anyio.sleep(0.01)
                    if any("setupComplete" in frame.message for frame in server.frames):
                        clock.advance(0.5)
            assert (await line.page.closed()).code == 1000
    assert len(asked) == 1
    assert "still there" in asked[0]
    assert ended[0].reason == "idle"
    setup = next(frame.message["setup"] for frame in server.frames if "setup" in frame.message)
    assert "inputAudioTranscription" in setup, "or nobody would know that the caller speaks"


async def test_a_session_that_fails_is_told_and_the_phone_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[Ended] = []

    async def model(turn: Any) -> None:
        await turn.close(1008, "API key not valid. Please pass a valid API key.")

    async with FakeLiveServer(model) as server:
        async with phone(twilio, agent_of(server), greeting="Go.", on_end=ended.append) as line:
            line.begin()
            assert (await line.page.closed()).code == 1011
    assert isinstance(ended[0].error, livetools.AuthenticationError)
    assert "a call failed" in caplog.text


async def test_what_is_wrong_with_the_program_comes_out() -> None:
    raised: list[Exception] = []
    async with phone(twilio, book, raised=raised) as line:
        line.begin()
        await line.page.closed()
    assert isinstance(raised[0], ConfigError)


async def test_garbage_harms_nobody() -> None:
    async with FakeLiveServer(says("Hi.")) as server:
        async with phone(twilio, agent_of(server), greeting="Greet.") as line:
            for garbage in (
                b"\x00\x01", "no json", "[]", '{"event": 3}', '{"event": "unheard"}', "[" * 10_000, "x" * 20_000,
            ):  # fmt: skip
                line.page.send(garbage)
            line.begin()
            for body in (
                {},
                {"payload": 3},
                {"payload": "*"},
                {"payload": "AA", "chunk": "one"},
                "media",
                None,
            ):
                line.page.send({"event": "media", "media": body})
            line.page.send("[" * 100_000)
            line.page.send("x" * 2_000_000)
            line.page.send({"event": "dtmf", "dtmf": {"digit": 3}})
            line.page.send({"event": "mark", "mark": {"name": "another's"}})
            line.page.send(json.dumps({"event": "start"}))
            await line.until("media")


async def test_a_phone_that_never_starts_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livetools.integrations.telephony.bridge.take_call.START_TIMEOUT", 0.05)
    async with phone(twilio, book) as line:
        assert (await line.page.closed()).code == 1002


# Recorded calls


@pytest.mark.parametrize(("bridge", "codec"), [(twilio, PCMU), (telnyx, PCMA)], ids=["twilio", "telnyx"])
async def test_a_recorded_call_is_held_again(bridge: Any, codec: Any) -> None:
    lines = (Path(__file__).parent / "calls" / f"{bridge.__name__}.jsonl").read_text(encoding="utf-8")
    frames = recorded(lines)
    heard: list[bytes] = []
    texts: list[str] = []
    ended: list[Ended] = []

    async def model(turn: Any) -> None:
        if turn.text:
            texts.append(turn.text)
            return await turn.say("Four.")
        heard.append(turn.audio)
        result = await turn.call("book", table=7)
        return await turn.say(result["output"], tone(0.3, rate=24000))

    async with FakeLiveServer(model) as server:
        async with phone(bridge, agent_of(server), frames[1], on_end=ended.append) as line:
            for frame in frames[:-2]:
                line.page.send(frame)
            while sum(map(len, line.heard)) < 2400:
                await line.receive()
            line.play()
            line.page.send(frames[-2])  # a key
            await until_true(lambda: texts)
            line.page.send(frames[-1])  # stop
            await until_true(lambda: ended)
    spoken = b"".join(codec.decode(base64.b64decode(m["payload"])) for m in in_order(frames))
    told = array("h", Resampler(8000, 16000, prompt=True)(spoken, last=True))
    assert heard[0][4000:60_000] in told.tobytes(), "every sample, in its order"
    assert "4" in texts[0]
    assert ended[0].reason == "hangup"
    assert ended[0].start["start"] == frames[1]["start"]


def in_order(frames: list[dict[str, Any]]) -> list[dict[str, str]]:
    media = [frame["media"] for frame in frames if frame["event"] == "media"]
    return sorted(media, key=lambda body: int(body["chunk"]))


# A process that ends


async def held(drain: Drain) -> None:
    await until_true(lambda: drain.held)


async def test_a_call_is_parked_when_nobody_speaks_and_goes_on_with_its_next_stream() -> None:
    store, ended = MemoryHandleStore(), list[Ended]()
    heard: list[str] = []

    async def model(turn: Any) -> None:
        if turn.text.startswith("Greet"):
            heard.append("greeted")
        contents = turn.session.history
        heard.append(" / ".join(p["text"] for c in contents for p in c["parts"] if "text" in p))
        await turn.say("Good evening!")

    drain = Drain()
    options: dict[str, Any] = {
        "stores": lambda start: store,
        "greeting": "Greet them.",
        "on_end": ended.append,
    }
    async with FakeLiveServer(model) as server:
        async with phone(twilio, agent_of(server), drain=drain, **options) as line:
            line.begin()
            await line.until("mark")
            line.play()
            async with anyio.create_task_group() as group:
                group.start_soon(drain.drain)
                assert (await line.closed()).code == 1000
        async with phone(twilio, agent_of(server), **options) as line:
            line.begin()
            line.press("5#")
            await line.until("mark")
            line.hang_up()
    assert [each.reason for each in ended] == ["parked", "hangup"]
    assert heard.count("greeted") == 1
    assert "Good evening!" in heard[-1]


async def remembers(turn: Any) -> None:
    """Say everything that the user has said."""
    said = [p["text"] for c in turn.session.history if c["role"] == "user" for p in c["parts"] if "text" in p]
    await turn.say(" / ".join(said))


async def continued(server: FakeLiveServer, store: MemoryHandleStore) -> Ended:
    """A stream that continues the conversation of this store, in which one key is pressed: how it ended."""
    ended: list[Ended] = []
    async with phone(
        twilio, agent_of(server), stores=lambda start: store, greeting="Greet them.", on_end=ended.append
    ) as line:
        line.begin()
        line.press("5#")
        await line.until("mark")
        line.hang_up()
    return ended[0]


async def test_a_call_that_goes_on_waits_until_another_process_has_closed_its_session() -> None:
    store, told = MemoryHandleStore(), anyio.Event()

    async def other(server: FakeLiveServer) -> None:
        async with agent_of(server)(handle_store=store) as session:
            await session.ask("one")
            told.set()
            await anyio.sleep(3)  # of virtual time

    async with FakeLiveServer(remembers) as server, anyio.create_task_group() as group:
        group.start_soon(other, server)
        await told.wait()
        ended = await continued(server, store)
    assert (ended.reason, ended.error) == ("hangup", None)
    assert server.sessions[0].history[-1]["parts"][0]["text"].startswith("one / ")


async def test_a_call_that_was_resumed_before_another_process_saved_its_last_handle_is_resumed_again() -> (
    None
):
    class Late(MemoryHandleStore):
        """What is read here twice is the handle before the last one: the other process has not saved that yet."""

        early: list[str | None]

        async def load(self) -> str | None:
            return self.early.pop(0) if self.early else self.handle

    store = Late()
    store.early = []
    async with FakeLiveServer(remembers) as server:
        async with agent_of(server)(handle_store=store) as session:
            await session.ask("one")
            first = await session.park()
        async with agent_of(server)(handle_store=store) as session:
            await session.ask("two")
            last = await session.park()
        assert first != last == store.handle
        store.early = [first, first]
        ended = await continued(server, store)
    assert (ended.reason, ended.error) == ("hangup", None)
    assert ended.contents[-1]["parts"][0]["text"].startswith("one / two / ")


async def test_a_process_waits_for_a_call_that_cannot_go_on_elsewhere() -> None:
    clock, drain, ended = FakeClock(), Drain(within=60), list[Ended]()
    async with FakeLiveServer(says("Hello.")) as server:
        options: dict[str, Any] = {"drain": drain, "clock": clock, "on_end": ended.append}
        async with phone(twilio, agent_of(server), **options) as line:
            line.begin()
            await held(drain)
            async with anyio.create_task_group() as group:
                group.start_soon(drain.drain)
                await settled()
                clock.advance(59)
                await settled()
                assert not ended
                line.hang_up()
    assert [each.reason for each in ended] == ["hangup"]


async def test_but_not_for_ever() -> None:
    clock, drain, ended = FakeClock(), Drain(within=60), list[Ended]()
    async with FakeLiveServer(says("Hello.")) as server:
        agent = functools.partial(agent_of(server), clock=clock)
        async with phone(twilio, agent, drain=drain, clock=clock, on_end=ended.append) as line:
            line.begin()
            line.press("5#")
            await line.until("mark")
            line.play()
            async with anyio.create_task_group() as group:
                group.start_soon(drain.drain)
                await settled()
                clock.advance(61)
                closed = await line.closed()
    assert closed.code == 1000
    assert [each.reason for each in ended] == ["stopped"]


def test_a_package_of_the_extra_that_is_missing_is_named() -> None:
    code = "import sys; sys.modules['httpx'] = None; import livetools.integrations.telephony"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: telephony needs the packages of its extra: pip install")
    assert "httpx" in last
    assert "starlette" not in last
