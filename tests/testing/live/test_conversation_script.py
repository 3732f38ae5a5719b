"""One script over turns and connections."""

from __future__ import annotations

import anyio
import pytest

import livetools
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

AT_ONCE = livetools.ReconnectPolicy(initial=0.001)


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
        handle = server.sessions[0].new_handle()
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
        async with dial(server):
            pass
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


# -- tests that prove nothing


async def played(dial, script, *words, **setup):
    """Whatever leaving the server raises, after a client has said these words, each after a turn's end."""
    async with FakeLiveServer() as server:
        server.conversation(script)
        async with dial(server, **setup) as client:
            for n, text in enumerate(words):
                if n:
                    await client.until("turnComplete")
                await client.say(text)
            if words:
                await client.until("turnComplete")


async def two_turns(user):
    turn = await user.says("one")
    await turn.say("First.")
    turn = await user.says("two")
    await turn.say("Second.")


async def test_a_script_that_was_not_played_out_fails_and_says_what_it_waits_for(dial):
    with pytest.raises(AssertionError, match=r"not played out: it waits for the user to say 'two'"):
        await played(dial, two_turns, "one")


async def test_a_user_who_says_nothing_fails_the_script(dial):
    with pytest.raises(AssertionError, match=r"not played out: it waits for the user to say 'one'"):
        await played(dial, two_turns)


async def test_a_client_that_does_not_come_back_fails_the_script(dial):
    async def script(user):
        await (await user.says()).say("Bye.")
        await user.end_turn()
        await user.reconnects()

    with pytest.raises(AssertionError, match=r"not played out: it waits for the client to connect again"):
        await played(dial, script, "one")


async def test_a_program_that_never_comes_fails_the_script(dial):
    async def scenario():
        async with FakeLiveServer() as server:
            server.conversation(two_turns)

    with pytest.raises(AssertionError, match="the script was not played: no client began a conversation"):
        await scenario()


async def test_a_model_that_nobody_asked_is_no_fault(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say("never")

        async with dial(server):
            pass


async def test_a_script_may_hear_whatever_comes(dial):
    async def script(user):
        async for turn in user:
            await turn.say(f"You said {turn.text}.")

    for words in ([], ["one"], ["one", "two", "three"]):
        await played(dial, script, *words)


async def test_a_script_that_hears_whatever_comes_may_still_owe_more(dial):
    async def script(user):
        async for turn in user:
            await turn.say("Yes.")
            if turn.text == "two":
                break
        await user.says("three")

    with pytest.raises(AssertionError, match="it waits for the user to say 'three'"):
        await played(dial, script, "one", "two")


async def test_a_script_may_run_on_after_the_client_has_gone(dial):
    ended = []

    async def script(user):
        await (await user.says("one")).say("First.")
        await user.end_turn()
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        ended.append(True)

    await played(dial, script, "one")
    assert ended


async def test_words_that_the_script_has_not_heard_yet_are_not_missed(dial):
    heard = []

    async def script(user):
        async for turn in user:
            heard.append(turn.text)
            if turn.text == "two":
                return
            await turn.say("Yes.")

    async with FakeLiveServer() as server:
        server.conversation(script)
        async with dial(server) as client:
            await client.say("one")
            await client.until("turnComplete")
            await client.say("two")
    assert heard == ["one", "two"]


@pytest.mark.parametrize("before", [True, False])
async def test_a_user_who_speaks_on_after_the_end_fails_at_once(dial, before):
    async def script(user):
        turn = await user.says("one")
        if not before:
            await turn.say("First.")
            return
        await user.session.connection.ping()  # the next words have come before the script ends
        await turn.say("First.")

    async def scenario():
        async with FakeLiveServer() as server:
            server.conversation(script)
            async with dial(server) as client:
                await client.say("one")
                if not before:
                    await client.until("turnComplete")
                await client.say("and more")
                assert (await client.closed())[0] == 1011
            async with dial(server, model=None) as client:  # nor does it begin anew
                await client.send({"setup": {"model": "models/gemini-3.8-live"}})
                code, reason = await client.closed()
                assert code == 4000
                assert "the user says 'and more', and the script has ended" in reason

    with pytest.raises(AssertionError, match="the user says 'and more', and the script has ended"):
        await scenario()


@pytest.mark.parametrize("threaded", [False, True])
async def test_what_the_script_raised_comes_before_what_the_client_met(threaded):
    def scripted(server):
        @server.conversation
        async def script(user):
            await user.says("hello")

    async def client(server):
        async with livetools.connect("gemini-3.8-live", reconnect=AT_ONCE, **server.options) as session:
            await session.ask("good bye")

    async def scenario():
        if not threaded:
            async with FakeLiveServer() as server:
                scripted(server)
                await client(server)
            return
        server = FakeLiveServer().start()
        scripted(server)
        try:
            await client(server)
        except livetools.LiveToolsError as error:
            server.check(error)
            raise
        finally:
            server.stop(check=False)

    with pytest.raises(AssertionError) as caught:
        await scenario()
    first = str(caught.value).partition("\n")[0]
    assert "the user says 'good bye', the script expects 'hello'" in first
    assert "suspect" not in str(caught.value)
    assert isinstance(caught.value.__cause__, AssertionError)
    assert isinstance(caught.value.__context__, livetools.LiveToolsError)


async def test_what_the_test_raised_itself_comes_before_a_script_that_was_not_played_out(dial):
    async def scenario():
        async with FakeLiveServer() as server:
            server.conversation(two_turns)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await scenario()


async def test_the_clients_own_error_says_what_the_script_raised_and_gives_no_advice_of_the_service():
    server = FakeLiveServer().start()

    @server.conversation
    async def script(user):
        await user.says("hello")

    with pytest.raises(livetools.LiveToolsError) as caught:
        async with livetools.connect("gemini-3.8-live", reconnect=AT_ONCE, **server.options) as session:
            await session.ask("good bye")
    server.stop(check=False)
    assert "the user says 'good bye', the script expects 'hello'" in str(caught.value)
    assert "suspect" not in str(caught.value)
