"""What a page sends, done by a session."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import pytest

import livetools
from livetools.integrations.relay.input import PageInput, Rejected
from livetools.integrations.relay.limits import MAX_TEXTS
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio

MANUAL = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}


@asynccontextmanager
async def conversing(server, **options):
    """A session, the way to it, and what was refused later."""
    refused = []
    async with livetools.connect("gemini-3.8-live", **options, **server.options) as session:
        way = PageInput(session, lambda code, message: refused.append((code, message)))
        async with anyio.create_task_group() as group:
            group.start_soon(way.send_texts)
            yield session, way, refused
            group.cancel_scope.cancel()


async def until(session, kind):
    with anyio.fail_after(30):
        async for event in session:
            if isinstance(event, kind):
                return


async def test_texts_go_one_after_the_other_and_more_than_can_wait_are_refused():
    heard = []
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            heard.append(turn.text)
            await turn.say("Yes.")

        async with conversing(server) as (session, way, refused):
            for number in range(MAX_TEXTS):  # no task has run meanwhile
                assert await way.take(f'{{"type": "text", "text": "{number}"}}')
            with pytest.raises(Rejected) as full:
                await way.take('{"type": "text", "text": "too many"}')
            assert full.value.code == "busy"
            while len(heard) < MAX_TEXTS:
                await until(session, livetools.TurnComplete)
    assert heard == [str(number) for number in range(MAX_TEXTS)]
    assert not refused


async def test_where_the_page_says_when_the_user_speaks_its_marks_are_the_models():
    heard = []
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            heard.append(turn.audio)
            await turn.say("Yes.")

        async with conversing(server, config=MANUAL) as (session, way, _):
            assert way.manual
            with pytest.raises(Rejected, match="no activity"):
                await way.take('{"type": "activity_end"}')
            await way.take('{"type": "activity_start"}')
            await way.take(b"\x01\x02" * 160)
            await way.take('{"type": "activity_end"}')
            await until(session, livetools.TurnComplete)
            await way.take('{"type": "activity_start"}')
            await way.take(b"\x03\x04" * 160)
            with pytest.raises(Rejected, match="activity"):
                await way.take('{"type": "activity_start"}')
            await way.page_left()  # in the middle of it: what was said is heard
            await until(session, livetools.TurnComplete)
            await way.page_left()
    assert heard == [b"\x01\x02" * 160, b"\x03\x04" * 160]


async def test_a_page_ends_the_session_and_interrupts_the_model():
    async with FakeLiveServer() as server, conversing(server) as (_, way, _):
        assert not way.manual
        await way.take('{"type": "interrupt"}')
        assert not way.ended.is_set()
        await way.take('{"type": "end"}')
        assert way.ended.is_set()


async def test_sound_comes_as_fast_as_it_is_spoken_and_a_minute_ahead():
    clock = FakeClock()
    async with FakeLiveServer() as server, livetools.connect("gemini-3.8-live", **server.options) as session:
        way = PageInput(session, lambda *refused: None, clock)
        half = bytes(16000 * 2 * 30)
        await way.take(half)
        await way.take(half)
        with pytest.raises(Rejected, match="60 s") as ahead:
            await way.take(bytes(320))
        assert ahead.value.code == "busy"
        clock.advance(30)
        await way.take(half)
        with pytest.raises(Rejected):
            await way.take(half)


async def test_who_stops_what_was_typed_just_now_has_stopped_it():
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say("La la la.", audio=b"\1\0" * 24000 * 9)
            await anyio.sleep_forever()

        async with conversing(server) as (session, way, _):
            await way.take('{"type": "text", "text": "sing"}')  # no task has run meanwhile
            await way.take('{"type": "interrupt"}')
            await until(session, livetools.Interrupted)


DECLARED = livetools.Tool(
    {"name": "show_map", "description": "Show a map.", "parameters": {"type": "OBJECT"}}
)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ('"value": {"zoom": 3}', {"output": {"zoom": 3}}),
        ('"value": "shown"', {"output": "shown"}),
        ('"error": "no map"', {"error": "no map"}),
    ],
)
async def test_a_page_answers_what_is_only_declared(fields, told):
    async def answer(way, call):
        await way.take(f'{{"type": "respond", "id": "{call.id}", {fields}}}')

    async def late(way):
        with pytest.raises(Rejected, match="no call with the id"):
            await way.take('{"type": "respond", "id": "call_0", "value": 1}')

    assert await answers_of("show_map", DECLARED, answer, late) == [told]


async def answers_of(name, tool, on_started, at_the_end=None):
    """What a model is answered that calls this tool once; ``on_started`` acts for the page when it begins."""
    answers = []
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            answers.append(await turn.call(name))

        async with conversing(server, tools=[tool]) as (session, way, _):
            await way.take('{"type": "text", "text": "go"}')
            async for event in session:
                way.tap(event)
                if isinstance(event, livetools.ToolStarted):
                    await on_started(way, event.call)
                elif isinstance(event, livetools.TurnComplete) and answers:
                    break
            if at_the_end is not None:
                await at_the_end(way)
    return answers


async def test_what_has_a_handler_is_not_the_pages_to_answer():
    begun, may_end = anyio.Event(), anyio.Event()

    async def slow() -> str:
        """Is slow."""
        begun.set()
        await may_end.wait()
        return "mine"

    refused = []

    async def answer(way, call):
        with pytest.raises(Rejected, match="slow has a handler") as error:
            await way.take(f'{{"type": "respond", "id": "{call.id}", "value": "theirs"}}')
        refused.append(error.value.code)
        may_end.set()

    assert await answers_of("slow", slow, answer) == [{"output": "mine"}]
    assert refused == ["refused"]
