"""Whose turn it is, as each model family has it: the order of frames around turns and calls."""

from __future__ import annotations

import anyio
import pytest

from livetools.testing import FakeClock, FakeLiveServer, Turn
from livetools.testing.live import fault_injection
from livetools.testing.live.turn_queue import TurnQueue

pytestmark = pytest.mark.anyio

NATIVE = "models/gemini-2.5-flash-native-audio-latest"
CASCADE = "models/gemini-live-2.5-flash-preview"
FLASH = "models/gemini-3.1-flash-live-preview"
LIVE = "models/gemini-3.8-live"
THINKING = "models/gemini-3.8-live-extended-thinking"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"


def test_one_speaks_and_the_others_wait_in_their_order():
    queue, one, two = TurnQueue(), Turn(None), Turn(None)
    queue.waiting += [one, two]
    assert queue.next() is one
    queue.start(one)
    assert queue.next() is None
    assert not queue.empty
    queue.speaker = None
    assert queue.next() is two
    assert queue.empty


@pytest.mark.anyio
async def test_when_nobody_is_there_every_turn_is_over_and_who_waits_is_woken():
    queue, one, two = TurnQueue(), Turn(None), Turn(None)
    queue.start(one)
    queue.waiting.append(two)
    two.wake = anyio.Event()
    queue.clear()
    await two.wake.wait()
    assert one.over
    assert two.over
    assert queue.empty


def tool(behavior=None):
    declaration = {"name": "f"} | ({"behavior": behavior} if behavior else {})
    return [{"functionDeclarations": [declaration]}]


def kinds(messages):
    """What each message is, in a word."""
    result = []
    for message in messages:
        content = message.get("serverContent", {})
        kind = "".join(
            key
            for key in ("modelTurn", "generationComplete", "turnComplete", "interrupted")
            if key in content
        )
        status = content.get("interactionStatus") or message.get("interactionStatus")
        kind = kind or next(iter(message), "{}")
        kind += f" {status}" if status else ""
        if not result or result[-1] != kind:
            result.append(kind)
    return result


async def play(dial, model, behavior=None, answer=None, path=None, **setup):
    """One turn with one call: the kinds of frames until the model has spoken of the answer."""
    async with FakeLiveServer() as server:

        @server.model
        async def pretend(turn):
            response = await turn.call("f")
            await turn.say(str(response["output"]))

        kwargs = {"path": path} if path else {}
        async with dial(server, model=model, tools=tool(behavior), **kwargs, **setup) as client:
            await client.say("go")
            seen = await client.until("toolCall")
            (call,) = seen[-1]["toolCall"]["functionCalls"]
            reply = {"id": call["id"], "name": "f", "response": {"output": "done"}} | (answer or {})
            await client.send({"toolResponse": {"functionResponses": [reply]}})
            while not any("modelTurn" in each.get("serverContent", {}) for each in seen):
                seen.append(await client.recv())
            seen += await client.until("turnComplete")
    return kinds(seen)


@pytest.mark.parametrize("model", [CASCADE, FLASH])
async def test_a_blocking_call_is_followed_by_silence_and_one_turn_complete_at_the_end(dial, model):
    setup = {"generationConfig": {"responseModalities": ["TEXT"]}} if model == CASCADE else {}
    seen = await play(dial, model, **setup)
    assert [kind for kind in seen if kind not in ("{}", "sessionResumptionUpdate")] == [
        "toolCall",
        "modelTurn",
        "generationComplete",
        "turnComplete",
    ]


@pytest.mark.parametrize(
    ("model", "behavior"), [(LIVE, None), (CASCADE, "NON_BLOCKING"), (NATIVE, "NON_BLOCKING")]
)
async def test_a_call_that_does_not_block_ends_the_turn_and_its_answer_begins_another(dial, model, behavior):
    seen = await play(dial, model, behavior)
    assert [kind for kind in seen if kind != "{}"] == [
        "toolCall",
        "generationComplete",
        "turnComplete",
        "modelTurn",
        "generationComplete",
        "turnComplete",
    ]


async def test_blocking_on_3_8_is_blocking_when_it_is_asked_for(dial):
    seen = await play(dial, LIVE, "BLOCKING")
    assert seen == ["toolCall", "modelTurn", "{}", "generationComplete", "turnComplete"]


async def test_3_1_ignores_that_a_call_should_not_block(dial):
    seen = await play(dial, FLASH, "NON_BLOCKING")
    assert "turnComplete" not in seen[: seen.index("modelTurn")]


async def test_extended_thinking_says_where_the_interaction_stands(dial):
    seen = await play(dial, THINKING, generationConfig={"thinkingConfig": {"thinkingLevel": "LOW"}})
    assert [kind for kind in seen if kind != "{}"] == [
        "toolCall IN_PROGRESS",
        "generationComplete",
        "turnComplete IN_PROGRESS",
        "modelTurn",
        "generationComplete",
        "turnComplete IDLE",
    ]


async def test_extended_thinking_is_not_idle_before_an_answer_that_crossed_the_turns_end_was_spoken_of(dial):
    config, clock, asked = {"thinkingConfig": {"thinkingLevel": "LOW"}}, FakeClock(), anyio.Event()
    async with FakeLiveServer(clock=clock) as server:

        @server.model
        async def pretend(turn):
            call = await turn.start_call("f")
            await turn.fault("stall")  # the end of the turn waits on its way
            asked.set()
            await turn.say(str(await turn.answer(call)))

        async with dial(server, model=THINKING, tools=tool(), generationConfig=config) as client:
            await client.say("go")
            (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
            await asked.wait()
            await client.answer(call, output="done")
            await server.calls[0].done.wait()
            clock.advance(60)
            seen = [*await client.until("turnComplete"), *await client.until("turnComplete")]
    assert [kind for kind in kinds(seen) if kind not in ("{}", "sessionResumptionUpdate")] == [
        "generationComplete",
        "turnComplete IN_PROGRESS",
        "modelTurn",
        "generationComplete",
        "turnComplete IDLE",
    ]


@pytest.mark.parametrize("end", ["answer", "cancel"])
async def test_extended_thinking_says_idle_by_itself_where_nobody_speaks_of_the_call(dial, end):
    config = {"thinkingConfig": {"thinkingLevel": "LOW"}}
    async with FakeLiveServer() as server:

        @server.model
        async def pretend(turn):
            await turn.start_call("f")

        async with dial(server, model=THINKING, tools=tool(), generationConfig=config) as client:
            await client.say("go")
            seen = await client.until("turnComplete")
            assert kinds(seen)[-1] == "turnComplete IN_PROGRESS"
            (call,) = seen[0]["toolCall"]["functionCalls"]
            if end == "answer":
                await client.answer(call, output="done")
                await client.answer(call, output="done again")  # it is told once
            else:
                await server.sessions[0].cancel(None)
                assert "toolCallCancellation" in await client.recv()
            assert await client.recv() == {"serverContent": {"interactionStatus": "IDLE"}}
            await client.say("go")
            assert "toolCall" in await client.recv()
            await server.sessions[0].cancel(None)


async def test_on_vertex_a_half_cascade_ends_its_turn_with_the_call(dial):
    seen = await play(dial, CASCADE, path=VERTEX, generationConfig={"responseModalities": ["TEXT"]})
    assert seen == ["toolCall", "turnComplete", "modelTurn", "generationComplete", "turnComplete"]


async def test_an_answer_without_a_name_is_a_failure_to_extended_thinking(dial):
    config = {"thinkingConfig": {"thinkingLevel": "LOW"}}
    async with FakeLiveServer() as server:

        @server.model
        async def pretend(turn):
            await turn.say(str(await turn.call("f")))

        async with dial(server, model=THINKING, tools=tool(), generationConfig=config) as client:
            await client.say("go")
            (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
            reply = {"id": call["id"], "response": {"output": "done"}}
            await client.send({"toolResponse": {"functionResponses": [reply]}})
            await client.until("modelTurn")
    assert server.calls[0].response == {"error": "a system error occurred"}


async def scheduled(dial, text_of, scheduling, place=None):
    """An answer comes while the model speaks of something else; what is said, and the kinds of frames."""
    hold = anyio.Event()
    async with FakeLiveServer() as server:

        @server.model
        async def pretend(turn):
            if turn.text == "go":
                await turn.call("f")
                await turn.say("The result.")
            else:
                await turn.say("A long story")
                await hold.wait()
                await turn.say(" with an end.")

        async with dial(server, tools=tool("NON_BLOCKING")) as client:
            await client.say("go")
            (call,) = (await client.until("turnComplete"))[0]["toolCall"]["functionCalls"]
            await client.say("Tell me a story.")
            seen = await client.until("modelTurn")
            reply = {"id": call["id"], "name": "f", "response": {}} | (place or {})
            await client.send({"toolResponse": {"functionResponses": [reply]}})
            if scheduling == "INTERRUPT":
                seen += await client.until("interrupted")
            with anyio.fail_after(30):
                await server.calls[0].done.wait()
            hold.set()
            seen += await client.until("turnComplete")
            if scheduling != "SILENT":
                seen += await client.until("turnComplete")
            await client.say("Tell me a story.")
            await client.until("turnComplete")
    return text_of(seen), kinds(seen)


async def test_when_idle_waits_for_the_turn_to_end(dial, text_of):
    said, order = await scheduled(dial, text_of, "WHEN_IDLE")
    assert said == "A long story with an end.The result."
    assert order == ["modelTurn", "generationComplete", "turnComplete"] * 2


async def test_interrupt_cuts_in_as_it_was_recorded(dial, text_of):
    said, order = await scheduled(dial, text_of, "INTERRUPT", {"scheduling": "INTERRUPT"})
    assert said == "A long storyThe result."
    assert order == [
        "modelTurn",
        "interrupted",
        "turnComplete",
        "modelTurn",
        "generationComplete",
        "turnComplete",
    ]


@pytest.mark.parametrize("place", [{"scheduling": "SILENT"}, {"response": {"scheduling": "SILENT"}}])
async def test_silent_is_never_spoken_of_wherever_it_says_so(dial, text_of, place):
    said, order = await scheduled(dial, text_of, "SILENT", place)
    assert said == "A long story with an end."
    assert order == ["modelTurn", "generationComplete", "turnComplete"]


def call_at_first(server):
    """A model that says what it hears, and calls a function behind the word "first"."""

    @server.model
    async def pretend(turn):
        await turn.say(turn.text)
        if turn.text == "first":
            await turn.start_call("f")
            await turn.answer(server.calls[0].id)


async def test_text_interrupts_3_8_and_waits_on_2_5(dial):
    for model, expected in ((LIVE, True), (CASCADE, False)):
        async with FakeLiveServer() as server:
            call_at_first(server)
            async with dial(server, model=model, tools=tool("BLOCKING")) as client:
                await client.say("first")
                (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
                await client.say("second")
                if not expected:
                    await client.answer(call)
                seen = await client.until("turnComplete")
                assert ("interrupted" in kinds(seen)) is expected
                await client.until("turnComplete")


@pytest.mark.parametrize("content", [{}, {"turnComplete": False}, {"turns": [{"role": "user", "parts": []}]}])
async def test_content_that_completes_nothing_cuts_the_turn_off_and_begins_none(dial, content):
    for model, cuts in ((LIVE, True), (CASCADE, False)):
        async with FakeLiveServer() as server:
            call_at_first(server)
            async with dial(server, model=model, tools=tool("BLOCKING")) as client:
                await client.send({"clientContent": content})  # nothing is under way: nothing is said
                await client.say("first")
                (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
                await client.send({"clientContent": content})
                if not cuts:
                    await client.answer(call)
                seen = kinds(await client.until("turnComplete"))
                assert ("interrupted" in seen) is cuts
                assert ("generationComplete" in seen) is not cuts
                await client.say("second")
                assert "interrupted" not in kinds(await client.until("generationComplete"))
                await client.until("turnComplete")
            assert [call.state for call in server.calls] == ["cancelled" if cuts else "answered"]


async def test_usage_has_the_names_of_the_api_and_grows_with_the_history(dial):
    for path, name in ((None, "responseTokenCount"), (VERTEX, "candidatesTokenCount")):
        kwargs = {"path": path} if path else {}
        async with FakeLiveServer() as server, dial(server, **kwargs) as client:
            counts = []
            for _ in range(2):
                await client.say("Some words to count.")
                usage = (await client.until("turnComplete"))[-1]["usageMetadata"]
                assert usage[name] == 5
                assert usage["totalTokenCount"] == usage["promptTokenCount"] + usage[name]
                counts.append(usage["promptTokenCount"])
            assert counts[0] < counts[1]


async def test_a_turn_that_is_cut_off_in_the_middle_of_its_words_says_no_more(dial, monkeypatch):
    deliver = fault_injection.deliver
    second = {"turns": [{"role": "user", "parts": [{"text": "second"}]}], "turnComplete": True}

    async def with_a_user_who_cuts_in(service, connection, frame):
        await deliver(service, connection, frame)
        if "first" in str(frame):
            service.start_task(server.sessions[0].hear, "clientContent", second)
            with anyio.CancelScope(shield=True):  # as a frame that is being written
                while not any("interrupted" in str(each.message) for each in server.frames):
                    await anyio.lowlevel.checkpoint()

    monkeypatch.setattr("livetools.testing.live.fake_session.deliver", with_a_user_who_cuts_in)
    async with FakeLiveServer() as server:

        @server.model
        async def pretend(turn):
            await turn.say(turn.text)

        async with dial(server, model=LIVE, outputAudioTranscription={}) as client:
            await client.say("first of so many words that they come in several pieces")
            seen = await client.until("turnComplete") + await client.until("turnComplete")
    words = [each["serverContent"]["outputTranscription"]["text"] for each in seen if "outputTr" in str(each)]
    assert "interrupted" in kinds(seen)
    assert words[0].startswith("first")
    assert words[-1] == "second"
    assert "pieces" not in "".join(words)
