"""``ask`` and ``stream``: they return or raise, always."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from livetools import (
    ApprovalRequested,
    AudioChunk,
    Call,
    ConcurrencyError,
    ConfigError,
    LocalProtocolError,
    NoAnswer,
    OutputTranscript,
    ReconnectPolicy,
    ServerError,
    SessionClosed,
    TextChunk,
    ToolStarted,
    TurnComplete,
    UsageUpdate,
    connect,
    tool,
)
from livetools.events import Event
from livetools.session import Usage
from livetools.session.ask_and_reply import reply_of
from livetools.testing import FakeClock, FakeLiveServer, Turn

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]


def test_a_reply_gathers_words_audio_calls_and_the_last_count_of_each_turn() -> None:
    call = Call("c1", "f")
    events = [
        OutputTranscript("It "), AudioChunk(b"ab", 16000), ToolStarted(call),
        UsageUpdate(Usage(total_tokens=1)), UsageUpdate(Usage(total_tokens=3)), TurnComplete(),
        OutputTranscript("rains."), AudioChunk(b"cd", 16000), UsageUpdate(Usage(total_tokens=4)),
    ]  # fmt: skip
    reply = reply_of(events, interrupted=True)
    assert (reply.text, str(reply)) == ("It rains.", "It rains.")
    assert (reply.audio, reply.rate, reply.calls) == (b"abcd", 16000, (call,))
    assert reply.usage.total_tokens == 7
    assert reply.interrupted
    assert "abcd" not in repr(reply)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([TurnComplete("RESPONSE_REJECTED")], "RESPONSE_REJECTED"),
        ([OutputTranscript("It "), TurnComplete("GENERATED_AUDIO_SAFETY")], "GENERATED_AUDIO_SAFETY"),
        ([ToolStarted(Call("c1", "f")), TurnComplete(), TurnComplete("BLOCKLIST")], "BLOCKLIST"),
        ([TurnComplete("MALFORMED_FUNCTION_CALL"), OutputTranscript("It rains."), TurnComplete()], None),
        ([TurnComplete("NEED_MORE_INPUT")], "NEED_MORE_INPUT"),
        ([OutputTranscript("Which city?"), TurnComplete("NEED_MORE_INPUT")], None),
        ([OutputTranscript("It "), TurnComplete("CONNECTION_REPLACED")], None),
        ([OutputTranscript("It rains."), TurnComplete()], None),
    ],
)
def test_a_reply_tells_why_its_turn_ended_where_that_is_not_ordinary(
    events: list[Event], reason: str | None
) -> None:
    reply = reply_of(events)
    assert reply.reason == reason
    assert (f"reason={reason!r}" in repr(reply)) == (reason is not None)


async def test_ask_waits_for_calls_and_what_is_said_of_them(opened: Opened) -> None:
    async def look() -> str:
        """Looks."""
        return "rain"

    async with opened([look]) as line, anyio.create_task_group() as group:
        replies = []

        async def ask() -> None:
            replies.append(await line.session.ask("weather?"))

        group.start_soon(ask)
        await line.receive("clientContent")
        line.call({"name": "look", "id": "c1", "args": {}})
        await line.responses(1)
        assert replies == []
        line.says("It rains.")
    assert str(replies[0]) == "It rains."
    assert [call.name for call in replies[0].calls] == ["look"]


async def test_an_iterator_beside_it_sees_everything_too(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        events: list[object] = []

        async def listen() -> None:
            async for event in line.session:
                events.append(event)

        group.start_soon(listen)
        group.start_soon(line.session.ask, "hi")
        await line.receive("clientContent")
        line.says("hello")
        await line.quiet()
        await line.session.aclose()
    assert OutputTranscript("hello") in events


async def test_two_exchanges_at_once_are_an_error_and_the_first_goes_on(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        replies = []

        async def ask() -> None:
            replies.append(str(await line.session.ask("one")))

        group.start_soon(ask)
        await line.receive("clientContent")
        with pytest.raises(ConcurrencyError):
            await line.session.ask("two")
        line.says("first")
    assert replies == ["first"]


async def test_a_timeout_gives_the_answer_up_and_the_next_question_is_answered(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        with pytest.raises(TimeoutError):
            await line.session.ask("one", timeout=0.01)
        line.says("late")
        replies = []

        async def ask() -> None:
            replies.append(str(await line.session.ask("two", timeout=30)))

        await line.quiet()
        group.start_soon(ask)
        await line.receive("clientContent")
        await line.receive("clientContent")
        line.says("second")
    assert replies == ["second"]


async def test_a_session_that_ends_in_the_middle_raises_what_ended_it(opened: Opened) -> None:
    async with opened(reconnect=False) as line, anyio.create_task_group() as group:

        async def end() -> None:
            await line.receive("clientContent")
            line.server.close(1011, "Internal error")

        group.start_soon(end)
        with pytest.raises(ServerError):
            await line.session.ask("hi", timeout=30)


async def test_closing_the_session_ends_an_exchange_too(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def end() -> None:
            await line.receive("clientContent")
            await line.session.aclose()

        group.start_soon(end)
        with pytest.raises(SessionClosed):
            await line.session.ask("hi", timeout=30)


async def test_stream_gives_the_words_as_they_come(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        words: list[str] = []

        async def listen() -> None:
            async for word in line.session.stream("hi"):
                words.append(word)

        group.start_soon(listen)
        await line.receive("clientContent")
        line.server.send({"serverContent": {"outputTranscription": {"text": "one "}}})
        await line.quiet()
        assert words == ["one "]
        line.says("two")
    assert words == ["one ", "two"]


async def test_an_interrupted_exchange_ends_with_what_was_heard(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        replies = []

        async def ask() -> None:
            replies.append(await line.session.ask("hi"))

        group.start_soon(ask)
        await line.receive("clientContent")
        line.server.send({"serverContent": {"outputTranscription": {"text": "Well"}}})
        line.server.send({"serverContent": {"interrupted": True}})
        line.server.send({"serverContent": {"turnComplete": True}})
    assert (str(replies[0]), replies[0].interrupted) == ("Well", True)


async def test_ask_waits_for_a_generator_to_its_end(opened: Opened) -> None:
    go_on = anyio.Event()

    async def count() -> AsyncIterator[str]:
        """Count."""
        yield "first"
        await go_on.wait()
        yield "second"

    async with opened([count]) as line, anyio.create_task_group() as group:
        replies = []

        async def ask() -> None:
            replies.append(await line.session.ask("count"))

        group.start_soon(ask)
        await line.receive("clientContent")
        line.call({"name": "count", "id": "c1"})
        line.server.send({"serverContent": {"turnComplete": True}})
        await line.responses(1)
        line.says("The first. ")
        await line.quiet()
        assert replies == []
        go_on.set()
        await line.responses(2)
        line.says("The second.")
    assert str(replies[0]) == "The first. The second."


async def test_ask_waits_for_an_approval(opened: Opened) -> None:
    def pay() -> str:
        """Pay."""
        return "paid"

    async with opened([tool(approval=True, behavior="non_blocking")(pay)]) as line:
        async with anyio.create_task_group() as group:
            replies = []

            async def ask() -> None:
                replies.append(await line.session.ask("pay"))

            group.start_soon(ask)
            await line.receive("clientContent")
            line.call({"name": "pay", "id": "c1"})
            line.server.send({"serverContent": {"turnComplete": True}})
            asked = await line.until(ApprovalRequested)
            await line.responses(1)
            await line.quiet()
            assert replies == []
            await line.session.approve(asked.call)
            assert (await line.responses(1))[0]["response"] == {"output": "paid"}
            line.says("It is paid.")
    assert str(replies[0]) == "It is paid."


MiB = 2**20


async def say_audio(line: Any, chunks: int) -> None:
    await line.receive("clientContent")
    data = base64.b64encode(bytes(MiB)).decode()
    part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
    for _ in range(chunks):
        line.server.send({"serverContent": {"modelTurn": {"parts": [part]}}})
    line.says("said")


async def test_an_answer_without_end_keeps_its_words_and_its_newest_audio(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("livetools.protocol.turns.exchange.MAX_ASK_AUDIO", 3 * MiB)
    async with opened() as line, anyio.create_task_group() as group:
        group.start_soon(say_audio, line, 6)
        reply = await line.session.ask("hi", timeout=30)
    assert reply.text == "said"
    assert len(reply.audio) == 2 * MiB
    assert len([r for r in caplog.records if "the oldest of its audio" in r.getMessage()]) == 1


async def test_what_is_not_part_of_a_reply_is_not_gathered_for_it(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def noise() -> None:
            await line.receive("clientContent")
            for _ in range(500):
                line.server.send({"unknown": 1})
                line.server.send({"usageMetadata": {"totalTokenCount": 7}})
            line.says("said")

        group.start_soon(noise)
        stream = line.session.stream("hi")
        assert [word async for word in stream] == ["said"]
        exchange = stream._asking.exchange
    assert len(exchange.events) < 10


async def test_a_session_that_only_asks_keeps_nothing_for_an_iterator_that_never_came(opened: Opened) -> None:
    async with opened() as line:
        for _ in range(3):
            async with anyio.create_task_group() as group:
                group.start_soon(say_audio, line, 1)
                await line.session.ask("hi", timeout=30)
        await line.session.aclose()
        assert not [e async for e in line.session if isinstance(e, AudioChunk | TurnComplete)]


async def test_whoever_has_iterated_once_is_kept_the_events_of_an_ask(opened: Opened) -> None:
    async with opened() as line:
        await anext(line.session)
        async with anyio.create_task_group() as group:
            group.start_soon(say_audio, line, 1)
            await line.session.ask("hi", timeout=30)
        await line.session.aclose()
        assert [
            type(e) for e in [e async for e in line.session] if isinstance(e, AudioChunk | TurnComplete)
        ] == [
            AudioChunk,
            TurnComplete,
        ]


# Questions that nobody answers, and turns that may not come


async def run_on(line: Any, clock: FakeClock) -> None:
    """Time passes whenever nothing else happens."""
    while True:
        await line.quiet()
        clock.advance(0.25)


def text_of(frame: dict[str, Any]) -> str:
    """The text of a user turn, on whichever channel."""
    turns = frame.get("clientContent", {}).get("turns", [])
    texts = [part.get("text", "") for turn in turns for part in turn["parts"]]
    return str(frame.get("realtimeInput", {}).get("text") or " ".join(texts))


async def ask_all(session: Any, *questions: str) -> list[str]:
    return [str(await session.ask(question, timeout=30)) for question in questions]


async def answer_all(line: Any, ignored: str = "ignored") -> None:
    """A model that answers each text but one, and never a blank one."""
    while True:
        text = text_of(await line.server.receive())
        if text.strip() and text != ignored:
            line.says(f"answer to {text}")


async def give_up(session: Any) -> None:
    with contextlib.suppress(TimeoutError):
        await session.ask("ignored", timeout=0.01)


async def break_off(session: Any) -> None:
    with anyio.move_on_after(0.01):
        async for _ in session.stream("ignored"):
            pass


async def send_ignored(session: Any) -> None:
    await session.send_text("ignored")


async def send_blank(session: Any) -> None:
    await session.send_text(" ")


async def send_nothing(session: Any) -> None:
    with contextlib.suppress(LocalProtocolError):  # 3.1 takes none
        await session.send_content([])


MODELS = ["gemini-3.8-live", "gemini-3.1-flash-live-preview", "gemini-2.5-flash-native-audio-preview-12-2025"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("first", [give_up, break_off, send_ignored, send_blank, send_nothing])
async def test_behind_a_question_without_an_answer_each_question_is_given_its_own(
    opened: Opened, first: Any, model: str
) -> None:
    clock = FakeClock()
    async with opened(model=model, clock=clock) as line, anyio.create_task_group() as group:
        group.start_soon(answer_all, line)
        await first(line.session)
        group.start_soon(run_on, line, clock)
        assert await ask_all(line.session, "two", "three") == ["answer to two", "answer to three"]
        assert clock.now() < 5
        group.cancel_scope.cancel()


async def test_a_question_that_nobody_answers_raises_and_says_what_was_waited_for(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(clock=clock, stall_timeout=7.0) as line, anyio.create_task_group() as group:
        group.start_soon(run_on, line, clock)
        with pytest.raises(NoAnswer, match="nothing came for 7 s, and the model's answer"):
            await line.session.ask("anyone?")
        with pytest.raises(TimeoutError, match="stall_timeout="):
            async for _ in line.session.stream("anyone?"):
                pass
        group.cancel_scope.cancel()


async def test_a_reply_that_breaks_off_says_that_it_stalled(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(clock=clock) as line, anyio.create_task_group() as group:

        async def half() -> None:
            await line.receive("clientContent")
            line.server.send({"serverContent": {"outputTranscription": {"text": "half"}}})
            await run_on(line, clock)

        group.start_soon(half)
        reply = await line.session.ask("hi")
        assert (reply.text, reply.stalled) == ("half", True)
        group.cancel_scope.cancel()


@pytest.mark.parametrize("text", ["", " \n"])
async def test_a_question_without_a_word_is_refused(opened: Opened, text: str) -> None:
    async with opened() as line:
        with pytest.raises(ConfigError, match="blank"):
            await line.session.ask(text)
        with pytest.raises(ConfigError, match="blank"):
            await anext(line.session.stream(text))


# Text beside speech


async def test_text_beside_speech_is_an_event_and_not_a_part_of_what_is_said(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def model(*contents: dict[str, Any]) -> None:
            await line.receive("clientContent")
            for content in contents:
                line.server.send({"serverContent": content})
            line.server.send({"serverContent": {"turnComplete": True}})

        events: list[object] = []

        async def listen() -> None:
            async for event in line.session:
                events.append(event)

        group.start_soon(listen)
        text = {"modelTurn": {"parts": [{"text": "**Greeting**"}]}}
        spoken = {"outputTranscription": {"text": "Hello!"}}
        group.start_soon(model, text, spoken)
        assert (await line.session.ask("hi")).text == "Hello!"
        group.start_soon(model, text, spoken, text)
        assert [word async for word in line.session.stream("hi")] == ["Hello!"]
        group.start_soon(model, text)
        assert [word async for word in line.session.stream("hi")] == ["**Greeting**"]
        group.start_soon(model, text)
        assert (await line.session.ask("hi")).text == "**Greeting**"
        said = [c["parts"][0]["text"] for c in line.session.transcript.contents if c["role"] == "model"]
        assert said == ["Hello!", "Hello!", "**Greeting**", "**Greeting**"]
        await line.quiet()
        assert events.count(TextChunk("**Greeting**")) == 5
        group.cancel_scope.cancel()


@pytest.mark.parametrize("asks", [True, False])
async def test_whoever_cuts_the_model_off_may_ask_at_once_and_hears_the_answer_to_that(asks: bool) -> None:
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn: Turn) -> None:
            await turn.say(f"On {turn.text}")
            if turn.text == "one":
                await anyio.sleep_forever()  # until it is cut off

        async def first() -> None:
            if asks:
                assert (await session.ask("one", timeout=30)).interrupted
            else:
                await session.send_text("one")

        async with (
            connect("gemini-3.8-live", **server.options) as session,
            anyio.create_task_group() as group,
        ):
            group.start_soon(first)
            with anyio.fail_after(30):
                async for event in session:
                    if isinstance(event, OutputTranscript):
                        await session.interrupt()
                    if isinstance(event, TurnComplete):
                        break
                assert str(await session.ask("two")) == "On two"
        assert [next(iter(f.message)) for f in server.frames if "interrupted" in str(f.message)] == [
            "serverContent"
        ]


@pytest.mark.parametrize("streams", [False, True])
async def test_a_question_whose_call_went_down_unread_is_asked_again_and_answered(streams: bool) -> None:
    """3.8 spends the question that is written again on closing that call; it is written once more."""
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn: Turn) -> None:
            if len(server.calls) == 0:
                server.faults.drop = 1.0  # the call, and its connection
                try:
                    await turn.call("get_weather")
                finally:
                    server.faults.drop = 0.0
            await turn.say(f"To {turn.text}")

        def get_weather() -> str:
            """Looks."""
            return "rain"

        policy = ReconnectPolicy(initial=0.01)
        async with connect(
            "gemini-3.8-live", tools=[get_weather], reconnect=policy, **server.options
        ) as session:
            if streams:
                said = "".join([word async for word in session.stream("one")])
            else:
                reply = await session.ask("one")
                said = str(reply)
                assert not reply.interrupted
            assert said == "To one"
            assert [content["parts"] for content in session.transcript] == [
                [{"text": "one"}],
                [{"text": "To one"}],
            ], "once, however often it was written"
            assert str(await session.ask("two")) == "To two"
