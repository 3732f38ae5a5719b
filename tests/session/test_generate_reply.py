"""The model begins: a greeting, a reminder, in a moment when nobody is talked over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.waiting import cancelled_once_it_waits

from livetools import ConfigError, OutputTranscript, SessionClosed, TurnComplete, connect
from livetools.protocol.calls.wording import SPEAK_NOW
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


async def test_a_greeting_is_the_models_word_and_nobody_elses(opened: Opened) -> None:
    async with opened() as line:
        await line.session.generate_reply("Greet the caller.")
        frame = await line.receive("clientContent")
        line.says("Hello!")
        await line.until(TurnComplete)
        contents = line.session.transcript.contents
    assert frame["clientContent"]["turns"][0]["parts"] == [{"text": "Greet the caller."}]
    assert "Greet the caller." not in str(contents)
    assert contents[-1] == {"role": "model", "parts": [{"text": "Hello!"}]}


async def test_the_exchange_after_a_greeting_gets_its_own_answer(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        await line.session.generate_reply("Greet.")
        await line.receive("clientContent")

        async def answer() -> None:
            line.says("Hello!")
            await line.receive("clientContent")
            line.says("Rain.")

        group.start_soon(answer)
        assert (await line.session.ask("Weather?")).text == "Rain."


async def test_one_that_still_waits_is_taken_back_when_it_is_cancelled(opened: Opened) -> None:
    async with opened() as line:
        line.server.send({"serverContent": {"outputTranscription": {"text": "Well, "}}})
        await line.quiet()
        async with cancelled_once_it_waits() as scope:
            await line.session.generate_reply("Greet.")
        assert scope.cancelled_caught
        line.server.send({"serverContent": {"turnComplete": True}})
        await line.session.send_text("hi")
        assert (await line.receive("clientContent"))["clientContent"]["turns"][0]["parts"] == [{"text": "hi"}]
        assert not line.session._driver.machine.dispatch.unasked


async def test_one_that_waits_when_the_session_ends_is_raised_why(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:
        line.server.send({"serverContent": {"outputTranscription": {"text": "Well, "}}})
        await line.quiet()

        async def greet() -> None:
            with pytest.raises(SessionClosed):
                await line.session.generate_reply("Greet.")

        group.start_soon(greet)
        await line.quiet()
        await line.session.aclose()


async def test_blank_instructions_are_refused(opened: Opened) -> None:
    async with opened() as line:
        with pytest.raises(ConfigError, match="blank"):
            await line.session.generate_reply(" ")


@pytest.mark.parametrize(
    ("model", "instructions", "read"),
    [
        ("gemini-3.8-live", None, ""),
        ("gemini-3.8-live", "Greet.", "Greet."),
        ("gemini-3.1-flash-live-preview", None, SPEAK_NOW),
        ("gemini-2.5-flash-native-audio-latest", "Greet.", "Greet."),
    ],
)
async def test_every_family_begins_when_it_is_asked_to(
    model: str, instructions: str | None, read: str
) -> None:
    async def greets(turn: Any) -> None:
        assert turn.text == read
        await turn.say("Hello!")

    async with FakeLiveServer(greets) as server:
        async with connect(model, **server.options) as session:
            await session.generate_reply(instructions)
            said = ""
            async for event in session:
                if isinstance(event, OutputTranscript):
                    said += event.text
                elif isinstance(event, TurnComplete):
                    break
    assert said == "Hello!"
