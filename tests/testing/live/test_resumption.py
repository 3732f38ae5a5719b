"""Sessions over connections: handles, transparent mode, expiry, goAway and the hard close, tokens."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from livetools.setup.model_profiles import find
from livetools.testing import FakeClock, FakeLiveServer, TurnCancelled

pytestmark = pytest.mark.anyio

LIVE = "models/gemini-3.8-live"
CASCADE = "models/gemini-live-2.5-flash-preview"
GEMINI = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
SLOW = [{"functionDeclarations": [{"name": "slow", "behavior": "BLOCKING"}]}]


async def handle_of(client):
    """The handle that follows the turn."""
    return (await client.until("sessionResumptionUpdate"))[-1]["sessionResumptionUpdate"]


async def test_a_handle_follows_each_turn_and_resumes_the_conversation(dial):
    async with FakeLiveServer() as server:
        async with dial(server, sessionResumption={}) as client:
            await client.say("Remember me.")
            handle = (await handle_of(client))["newHandle"]
        async with dial(server, sessionResumption={"handle": handle}) as client:
            await client.say("Do you?")
            await client.until("turnComplete")
    (session,) = server.sessions
    assert session.connections == [1, 2]
    texts = [part["text"] for content in session.history for part in content["parts"]]
    assert texts == ["Remember me.", "Remember me.", "Do you?", "Do you?"]


async def test_an_older_handle_remembers_less(dial):
    async with FakeLiveServer() as server:
        async with dial(server, sessionResumption={}) as client:
            await client.say("one")
            handle = (await handle_of(client))["newHandle"]
            await client.say("two")
            await handle_of(client)
        async with dial(server, sessionResumption={"handle": handle}):
            pass
    assert len(server.sessions[0].history) == 2


async def test_a_newer_handle_still_leads_to_its_state_when_an_older_one_was_resumed_before(dial):
    handles = []
    async with FakeLiveServer() as server:
        async with dial(server, sessionResumption={}) as client:
            for word in ("one", "two"):
                await client.say(word)
                handles.append((await handle_of(client))["newHandle"])
        for handle, texts in [(handles[0], ["one"]), (handles[1], ["one", "two"]), (handles[0], ["one"])]:
            async with dial(server, sessionResumption={"handle": handle}) as client:
                contents = server.sessions[0].history
                said = [part["text"] for c in contents if c["role"] == "user" for part in c["parts"]]
                assert said == texts
                await client.say("else")
                await handle_of(client)


async def test_without_sessionResumption_there_are_no_handles_but_where_they_come_unasked(dial):
    async with FakeLiveServer() as server:
        async with dial(server) as client:
            await client.say("hi")
            await client.until("turnComplete")
        async with dial(server, model="models/gemini-3.1-flash-live-preview") as client:
            assert (await handle_of(client))["resumable"] is True
        async with dial(server, model=LIVE, sessionResumption={}) as client:
            assert (await handle_of(client))["resumable"] is True
    assert [f.connection for f in server.frames if "sessionResumptionUpdate" in f.message] == [2, 3]


async def test_while_a_call_is_open_nothing_is_resumable(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.call("f")

        async with dial(server, sessionResumption={}) as client:
            await client.say("go")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert await client.recv() == {"sessionResumptionUpdate": {}}
            await client.answer(call)
            assert (await handle_of(client))["resumable"] is True


async def test_transparent_mode_says_which_message_was_the_last_to_be_part_of_the_state(dial):
    async with FakeLiveServer() as server:
        async with dial(server, path=VERTEX, sessionResumption={"transparent": True}) as client:
            await client.send({"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/pcm"}}})
            await client.say("hi")
            assert (await handle_of(client))["lastConsumedClientMessageIndex"] == "2"


@pytest.mark.parametrize(("path", "hours"), [(GEMINI, 2), (VERTEX, 24)])
async def test_a_handle_expires_hours_after_its_connection_ended(dial, path, hours):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        async with dial(server, path=path, sessionResumption={}) as client:
            await client.say("hi")
            handle = (await handle_of(client))["newHandle"]
        clock.advance(hours * 3600 - 10)
        async with dial(server, path=path, sessionResumption={"handle": handle}):
            pass
        clock.advance(hours * 3600 + 10)
        async with dial(server, path=path, model=None) as client:
            await client.send({"setup": {"model": CASCADE, "sessionResumption": {"handle": handle}}})
            assert await client.closed() == (1008, "Requested entity was not found.")


async def test_a_handle_is_refused_for_another_model_and_while_the_old_connection_stands(dial):
    async with FakeLiveServer() as server, dial(server, sessionResumption={}) as client:
        await client.say("hi")
        handle = (await handle_of(client))["newHandle"]
        for model, closed in (
            (LIVE, (1007, "Invalid session handle")),
            (CASCADE, (1011, "Internal error encountered.")),
        ):
            async with dial(server, model=None) as second:
                await second.send({"setup": {"model": model, "sessionResumption": {"handle": handle}}})
                assert await second.closed() == closed


@pytest.mark.parametrize(("path", "left"), [(GEMINI, 50), (VERTEX, 30)])
async def test_go_away_comes_after_nine_minutes_and_the_hard_close_after_the_time_left(dial, path, left):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server, dial(server, path=path) as client:
        clock.advance(539.9)
        await client.say("still here")
        assert "goAway" not in str(await client.until("turnComplete"))
        clock.advance(0.1)
        assert await client.recv() == {"goAway": {"timeLeft": f"{left}s"}}
        clock.advance(left)
        code, reason = await client.closed()
    assert code == 1008
    assert reason.startswith(
        "Connection aborted because the client failed to close the connection after receiving"
    )
    assert reason.endswith("a GoAway signal once the session durat")


async def test_limits_of_ones_own_hold_on_either_endpoint(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        server.limits.go_away, server.limits.time_left = 5, 2.5
        async with dial(server, path=VERTEX) as client:
            clock.advance(5)
            assert await client.recv() == {"goAway": {"timeLeft": "2.500s"}}


async def test_a_connection_without_turns_is_aborted_if_that_is_asked_for(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        server.limits.idle = 90

        @server.model
        async def model(turn):
            await turn.call("f")

        async with dial(server, tools=[{"functionDeclarations": [{"name": "f"}]}]) as client:
            clock.advance(80)
            await client.say("go")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            clock.advance(100)  # a call is no idleness
            await client.answer(call)
            await client.until("turnComplete")
            clock.advance(89)
            await client.say("go")
            await client.answer((await client.recv())["toolCall"]["functionCalls"][0])
            await client.until("turnComplete")
            clock.advance(91)
            assert await client.closed() == (1008, "The operation was aborted.")


async def test_the_clock_is_left_alone_by_connections_that_have_gone(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        async with dial(server):
            assert clock.sleepers == 1
        with anyio.fail_after(30):
            while clock.sleepers:
                await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("told", [0, 1, 2])
@pytest.mark.parametrize("closes", [True, False])
async def test_a_resumed_3_8_closes_the_exchange_of_its_lost_calls_with_an_empty_turn(dial, closes, told):
    """The last error is what closes it; where one is missing, the next turn of the user's is spent on it."""
    profile = find(LIVE)
    assert profile.closes_lost
    async with FakeLiveServer(profile=replace(profile, closes_lost=closes)) as server:

        @server.model
        async def pretend(turn):
            if turn.text == "go":
                await turn.calls(("slow", {}), ("slow", {}))
            await turn.say("Yes?")

        async with dial(server, model=LIVE, sessionResumption={}, tools=SLOW) as client:
            handle = (await handle_of(client))["newHandle"]
            await client.say("go")
            calls = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
            await server.sessions[0].drop()
        async with dial(server, model=LIVE, sessionResumption={"handle": handle}, tools=SLOW) as client:
            for call in calls[:told]:
                await client.answer(call, error="the connection was lost")
            if closes and told == len(calls):
                assert "modelTurn" not in str(await client.until("turnComplete"))
            await client.say("hello")
            said = await client.until("turnComplete")
    assert ("modelTurn" in str(said)) is (told == len(calls))
    assert any("swallowed" in line for line in server.log) is (told < len(calls))


async def test_a_script_says_itself_how_the_exchange_of_a_lost_call_ends(dial):
    async with FakeLiveServer() as server:

        @server.conversation
        async def script(user):
            turn = await user.says("go")
            await turn.start_call("slow")
            await turn.drop()
            await user.reconnects(handle=True)
            await (await user.says("hello")).say("Yes?")

        async with dial(server, model=LIVE, sessionResumption={}, tools=SLOW) as client:
            handle = (await handle_of(client))["newHandle"]
            await client.say("go")
            (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
        async with dial(server, model=LIVE, sessionResumption={"handle": handle}, tools=SLOW) as client:
            await client.answer(call, error="the connection was lost")
            await client.say("hello")
            assert "modelTurn" in str(await client.until("turnComplete"))


@pytest.mark.parametrize("uses", [1, 2])
async def test_a_token_opens_as_many_sessions_as_it_says_and_what_it_locks_is_locked(dial, uses):
    constrained = "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained"
    async with FakeLiveServer(api_keys=["real"]) as server:
        token = server.mint_token(uses=uses, setup={"model": CASCADE})
        path = f"{constrained}?access_token={token}"
        for _ in range(uses):
            async with dial(server, model="models/whatever", path=path):
                assert server.sessions[-1].setup["model"] == CASCADE
        async with dial(
            server, model=None, headers={"Authorization": f"Token {token}"}, path=constrained
        ) as client:
            await client.send({"setup": {"model": CASCADE}})
            assert await client.closed() == (1011, "Token has been used too many times")


async def test_a_token_opens_no_session_after_a_minute(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        token = server.mint_token()
        clock.advance(61)
        async with dial(server, model=None, headers={"Authorization": f"Token {token}"}) as client:
            await client.send({"setup": {"model": CASCADE}})
            assert await client.closed() == (1011, "Token has expired")


async def test_many_conversations_go_on_at_once_without_mixing(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            answer = await turn.call("double", n=int(turn.text))
            await turn.say(f"{turn.text} doubled is {answer['output']}.")

        async def one(n):
            async with dial(server) as client:
                await client.say(str(n))
                (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
                await client.answer(call, output=call["args"]["n"] * 2)
                assert text_of(await client.until("turnComplete")) == f"{n} doubled is {2 * n}."

        async with anyio.create_task_group() as group:
            for n in range(20):
                group.start_soon(one, n)
    assert len(server.sessions) == 20


async def test_a_call_that_the_client_left_open_ends_the_turn_that_waits_for_it(dial):
    ended = []

    async def scenario():
        async with FakeLiveServer() as server:

            @server.model
            async def model(turn):
                try:
                    await turn.call("f")
                except TurnCancelled as error:
                    ended.append(str(error))
                    raise

            async with dial(server) as client:
                await client.say("go")
                await client.until("toolCall")
            with anyio.fail_after(30):
                while not ended:
                    await anyio.lowlevel.checkpoint()

    with pytest.raises(AssertionError, match="never answered: f"):
        await scenario()
    assert "will not be answered" in ended[0]


async def test_3_1_gives_a_handle_every_now_and_then_while_nothing_is_under_way(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        async with dial(server, model="models/gemini-3.1-flash-live-preview") as client:
            first = (await handle_of(client))["newHandle"]
            with anyio.fail_after(30):
                while clock.sleepers < 2:
                    await anyio.lowlevel.checkpoint()
            clock.advance(1.2)
            assert (await handle_of(client))["newHandle"] != first


async def test_a_turn_that_was_heard_as_its_line_went_does_not_go_on_with_the_next(dial):
    answered = []

    async def model(turn):
        answered.append(turn.text)
        await turn.say("Yes.")

    async with FakeLiveServer(model) as server:
        async with dial(server, sessionResumption={}) as client:
            await client.say("one")
            handle = (await handle_of(client))["newHandle"]
            (session,) = server.sessions
            await session.drop()
            await session.hear("clientContent", {"turns": [said("two")], "turnComplete": True})
        async with dial(server, sessionResumption={"handle": handle}) as client:
            await client.say("three")
            await client.until("turnComplete")
    assert answered == ["one", "three"]


def said(text):
    return {"role": "user", "parts": [{"text": text}]}


async def test_a_server_that_runs_long_forgets_the_oldest_whose_client_has_gone(dial):
    async with FakeLiveServer() as server, dial(server) as stays:
        server.service.log.limit = 2
        for _ in range(9):
            async with dial(server):
                pass
        assert len(server.sessions) <= 5
        await stays.say("still here")
        await stays.until("turnComplete")
        assert server.sessions[0].connection is not None
