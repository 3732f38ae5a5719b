"""What a conversation knows of the model's manners and of its own calls."""

from __future__ import annotations

import re

import anyio
import pytest
from support.waiting import until_true

from livetools import OutputTranscript, Reconnected, ReconnectPolicy, TurnComplete, connect
from livetools.setup.model_profiles import ModelProfile, find
from livetools.testing import FakeLiveServer
from livetools.testing.live.fake_session import FakeSession
from livetools.testing.messages.output import GENERATION_COMPLETE
from livetools.testing.model.turn import TurnCancelled

TOOLS = [
    {"functionDeclarations": [{"name": "a"}, {"name": "b", "behavior": "BLOCKING"}]},
    {"googleSearch": {}},
]
TOOLS += [{"functionDeclarations": [{"name": "n", "behavior": "NON_BLOCKING"}]}]


def session(model, vertex=False, profile=None):
    return FakeSession(FakeLiveServer().service, {"tools": TOOLS}, profile or find(model, vertex=vertex))


@pytest.mark.parametrize(
    ("model", "blocking"),
    [
        ("gemini-2.5-flash-native-audio-latest", {"a", "b", "unknown"}),
        ("gemini-3.1-flash-live-preview", {"a", "b", "n", "unknown"}),
        ("gemini-3.8-live", {"b"}),
        ("gemini-3.8-live-extended-thinking", set()),
    ],
)
def test_whether_a_call_blocks_is_the_declarations_word_where_the_model_takes_it(model, blocking):
    talk = session(model)
    assert {name for name in ("a", "b", "n", "unknown") if talk.blocks(name)} == blocking


@pytest.mark.parametrize(
    ("profile", "pattern"),
    [
        (find("gemini-2.5-flash-native-audio-latest"), r"function-call-\d+"),
        (find("gemini-3.8-live"), r"call_\d+"),
        (find("gemini-live-2.5-flash", vertex=True), r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ],
)
def test_ids_look_as_each_family_writes_them(profile, pattern):
    talk = session("", profile=profile)
    calls = [talk._new_call("a", {}, 1) for _ in range(20)]
    assert all(re.fullmatch(pattern, call.id or "") for call in calls)
    assert len({call.id for call in calls}) == 20


def test_an_old_model_gives_no_ids():
    assert session("", profile=ModelProfile(call_ids="none"))._new_call("a", {}, 1).id is None


@pytest.mark.anyio
async def test_calls_without_ids_are_answered_in_the_order_of_their_names(dial, text_of):
    async with FakeLiveServer(profile=ModelProfile(call_ids="none")) as server:

        @server.model
        async def model(turn):
            await turn.say(str(await turn.calls(("f", {"n": 1}), ("g", {}), ("f", {"n": 2}))))

        async with dial(server) as client:
            await client.say("go")
            calls = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
            assert [set(call) for call in calls] == [{"name", "args"}] * 3
            replies = [{"name": name, "response": {"n": n}} for name, n in (("g", 3), ("f", 1), ("f", 2))]
            await client.send({"toolResponse": {"functionResponses": replies}})
            assert text_of(await client.until("turnComplete")) == "[{'n': 1}, {'n': 3}, {'n': 2}]"


@pytest.mark.anyio
async def test_the_context_may_be_updated_where_the_model_takes_it(dial):
    async with (
        FakeLiveServer() as server,
        dial(server, model="models/gemini-3.8-live", tools=TOOLS) as client,
    ):
        (talk,) = server.sessions
        instruction = {"parts": [{"text": "be brief"}]}
        await client.send({"contextUpdate": {"systemInstruction": instruction, "tools": {"tools": []}}})
        await client.say("hello")
        await client.until("turnComplete")
        assert talk.setup["systemInstruction"] == instruction
        assert talk.declarations() == {}


# Turns without a user


async def heard(session, kind=TurnComplete):
    """The words up to this event."""
    words = ""
    async for event in session:
        if isinstance(event, OutputTranscript):
            words += event.text
        if isinstance(event, kind):
            break
    return words


@pytest.mark.anyio
async def test_it_says_something_of_its_own_accord_and_again_after_a_reconnection():
    policy = ReconnectPolicy(initial=0.01)
    async with FakeLiveServer() as server:
        async with connect("gemini-3.8-live", reconnect=policy, **server.options) as session:
            await server.sessions[0].speak("Your taxi is here.")
            assert await heard(session) == "Your taxi is here."
            await session.send_text("Thanks.")
            assert await heard(session) == "Thanks."
            await server.sessions[0].drop()
            await heard(session, Reconnected)
            await server.sessions[-1].speak("It waits.")
            assert await heard(session) == "It waits."
        assert len(server.sessions) == 1, "the same conversation"


@pytest.mark.anyio
async def test_it_waits_until_the_model_has_ended_its_turn():
    async with FakeLiveServer() as server, anyio.create_task_group() as group:
        go_on = anyio.Event()

        @server.model
        async def model(turn):
            await turn.say("A story, ")
            await go_on.wait()
            await turn.say("and its end.")

        async with connect("gemini-3.8-live", **server.options) as session:
            await session.send_text("Tell a story.")
            await until_true(lambda: server.sessions[0].so_far.text)
            group.start_soon(server.sessions[0].speak, "By the way.")
            await anyio.sleep(0.05)
            go_on.set()
            assert await heard(session) == "A story, and its end."
            assert await heard(session) == "By the way."


@pytest.mark.anyio
async def test_without_a_connection_there_is_nobody_to_speak_to():
    async with FakeLiveServer() as server:
        async with connect("gemini-3.8-live", **server.options):
            pass
        with pytest.raises(TurnCancelled, match="no connection"):
            await server.sessions[0].speak("Hello?")


@pytest.mark.anyio
async def test_a_client_that_cuts_in_while_generation_complete_is_written_ends_the_turn_once(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            talk = turn.session
            send = talk.send

            async def slow_send(frame):
                await send(frame)
                if frame == GENERATION_COMPLETE:
                    talk.send = send
                    await talk.interrupt()

            talk.send = slow_send if turn.text == "one" else send
            await turn.say(turn.text)

        async with dial(server) as client:
            await client.say("one")
            await client.until("turnComplete")
            await client.say("two")
            frames = await client.until("turnComplete")
            assert "modelTurn" in frames[0]["serverContent"]


@pytest.mark.anyio
async def test_a_client_that_cuts_in_ends_it():
    async with FakeLiveServer() as server, anyio.create_task_group() as group:
        server.hold = 1.0

        async def speak():
            with pytest.raises(TurnCancelled):
                await server.sessions[0].speak("A long story.", bytes(480_000))

        async with connect("gemini-3.8-live", **server.options) as session:
            group.start_soon(speak)
            await until_true(lambda: server.sessions[0].so_far.text)
            assert str(await session.ask("Stop.")) == "Stop."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("model", "speaks"), [("gemini-3.8-live", True), ("gemini-2.5-flash-native-audio-latest", False)]
)
async def test_an_empty_turn_makes_some_models_speak(model, speaks):
    async with FakeLiveServer() as server:

        @server.model
        async def greets(turn):
            await turn.say(turn.text or "Hello!")

        async with connect(model, **server.options) as session:
            await session.send_content([], turn_complete=True)
            if speaks:
                assert await heard(session) == "Hello!"
            await session.send_text("Hi.")
            assert await heard(session) == "Hi."


@pytest.mark.anyio
async def test_the_calls_of_a_history_that_a_client_restores_are_known():
    async def calls(turn):
        if turn.text == "Oslo?":
            await turn.call("get_weather", city="Oslo")
        await turn.say("Rain.")

    def get_weather(city: str) -> str:
        """Current weather in a city."""
        return "12 °C, rain"

    async with FakeLiveServer(calls) as server:
        server.limits.handle = 0.0  # a lost connection is followed by a new session
        async with connect("gemini-3.8-live", tools=[get_weather], **server.options) as session:
            await session.ask("Oslo?")
            await server.sessions[0].drop()
            await session.ask("And now?")
    contents = server.sessions[1].history
    assert any("functionResponse" in part for content in contents for part in content["parts"])
    assert [line for line in server.log if "an answer" in line] == []
