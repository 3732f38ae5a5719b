"""The verbs of a session, and how it ends."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
import trio
from support.waiting import cancelled_once_it_waits

import livetools
from livetools import (
    AudioChunk,
    Call,
    ConcurrencyError,
    ConfigError,
    LocalProtocolError,
    OutputTranscript,
    SessionClosed,
    TurnComplete,
)
from livetools.testing import FakeClock
from livetools.testing.memory import MemoryTransport

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]


async def test_text_audio_video_and_their_ends_go_out_as_the_model_takes_them(opened: Opened) -> None:
    async with opened() as line:
        session = line.session
        await session.send_text("hi")
        await session.send_audio(b"\0\1")
        await session.send_video(b"\xff\xd8")
        await session.end_audio()
        frames = [await line.receive() for _ in range(4)]
    assert frames[0]["clientContent"]["turns"] == [{"role": "user", "parts": [{"text": "hi"}]}]
    inputs = [frame["realtimeInput"] for frame in frames[1:]]
    assert inputs[0]["audio"] == {"mimeType": "audio/pcm;rate=16000", "data": "AAE="}
    assert inputs[1]["video"]["mimeType"] == "image/jpeg"
    assert inputs[2] == {"audioStreamEnd": True}


async def test_a_microphone_that_goes_off_sends_the_silence_that_ends_the_turn(opened: Opened) -> None:
    async with opened() as line:  # of 3.8, which ends a turn by silence alone
        await line.session.send_audio(b"\0\1" * 2400, rate=24000)
        await line.session.end_audio()
        inputs = [(await line.receive())["realtimeInput"] for _ in range(12)]
    assert inputs[1] == {"audioStreamEnd": True}
    silence = b"".join(base64.b64decode(each["audio"]["data"]) for each in inputs[2:])
    assert silence == bytes(2 * 24000)
    assert {each["audio"]["mimeType"] for each in inputs[2:]} == {"audio/pcm;rate=24000"}


BY_HAND = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}


async def test_an_activity_is_written_around_what_is_said_in_it_however_it_is_left(opened: Opened) -> None:
    async with opened(config=BY_HAND) as line:
        session = line.session
        async with session.activity():
            pass
        with pytest.raises(ZeroDivisionError):
            async with session.activity():
                _ = 1 / 0
        with pytest.raises(ZeroDivisionError):
            await _speak_and_fail(session)
        inputs = [(await line.receive("realtimeInput"))["realtimeInput"] for _ in range(3)]
    assert [list(entry) for entry in inputs] == [["activityStart"], ["audio"], ["activityEnd"]]


async def _speak_and_fail(session: livetools.Session) -> None:
    async with session.activity():
        await session.send_audio(b"\0\1")
        _ = 1 / 0


async def test_an_activity_ends_though_its_body_is_cancelled(opened: Opened) -> None:
    async with opened(config=BY_HAND) as line:
        async with cancelled_once_it_waits():
            async with line.session.activity():
                await line.session.send_audio(b"\0\1")
                await anyio.sleep_forever()
        inputs = [(await line.receive("realtimeInput"))["realtimeInput"] for _ in range(3)]
    assert list(inputs[-1]) == ["activityEnd"]


async def test_a_text_inside_an_activity_does_not_wait_for_the_end_of_its_own_block(opened: Opened) -> None:
    async with opened(config=BY_HAND) as line:
        with anyio.fail_after(30):
            async with line.session.activity():
                await line.session.send_text("typed")
                await line.session.send_audio(b"\0\1")
        frames = [await line.receive() for _ in range(4)]
    assert [list(frame["realtimeInput"]) for frame in frames[:3]] == [
        ["activityStart"],
        ["audio"],
        ["activityEnd"],
    ]
    assert "clientContent" in frames[3]


@pytest.mark.parametrize(
    ("verb", "verb_first"), [("send_text", False), ("generate_reply", False), ("generate_reply", True)]
)
async def test_a_tool_does_not_wait_for_a_call_that_waits_for_the_slot_of_that_tool(
    opened: Opened, verb: str, verb_first: bool
) -> None:
    go_on = anyio.Event()

    async def job() -> str:
        """Work beside the conversation."""
        await go_on.wait()
        await getattr(line.session, verb)("hi")
        return "done"

    def greet() -> str:
        """Greet."""
        return "hello"

    tools = [livetools.Tool(job, behavior="non_blocking"), livetools.Tool(greet, behavior="blocking")]
    async with opened(tools, model="gemini-2.5-flash-native-audio-latest", max_concurrency=1) as line:
        line.call({"name": "job", "id": "c1", "args": {}})
        await line.quiet()
        if verb_first:
            go_on.set()
            await line.quiet()
        line.call({"name": "greet", "id": "c2", "args": {}})
        await line.quiet()
        go_on.set()
        answers = [answer["response"] for answer in await line.responses(2)]
        if verb == "send_text":
            assert (await line.receive("clientContent"))["clientContent"]["turns"][0]["parts"] == [
                {"text": "hi"}
            ]
        else:  # it still waits for a quiet moment
            assert len(line.session._driver.machine.dispatch.unasked) == 1
    assert answers == [{"output": "done"}, {"output": "hello"}]


async def test_a_changed_sample_rate_is_refused_before_the_service_closes_for_it(opened: Opened) -> None:
    async with opened() as line:
        await line.session.send_audio(b"\0\0", rate=24000)
        with pytest.raises(LocalProtocolError, match="16000 Hz after audio at 24000 Hz"):
            await line.session.send_audio(b"\0\0")


async def test_half_a_sample_waits_for_its_other_half_and_is_forgotten_where_the_sound_ends(
    opened: Opened,
) -> None:
    async with opened(model="gemini-3.1-flash-live-preview") as line:
        for chunk in (b"abc", b"d", b"e", b"fg", b""):
            await line.session.send_audio(chunk)
        await line.session.end_audio()
        await line.session.send_audio(b"hi")
        sent = [(await line.receive("realtimeInput"))["realtimeInput"] for _ in range(5)]
    heard = [base64.b64decode(entry["audio"]["data"]) if "audio" in entry else b"|" for entry in sent]
    assert heard == [b"ab", b"cd", b"ef", b"|", b"hi"]


async def test_half_a_sample_is_carried_over_chunks_that_are_dropped_and_not_into_the_next_activity(
    opened: Opened,
) -> None:
    async with opened(config=BY_HAND) as line:
        await line.session.send_audio(b"___")  # outside an activity
        async with line.session.activity():
            await line.session.send_audio(b"_abc")
        async with line.session.activity():
            await line.session.send_audio(b"de")
        sent = [(await line.receive("realtimeInput"))["realtimeInput"] for _ in range(6)]
    heard = [base64.b64decode(entry["audio"]["data"]) for entry in sent if "audio" in entry]
    assert heard == [b"__ab", b"de"]


def picture(data: object) -> list[dict[str, Any]]:
    """A user turn with a picture of this data."""
    return [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": data}}]}]


@pytest.mark.parametrize(
    "verb",
    [
        lambda session: session.send_audio([0.5]),
        lambda session: session.send_audio(b"\0\0", rate=0),
        lambda session: session.send_video(b"GIF89a"),
        lambda session: session.send_text(5),
        lambda session: session.ask(5),
        lambda session: session.ask(None),
        lambda session: session.ask(" \n"),
        lambda session: session.ask("hi", timeout="soon"),
        lambda session: anext(session.stream(5)),
        lambda session: session.generate_reply(5),
        lambda session: session.send_content([{"role": "user", "parts": [{"text": 5}]}]),
        lambda session: session.send_content([{"role": "user", "parts": [{"inline_data": "x"}]}]),
        lambda session: session.send_content(picture("%%% not base64")),
        lambda session: session.send_content(picture("QUJD\n")),  # base64.encodebytes wraps its lines
        lambda session: session.send_content(picture("AAA=AAA")),
        lambda session: session.send_content(picture("AAAAA")),
        lambda session: session.send_content(picture(5)),
        lambda session: session.send_content([{"role": "user", "parts": ["x"]}], turn_complete="yes"),
        lambda session: session.send_audio(memoryview(b"\0\0\0\0").cast("b")),
    ],
)
async def test_wrong_values_are_errors_here_and_not_the_end_of_the_session(opened: Opened, verb: Any) -> None:
    async with opened() as line:
        with pytest.raises(ConfigError):
            await verb(line.session)
        await line.session.send_text("still here")
        frame = await line.receive()
        assert frame["clientContent"]["turns"][0]["parts"] == [{"text": "still here"}]


async def test_content_takes_the_types_of_google_genai_too(opened: Opened) -> None:
    from google.genai import types

    async with opened() as line:
        await line.session.send_content(types.Content(role="user", parts=[types.Part(text="a")]), False)
        await line.session.send_content([{"role": "user", "parts": [{"text": "b"}]}])
        first, second = await line.receive("clientContent"), await line.receive("clientContent")
    assert first["clientContent"] == {
        "turns": [{"role": "user", "parts": [{"text": "a"}]}],
        "turnComplete": False,
    }
    assert second["clientContent"]["turnComplete"] is True


async def test_content_in_the_middle_is_refused_where_the_model_closes_for_it(opened: Opened) -> None:
    async with opened(model="gemini-3.1-flash-live-preview") as line:
        await line.session.send_text("hi")
        with pytest.raises(LocalProtocolError, match="send_text"):
            await line.session.send_content([{"role": "user", "parts": [{"text": "b"}]}])


async def test_text_waits_for_a_full_socket_and_is_sent_once(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        line.server.stall()
        done: list[str] = []

        async def send(text: str) -> None:
            await line.session.send_text(text)
            done.append(text)

        group.start_soon(send, "one")
        group.start_soon(send, "two")
        await line.quiet()
        assert done == []
        line.server.stall(full=False)
        texts = [(await line.receive("clientContent"))["clientContent"]["turns"][0]["parts"][0] for _ in "12"]
        await line.quiet()
    assert sorted(part["text"] for part in texts) == sorted(done) == ["one", "two"]


async def test_a_cancelled_send_text_does_not_take_the_text_back(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        line.server.stall()
        group.start_soon(line.session.send_text, "one")
        group.start_soon(line.session.send_text, "two")
        await line.quiet()
        group.cancel_scope.cancel()
        line.server.stall(full=False)
        with anyio.CancelScope(shield=True):
            texts = {(await line.receive())["clientContent"]["turns"][0]["parts"][0]["text"] for _ in "12"}
    assert texts == {"one", "two"}


async def test_a_clean_close_ends_the_loop_without_an_error(opened: Opened) -> None:
    async with opened(reconnect=False) as line:
        line.says("bye")
        line.server.close(1000)
        events = [event async for event in line.session]
        assert OutputTranscript("bye") in events
        assert [event async for event in line.session] == []
        with pytest.raises(SessionClosed, match="1000"):
            await line.session.send_text("too late")


async def test_the_error_that_ends_a_session_is_raised_once_to_whoever_waits(opened: Opened) -> None:
    async with opened(reconnect=False) as line:
        line.server.close(1011, "Internal error")
        with pytest.raises(livetools.ServerError, match="Internal error"):
            await line.until(AudioChunk)
        assert [event async for event in line.session] == []
        with pytest.raises(livetools.ServerError):
            await line.session.send_text("too late")


def calls_on(line: Any, count: int) -> None:
    for n in range(count):
        line.call({"name": "nothing", "id": f"c{n}", "args": {}})


@pytest.mark.parametrize("verb", ["ask", "stream", "iterate", "leave"])
async def test_a_model_that_calls_past_max_calls_ends_the_session_for_whoever_waits(
    opened: Opened, verb: str
) -> None:
    async def wait(line: Any) -> None:
        calls_on(line, 11)
        if verb == "ask":
            await line.session.ask("Go on.")
        elif verb == "stream":
            assert [word async for word in line.session.stream("Go on.")] == []
        elif verb == "iterate":
            assert [event async for event in line.session if isinstance(event, AudioChunk)] == []
        else:
            await line.quiet()

    async def body() -> None:
        async with opened(max_calls=1) as line:
            await wait(line)

    with pytest.raises(livetools.LimitReached, match="max_calls=1") as caught:
        await body()
    assert caught.value.limit == "max_calls"


async def test_the_last_error_is_written_before_a_session_past_max_calls_closes(opened: Opened) -> None:
    async with opened(max_calls=0) as line:
        calls_on(line, 10)
        assert len(await line.responses(10)) == 10
        with pytest.raises(livetools.LimitReached):
            await line.until(AudioChunk)
        with pytest.raises(livetools.LimitReached):
            await line.session.send_text("one more thing")


async def test_a_session_past_max_seconds_ends_for_whoever_waits_and_has_told_the_model(
    opened: Opened,
) -> None:
    clock = FakeClock()
    async with opened(max_seconds=60, clock=clock) as line:
        clock.advance(55)
        told = await line.receive("clientContent")
        assert "ends in about 5 seconds" in told["clientContent"]["turns"][0]["parts"][0]["text"]
        line.says("We have five seconds left.")
        await line.quiet()
        assert line.session.stats()["seconds"] == 55
        clock.advance(5)
        with pytest.raises(livetools.LimitReached, match="max_seconds=60") as caught:
            await line.until(AudioChunk)
        assert caught.value.limit == "max_seconds"
        with pytest.raises(livetools.LimitReached):
            await line.session.ask("One more thing?")


async def test_a_session_in_which_nobody_speaks_ends_in_order(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(idle=30, clock=clock) as line:
        clock.advance(30)
        asked = await line.receive("clientContent")
        assert "still there" in asked["clientContent"]["turns"][0]["parts"][0]["text"]
        line.says("Are you still there?")
        await line.quiet()
        clock.advance(31)
        with anyio.fail_after(30):
            said = [event async for event in line.session if isinstance(event, OutputTranscript)]
        assert [event.text for event in said] == ["Are you still there?"]


async def test_an_error_that_nobody_saw_is_raised_by_leaving(opened: Opened) -> None:
    async def body() -> None:
        async with opened(reconnect=False) as line:
            line.server.close(1011, "Internal error")
            await line.quiet()

    with pytest.raises(livetools.ServerError):
        await body()


async def test_an_error_of_the_body_is_not_replaced(opened: Opened) -> None:
    async def body() -> None:
        async with opened(reconnect=False) as line:
            line.server.close(1011, "Internal error")
            await line.quiet()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await body()


async def test_aclose_ends_the_loop_of_another_task_without_an_error(opened: Opened) -> None:
    ended: list[bool] = []

    async with opened() as line, anyio.create_task_group() as group:

        async def listen() -> None:
            async for _ in line.session:
                pass
            ended.append(True)

        group.start_soon(listen)
        await line.quiet()
        await line.session.aclose()
        await line.session.aclose()
    assert ended == [True]


async def test_a_session_that_is_not_open_says_so() -> None:
    session = livetools.connect("gemini-3.8-live", base_url="ws://localhost:1")
    with pytest.raises(LocalProtocolError, match="async with"):
        await session.send_text("hi")
    with pytest.raises(LocalProtocolError, match="async with"):
        _ = session.handle


async def test_a_session_is_entered_once(opened: Opened) -> None:
    async with opened() as line:
        with pytest.raises(LocalProtocolError, match="entered once"):
            await line.session.__aenter__()


async def test_another_thread_is_told_how_to_come_here(opened: Opened) -> None:
    errors: list[BaseException] = []

    async with opened() as line:

        def elsewhere() -> None:
            try:
                line.session.send_text("hi").send(None)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert isinstance(errors[0], ConcurrencyError)


VERBS: dict[str, Callable[[livetools.Session], Awaitable[object]]] = {
    "ask": lambda s: s.ask("hi"),
    "stream": lambda s: anext(s.stream("hi")),
    "iterate": lambda s: anext(s),
    "send_text": lambda s: s.send_text("hi"),
    "send_content": lambda s: s.send_content([{"role": "user", "parts": [{"text": "hi"}]}]),
    "send_audio": lambda s: s.send_audio(bytes(2)),
    "send_video": lambda s: s.send_video(b"\xff\xd8"),
    "end_audio": lambda s: s.end_audio(),
    "activity": lambda s: s.activity().__aenter__(),
    "interrupt": lambda s: s.interrupt(),
    "respond": lambda s: s.respond(Call("c1", "f"), 1),
    "approve": lambda s: s.approve(Call("c1", "f")),
    "refuse": lambda s: s.refuse(Call("c1", "f")),
    "update": lambda s: s.update("other"),
    "aclose": lambda s: s.aclose(),
    "leave": lambda s: s.__aexit__(None, None, None),
}


@contextmanager
def another_loop() -> Iterator[
    tuple[livetools.Session, asyncio.AbstractEventLoop, asyncio.AbstractEventLoop]
]:
    """A session that was entered in one loop of this thread, that loop, and another one."""
    home, other = asyncio.new_event_loop(), asyncio.new_event_loop()
    transport = MemoryTransport()
    session = livetools.connect("gemini-3.8-live", transport=transport, base_url="ws://localhost")

    async def enter() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(session.__aenter__)
            server = await transport.accept()
            await server.receive()
            server.send({"setupComplete": {}})

    try:
        home.run_until_complete(enter())
        yield session, home, other
        home.run_until_complete(session.__aexit__(None, None, None))
    finally:
        home.close()
        other.close()


@pytest.mark.parametrize("verb", VERBS)
def test_another_loop_of_the_same_thread_is_told_which_one_it_must_be(verb: str) -> None:
    async def use() -> None:
        async with asyncio.timeout(5):
            await VERBS[verb](session)

    with another_loop() as (session, home, other):
        with pytest.raises(ConcurrencyError, match="event loop that opened it") as caught:
            other.run_until_complete(use())
        assert repr(home)[:40] in str(caught.value)


def test_a_loop_of_trio_is_named_as_well() -> None:
    async def use() -> None:
        await session.send_text("hi")

    with another_loop() as (session, _, _):
        with pytest.raises(ConcurrencyError, match=r"in another one, .*TrioToken"):
            trio.run(use)


def test_a_stream_that_goes_on_in_another_loop_is_told_so_too() -> None:
    with another_loop() as (session, home, other):
        stream = session.stream("hi")

        async def first() -> None:
            with anyio.move_on_after(0.05):
                await anext(stream)

        home.run_until_complete(first())
        with pytest.raises(ConcurrencyError, match="event loop that opened it"):
            other.run_until_complete(anext(stream))  # type: ignore[arg-type]  # an awaitable is enough


def new_session() -> livetools.Session:
    return livetools.connect("gemini-3.8-live", transport=MemoryTransport(), base_url="ws://localhost")


async def test_a_session_that_is_entered_in_another_way_says_how_it_is_entered() -> None:
    session: Any = new_session()
    with pytest.raises(TypeError, match=r"async with connect\(...\) as session"), session:
        pass
    with pytest.raises(TypeError, match=r"not awaited, it is entered: async with connect\(...\) as session"):
        await session


async def test_closing_a_session_that_was_never_entered_does_nothing() -> None:
    session = new_session()
    await session.aclose()
    await session.aclose()


@pytest.mark.parametrize("verb", ["respond", "approve", "refuse"])
async def test_an_id_in_place_of_a_call_is_an_error_that_says_what_is_expected(
    opened: Opened, verb: str
) -> None:
    arguments = {"respond": ("c1", 1)}.get(verb, ("c1",))
    async with opened() as line:
        with pytest.raises(ConfigError, match="'c1' is a str: the Call of an event is expected"):
            await getattr(line.session, verb)(*arguments)


async def test_two_loops_over_one_session_are_an_error(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        group.start_soon(line.until, AudioChunk)
        await line.quiet()
        with pytest.raises(ConcurrencyError, match="two loops"):
            await line.until(AudioChunk)
        group.cancel_scope.cancel()


async def test_an_interruption_reaches_a_slow_reader_first(opened: Opened) -> None:
    async with opened() as line:
        audio = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA"}}
        for _ in range(20):
            line.server.send({"serverContent": {"modelTurn": {"parts": [audio]}}})
        line.server.send({"serverContent": {"interrupted": True}})
        await line.quiet()
        first = await anext(line.session)
        assert first == livetools.Interrupted()
        line.says("x")
        rest = [await anext(line.session) for _ in range(2)]
    assert not [event for event in rest if isinstance(event, AudioChunk)]


async def test_the_facts_of_a_session(opened: Opened) -> None:
    async with opened() as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.server.send({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 5}})
        line.says("hello")
        await line.quiet()
        session = line.session
        assert session.handle == "h1"
        assert session.usage.total_tokens == 5
        assert session.profile.known
        assert session.transcript.contents[-1]["parts"] == [{"text": "hello"}]
        assert session.stats()["calls"] == []


async def test_the_transcript_has_a_bound_and_says_once_that_it_was_met(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(max_history=500) as line:
        for number in range(20):
            line.says(f"{number}: " + "x" * 100)
            await line.until(TurnComplete)
        (kept,) = line.session.transcript.contents
    assert kept["parts"][-1] == {"text": "19: " + "x" * 100}
    assert line.session.transcript.dropped == 20 - len(kept["parts"]) > 10
    assert caplog.text.count("max_history=500") == 1
