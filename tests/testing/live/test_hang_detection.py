"""A test whose script is over, and whose program waits for more, fails with the frames."""

from __future__ import annotations

import contextlib

import anyio
import pytest
import trio
from support.virtual import block
from trio.testing import MockClock

import livetools
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

AUDIO = {"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}}}
OVER = "the script is over, and the program has sent nothing for 0.3 s"


def served(**options):
    server = FakeLiveServer(**options)
    server.patience = 0.3

    @server.conversation
    async def script(user):
        turn = await user.says("hello")
        await turn.say("Hello.")

    return server


async def ended(server, dial, *media):
    """Whether the conversation was failed within a second."""
    async with server:
        async with dial(server) as client:
            await client.say("hello")
            await client.until("turnComplete")
            with anyio.move_on_after(1), contextlib.suppress(Exception):
                while True:
                    await client.send(*media)
                    await anyio.sleep(0.05)
        failed = bool(server.service.log.errors)
        server.service.log.errors.clear()
    return failed


async def test_a_program_that_waits_behind_the_end_of_the_script_is_told_and_the_test_fails(dial):
    async def scenario():
        async with served() as server, dial(server) as client:
            await client.say("hello")
            await client.until("turnComplete")
            code, _ = await client.closed()
            assert code == 1011

    with pytest.raises(AssertionError, match=OVER) as caught:
        await scenario()
    assert "setupComplete" in str(caught.value)


def test_it_is_real_time_where_a_test_moves_the_clock_of_its_loop():
    async def scenario():
        async with served() as server, livetools.connect("gemini-3.8-live", **server.options) as session:
            server.patience = 30.0
            await session.ask("hello")
            await anyio.sleep(60)

    trio.run(scenario, clock=MockClock(autojump_threshold=0))


async def test_a_session_that_is_iterated_over_ends_with_the_reason():
    async def scenario():
        async with served() as server, livetools.connect("gemini-3.8-live", **server.options) as session:
            await session.send_text("hello")
            async for event in session:
                assert not isinstance(event, livetools.VideoChunk)

    with pytest.raises(AssertionError, match=OVER):
        await scenario()


async def test_media_is_no_sign_that_the_program_goes_on(dial):
    assert await ended(served(), dial, AUDIO)


@pytest.mark.parametrize(
    "message",
    [{"realtimeInput": {"audioStreamEnd": True}}, {"clientContent": {"turnComplete": False}}],
    ids=lambda message: next(iter(next(iter(message.values())))),
)
async def test_everything_else_is_one(dial, message):
    assert not await ended(served(), dial, message)


async def test_a_test_that_moves_its_own_clock_is_left_alone(dial):
    assert not await ended(served(clock=FakeClock()), dial)


async def test_without_patience_it_waits_for_ever(dial):
    server = served()
    server.patience = None
    assert not await ended(server, dial)


async def test_a_script_that_waits_for_its_user_is_not_over(dial):
    server = FakeLiveServer()
    server.patience = 0.1

    @server.conversation
    async def script(user):
        async for turn in user:
            await turn.say("Hello.")

    assert not await ended(server, dial)


async def test_an_open_call_is_waited_for_and_then_the_time_begins_anew(dial):
    server = FakeLiveServer()
    server.patience = 0.2

    @server.conversation
    async def script(user):
        turn = await user.says("hello")
        await turn.start_call("slow")

    async with server, dial(server, tools=[{"functionDeclarations": [{"name": "slow"}]}]) as client:
        await client.say("hello")
        (*_, message) = await client.until("toolCall")
        await anyio.sleep(0.6)
        assert server.service.log.errors == []
        await client.answer(message["toolCall"]["functionCalls"][0], output="done")
        await client.closed()
        assert len(server.service.log.errors) == 1
        server.service.log.errors.clear()


async def test_a_program_that_has_left_is_not_waited_for(dial):
    async with served() as server:
        async with dial(server) as client:
            await client.say("hello")
            await client.until("turnComplete")
        await anyio.sleep(0.6)
        assert server.service.log.errors == []


async def test_while_another_conversation_goes_on_nobody_is_told(dial):
    async with served() as server, dial(server) as first, dial(server) as second:
        await first.say("hello")
        await first.until("turnComplete")
        await anyio.sleep(0.6)
        assert server.service.log.errors == []
        await second.say("hello")
        await second.until("turnComplete")
        await first.closed()
        assert server.service.log.errors
        server.service.log.errors.clear()


async def test_a_time_in_which_the_loop_is_blocked_does_not_count(dial):
    """As at a breakpoint."""
    async with served() as server, dial(server) as client:
        await client.say("hello")
        await client.until("turnComplete")
        server.patience = 0.8
        block(1)
        await anyio.sleep(0.3)
        assert server.service.log.errors == []
        await client.closed()
        server.service.log.errors.clear()
