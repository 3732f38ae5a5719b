"""The pretend model in a turn of the fake server."""

from __future__ import annotations

import pytest

from livetools import OutputTranscript, TurnComplete, connect
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Guess, Pretend
from livetools.testing.pretend.model import asking, introduction, spoken

pytestmark = pytest.mark.anyio


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@pytest.mark.parametrize(
    "model", ["gemini-3.8-live", "gemini-3.1-flash-live", "gemini-live-2.5-flash-preview"]
)
async def test_it_calls_and_tells_on_every_family(model):
    async with FakeLiveServer(Pretend()) as server:
        async with connect(model, tools=[get_weather], **server.options) as session:
            reply = await session.ask("Weather in Oslo?")
    assert str(reply) == "get_weather says: 12 °C, rain."
    assert [dict(call.args) for call in reply.calls] == [{"city": "Oslo"}]


async def test_it_calls_nothing_without_a_reason_and_nothing_half():
    async with FakeLiveServer(Pretend()) as server:
        async with connect("gemini-3.8-live", tools=[get_weather], **server.options) as session:
            assert "I have get_weather(city)." in str(await session.ask("hello"))
            assert "I do not find city" in str(await session.ask("how is the weather?"))
            assert "12 °C" in str(await session.ask("Oslo"))
    assert len(server.calls) == 1


SPEECH = b"\x00\x20" * 3200 + bytes(32_000)  # 0.2 s that are loud, and a second of silence


async def spoken_answer(session) -> str:
    """What it says to a spoken question."""
    await session.send_audio(SPEECH)
    words = ""
    async for event in session:
        if isinstance(event, OutputTranscript):
            words += event.text
        if isinstance(event, TurnComplete) and words:
            break
    return words


@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-2.5-flash-native-audio-latest"])
async def test_a_spoken_question_is_the_one_that_was_typed_last(model):
    async with FakeLiveServer(Pretend()) as server:
        async with connect(model, tools=[get_weather], **server.options) as session:
            await session.ask("Weather in Oslo?")
            await session.ask("Weather in Rome?")
            assert "12 °C" in await spoken_answer(session)
    assert [call.args for call in server.calls][-1] == {"city": "Rome"}


async def test_where_none_was_typed_it_calls_the_first_function():
    async with FakeLiveServer(Pretend()) as server:
        async with connect("gemini-3.8-live", tools=[get_weather], **server.options) as session:
            assert "12 °C" in await spoken_answer(session)
    assert [call.args for call in server.calls] == [{"city": "city"}]


async def test_without_functions_it_says_what_it_heard():
    async with FakeLiveServer(Pretend()) as server:
        async with connect("gemini-3.8-live", **server.options) as session:
            assert (await spoken_answer(session)).startswith("I heard")


def test_responses_are_put_in_words():
    assert spoken("f", {"output": "Hello!"}) == "f says: Hello!"
    assert spoken("f", {"result": {"a": 1}}) == 'f says: {"a": 1}'
    assert spoken("f", {"a": 1}) == 'f says: {"a": 1}'
    assert spoken("f", {"error": "no such city"}) == "f failed: no such city."
    assert spoken("f", {"output": None}) == "f says: null."


def test_what_is_missing_is_asked_for_in_words():
    text = asking(Guess("book", {}, ["name", "guests.count"]))
    assert "I do not find name and guests.count in your words" in text


def test_it_says_what_it_is_and_what_it_has():
    assert introduction([]).endswith("I was given none.")
    assert introduction([{"name": "f"}]).endswith("I have f().")


async def test_a_result_that_comes_late_is_told_and_asks_for_no_call():
    async with FakeLiveServer(Pretend()) as server:
        async with connect("gemini-3.8-live", tools=[get_weather], **server.options) as session:
            late = '[Result of get_weather({"city": "Oslo"}), asked for before the end: {"output": "12 °C"}]'
            assert str(await session.ask(late)) == 'get_weather says: {"output": "12 °C"}'
    assert not server.calls
