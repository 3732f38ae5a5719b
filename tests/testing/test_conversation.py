"""One script over turns and connections."""

from __future__ import annotations

import pytest

from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


async def test_a_script_hears_turn_after_turn(dial, text_of):
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user):
            turn = await user.says("one")
            await turn.say("First.")
            turn = await user.says("two")
            await turn.say("Second.")

        async with dial(server) as client:
            await client.say("one")
            assert text_of(await client.until("turnComplete")) == "First."
            await client.say("two")
            assert text_of(await client.until("turnComplete")) == "Second."


async def test_a_script_goes_on_over_a_dropped_line_and_a_resumption(dial, text_of):
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user):
            turn = await user.says("slow one")
            await turn.start_call("slow", seconds=1)
            await turn.drop()
            await user.reconnects(handle=True)
            assert "slept" in (await user.says()).text
            await turn.say("Done.")

        async with dial(server, sessionResumption={}) as client:
            await client.say("slow one")
            assert (await client.closed())[0] == 1006
        handle = server.lobby.new_handle(server.sessions[0])
        async with dial(server, sessionResumption={"handle": handle}) as client:
            await client.say("The result: slept 1 s")
            assert text_of(await client.until("turnComplete")) == "Done."
    assert [session.connections for session in server.sessions] == [[1, 2]]


async def test_a_client_that_comes_back_without_its_handle_is_told_apart(dial):
    async with FakeLiveServer() as server:
        seen = []

        @server.conversation
        async def script(user):
            turn = await user.says()
            await turn.drop()
            await user.reconnects(handle=False)
            seen.append("fresh")

        async with dial(server) as client:
            await client.say("hello")
            await client.closed()
        async with dial(server) as client:
            await client.say("again")
    assert seen == ["fresh"]


async def test_a_user_who_says_something_else_fails_the_script(dial):
    async def scenario():
        async with FakeLiveServer() as server:

            @server.conversation
            async def script(user):
                await user.says("hello")

            async with dial(server) as client:
                await client.say("good bye")
                assert (await client.closed())[0] == 1011

    with pytest.raises(AssertionError, match="the user says 'good bye', the script expects 'hello'"):
        await scenario()


async def test_a_script_may_wait_for_an_answer_with_the_turn_that_asked_while_another_is_on(dial, text_of):
    tools = [{"functionDeclarations": [{"name": "slow", "behavior": "NON_BLOCKING"}]}]
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user):
            turn = await user.says("one")
            id = await turn.start_call("slow")
            await user.says("two")
            answer = await turn.answer(id)
            await turn.say(f"It is {answer['output']}.")

        async with dial(server, tools=tools) as client:
            await client.say("one")
            (call,) = (await client.until("turnComplete"))[0]["toolCall"]["functionCalls"]
            await client.say("two")
            await client.until("turnComplete")
            await client.answer(call, output="done")
            assert text_of(await client.until("turnComplete")) == "It is done."
