"""A spoken conversation with the fake server, which answers in tones."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from support.virtual import VirtualClock, run

from livetools import Interrupted, OutputTranscript, SessionClosed, ToolFinished, ToolResult, connect
from livetools.audio import Playback, talk
from livetools.errors import LiveToolsError
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-flash-native-audio-preview-12-2025"
QUESTION = b"\x00\x20" * 1600  # 0.1 s that is loud enough to be speech


class Listener:
    """An output whose listener hears when told to."""

    def __init__(self) -> None:
        self.playback = Playback()
        self.write = self.playback.write
        self.flushed: list[float] = []
        self.heard = 0

    def flush(self) -> float:
        self.flushed.append(self.playback.flush())
        return self.flushed[-1]

    async def drained(self) -> None:
        self.heard += len(self.playback.take(1 << 30))


async def said(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_a_question_is_answered_aloud_to_the_last_sample():
    output = Listener()
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            assert turn.audio.startswith(QUESTION)
            await turn.say("Rain.", audio=bytes(24000))

        async with connect(MODEL, **server.options) as session:
            await talk(session, said(QUESTION, bytes(16000)), output)
    assert output.heard == 24000
    assert output.flushed == []


async def test_a_tool_is_called_and_what_the_model_says_after_it_is_played():
    output, told = Listener(), []

    def weather(city: str) -> str:
        """Weather in a city."""
        return f"rain in {city}"

    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            response = await turn.call("weather", city="Oslo")
            await turn.say(response["output"], audio=bytes(4800))

        async with connect(MODEL, tools=[weather], **server.options) as session:
            await talk(session, said(QUESTION, bytes(16000)), output, tell=told.append)
    assert [dict(event.response) for event in told if isinstance(event, ToolFinished)] == [
        {"output": "rain in Oslo"}
    ]
    assert "".join(event.text for event in told if isinstance(event, OutputTranscript)) == "rain in Oslo"
    assert output.heard == 4800


async def test_cutting_in_empties_playback_and_the_new_answer_is_heard():
    output = Listener()
    speaking, cut_off = anyio.Event(), anyio.Event()

    async def microphone() -> AsyncIterator[bytes]:
        yield QUESTION + bytes(16000)
        await speaking.wait()
        yield QUESTION
        await cut_off.wait()
        yield bytes(16000)

    def tell(event: object) -> None:
        if output.playback.waiting == 1.0:
            speaking.set()
        if isinstance(event, Interrupted):
            cut_off.set()

    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            if not speaking.is_set():
                await turn.say("A long story.", audio=b"\x01\x01" * 24000)
                await anyio.sleep_forever()
            await turn.say("Yes?", audio=b"\x02\x02" * 2400)

        async with connect(MODEL, **server.options) as session:
            await talk(session, microphone(), output, tell=tell)
    assert output.flushed == [1.0]
    assert output.heard == 4800


async def test_an_interrupted_pair_before_an_answer_does_not_mute_the_answer():
    output = Listener()
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.send({"serverContent": {"interrupted": True}})
            await turn.send({"serverContent": {"turnComplete": True}})
            await turn.say("Here I am.", audio=bytes(2400))

        async with connect(MODEL, **server.options) as session:
            await talk(session, said(QUESTION, bytes(16000)), output)
    assert output.flushed == [0.0]
    assert output.heard == 2400


async def test_a_goodbye_before_the_session_ends_is_heard():
    output = Listener()

    def hang_up() -> ToolResult:
        """End the call."""
        return ToolResult("bye", ends_session=True)

    async def microphone() -> AsyncIterator[bytes]:
        yield QUESTION + bytes(16000)
        await anyio.sleep_forever()

    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.call("hang_up")
            await turn.say("Goodbye.", audio=bytes(9600))

        async with connect(MODEL, tools=[hang_up], **server.options) as session:
            with anyio.fail_after(30):
                await talk(session, microphone(), output)
    assert output.heard == 9600


async def test_what_ends_the_session_is_raised_bare():
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.close(1011, "Internal error encountered.")

        async with connect(MODEL, reconnect=False, **server.options) as session:
            with pytest.raises(SessionClosed, match="1011"):
                await talk(session, said(QUESTION, bytes(16000)), Listener())


async def test_what_the_source_raises_is_raised_bare():
    async def broken() -> AsyncIterator[bytes]:
        yield QUESTION
        raise OSError("unplugged")

    async with FakeLiveServer() as server, connect(MODEL, **server.options) as session:
        with pytest.raises(OSError, match="unplugged"):
            await talk(session, broken(), Listener())


async def passes(clock: FakeClock, *steps: float) -> None:
    """Let the time pass, once somebody waits for it."""
    for seconds in steps:
        while not clock.sleepers:
            await anyio.lowlevel.checkpoint()
        clock.advance(seconds)


async def test_silence_that_nobody_answers_ends_with_advice():
    clock = FakeClock()
    async with FakeLiveServer() as server, connect(MODEL, **server.options) as session:

        async def wait() -> None:
            with pytest.raises(LiveToolsError, match=r"said nothing for 20 s.*half a second of silence"):
                await talk(session, said(), Listener(), clock=clock)

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await passes(clock, 1.0, 20.0)


async def test_an_answer_that_has_no_end_is_over_when_nothing_follows_it():
    clock, output = FakeClock(), Listener()
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say("And then", audio=bytes(2400))
            await anyio.sleep_forever()

        async def later() -> None:
            while not output.playback.waiting:
                await anyio.lowlevel.checkpoint()
            await passes(clock, 1.0, *[20.0] * 9)

        async with connect(MODEL, **server.options) as session:
            async with anyio.create_task_group() as group:
                group.start_soon(later)
                await talk(session, said(QUESTION, bytes(16000)), output, clock=clock)
                group.cancel_scope.cancel()
    assert output.heard == 2400


async def test_sound_without_silence_at_its_end_is_ended_after_a_second():
    clock, output = FakeClock(), Listener()
    async with FakeLiveServer() as server, connect(MODEL, **server.options) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: talk(session, said(QUESTION), output, clock=clock))
            await passes(clock, 0.0)
            assert not any("audioStreamEnd" in str(frame.message) for frame in server.frames)
            clock.advance(1.0)
        assert any("audioStreamEnd" in str(frame.message) for frame in server.frames)
    assert output.heard > 0


BLOCK = 0.01  # seconds: what a sound card asks for at a time


class Card:
    """A listener with a sound card, on simulated time: when the last sound was given to it, and what it was given."""

    def __init__(self) -> None:
        self.playback = Playback()
        self.write, self.flush, self.drained = self.playback.write, self.playback.flush, self.playback.drained
        self.last_sound = 0.0
        self.played = 0.0

    async def play(self) -> None:
        at = VirtualClock.now()
        while True:
            await VirtualClock.sleep_until(at := at + BLOCK)
            if self.playback.take(int(24000 * BLOCK) * 2):
                self.last_sound = VirtualClock.now()
                self.played += BLOCK


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("after", [0.3, 0.517, 2.0])
def test_from_interrupted_on_the_wire_to_silence_it_takes_at_most_20_ms(backend, after):
    async def program() -> None:
        card, sent = Card(), []

        async def model(turn):
            await turn.say("A long story.", audio=b"\x01\x02" * 240_000)  # ten seconds, at once
            await VirtualClock.sleep_until(VirtualClock.now() + after)
            sent.append(VirtualClock.now())
            await turn.interrupt()

        async with FakeLiveServer(model, clock=VirtualClock()) as server, anyio.create_task_group() as group:
            async with connect(MODEL, clock=VirtualClock(), **server.options) as session:
                group.start_soon(card.play)
                with anyio.move_on_after(5):
                    await talk(session, said(QUESTION, bytes(16000)), card, clock=VirtualClock())
            group.cancel_scope.cancel()
        silent_at = card.last_sound + BLOCK  # what the card was given plays to its end
        assert silent_at - sent[0] <= 0.02
        assert card.played >= after - BLOCK, "and until then it was heard"

    run(backend, program)
