"""What a pretend model can do in its turn, and what the client sees of it."""

from __future__ import annotations

import base64

import pytest

from livetools.testing import FakeLiveServer, TurnCancelled

pytestmark = pytest.mark.anyio

NATIVE = "models/gemini-2.5-flash-native-audio-latest"
BLOCKING = "models/gemini-3.1-flash-live-preview"


async def test_several_calls_go_in_one_message_and_are_answered_one_by_one(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            first, second = await turn.calls(("a", {"n": 1}), ("b", {}))
            await turn.say(f"{first} {second}")

        async with dial(server) as client:
            await client.say("Both.")
            calls = (await client.recv())["toolCall"]["functionCalls"]
            assert [call["name"] for call in calls] == ["a", "b"]
            await client.answer(calls[1], x=2)
            await client.answer(calls[0], x=1)
            assert text_of(await client.until("turnComplete")) == "{'x': 1} {'x': 2}"


async def test_an_answer_may_come_as_client_content(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say(str(await turn.call("f")))

        async with dial(server) as client:
            await client.say("Go.")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            part = {"functionResponse": {"id": call["id"], "name": "f", "response": {"output": 1}}}
            turn = {"role": "user", "parts": [part]}
            await client.send({"clientContent": {"turns": [turn], "turnComplete": True}})
            assert text_of(await client.until("turnComplete")) == "{'output': 1}"


async def test_an_answer_is_matched_by_its_id_whatever_name_it_bears(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say(str(await turn.call("f")))

        async with dial(server) as client:
            await client.say("Go.")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            await client.answer({"id": call["id"], "name": call["id"]}, ok=True)
            assert text_of(await client.until("turnComplete")) == "{'ok': True}"


async def test_a_generator_is_waited_for_until_it_says_that_it_has_ended(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say(str(await turn.call("count")))

        tools = [{"functionDeclarations": [{"name": "count", "behavior": "NON_BLOCKING"}]}]
        async with dial(server, tools=tools) as client:
            await client.say("Go.")
            (call,) = (await client.until("turnComplete"))[0]["toolCall"]["functionCalls"]
            for n in (1, 2):
                reply = {"id": call["id"], "name": "count", "response": {"output": n}, "willContinue": True}
                await client.send({"toolResponse": {"functionResponses": [reply]}})
            await client.answer(call)
            assert text_of(await client.until("turnComplete")) == "{'output': 2}"
    assert [each["response"] for each in server.calls[0].responses] == [{"output": 1}, {"output": 2}, {}]


async def test_audio_models_send_tones_as_long_as_the_words_and_a_transcript_if_asked(dial):
    async with FakeLiveServer() as server, dial(server, NATIVE, outputAudioTranscription={}) as client:
        await client.say("This sentence takes about three seconds to say.")
        seen = await client.until("turnComplete")
    contents = [each["serverContent"] for each in seen]
    blobs = [c["modelTurn"]["parts"][0]["inlineData"] for c in contents if "modelTurn" in c]
    words = [c["outputTranscription"]["text"] for c in contents if "outputTranscription" in c]
    assert {blob["mimeType"] for blob in blobs} == {"audio/pcm;rate=24000"}
    assert 2.8 <= sum(len(base64.b64decode(blob["data"])) for blob in blobs) / 48000 <= 3.6
    assert "".join(words) == "This sentence takes about three seconds to say."
    assert [set(c) for c in contents[-2:]] == [{"generationComplete"}, {"turnComplete"}]


async def test_audio_of_ones_own_is_sent_as_it_is(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.say("beep", audio=b"\1\2" * 6000)

        async with dial(server, NATIVE) as client:
            await client.say("Go.")
            seen = await client.until("turnComplete")
    sound = b"".join(
        base64.b64decode(each["serverContent"]["modelTurn"]["parts"][0]["inlineData"]["data"])
        for each in seen
        if "modelTurn" in each["serverContent"]
    )
    assert sound == b"\1\2" * 6000


async def test_a_turn_without_a_word_is_an_empty_turn_complete(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            pass

        async with dial(server) as client:
            await client.say("Anybody?")
            message = await client.recv()
    assert message["serverContent"] == {"turnComplete": True}
    assert message["usageMetadata"]["promptTokenCount"] > 0


@pytest.mark.parametrize("model_name", [BLOCKING, "models/gemini-3.8-live"])
async def test_a_barge_in_cancels_the_turn_and_the_call_it_waits_for(dial, model_name):
    declaration = {"name": "slow", "behavior": "BLOCKING"}
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            if turn.text == "first":
                await turn.call("slow")
            await turn.say(f"You said {turn.text}.")

        tools = [{"functionDeclarations": [declaration]}]
        async with dial(server, model_name, tools=tools, outputAudioTranscription={}) as client:
            await client.send({"realtimeInput": {"text": "first"}})
            seen = await client.until("toolCall")
            (call,) = seen[-1]["toolCall"]["functionCalls"]
            await client.send({"realtimeInput": {"text": "second"}})
            seen = [each for each in await client.until("generationComplete") if each]
    assert seen[0] == {"serverContent": {"interrupted": True}}
    assert seen[1]["serverContent"]["turnComplete"] is True
    assert seen[2] == {"toolCallCancellation": {"ids": [call["id"]]}}
    assert server.calls[0].state == "cancelled"


async def test_text_on_2_5_is_queued_behind_a_blocking_call(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            if turn.text == "first":
                await turn.call("slow")
            await turn.say(f"You said {turn.text}.")

        async with dial(server) as client:
            await client.say("first")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            await client.say("second")
            await client.answer(call)
            assert text_of(await client.until("turnComplete")) == "You said first."
            assert text_of(await client.until("turnComplete")) == "You said second."


async def test_interrupt_and_cancel_only_send(dial, text_of):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            id = await turn.start_call("slow")
            await turn.interrupt()
            await turn.cancel(id)
            with pytest.raises(TurnCancelled):
                await turn.answer(id)
            await turn.say("I go on.")

        async with dial(server) as client:
            await client.say("Go.")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            assert (await client.recv()) == {"serverContent": {"interrupted": True}}
            assert (await client.recv())["serverContent"] == {"turnComplete": True}
            assert (await client.recv()) == {"toolCallCancellation": {"ids": [call["id"]]}}
            assert text_of(await client.until("turnComplete")) == "I go on."


async def test_raw_frames_go_out_as_they_are_and_their_calls_are_counted(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.send({"toolCall": {"functionCalls": [{"id": "9", "name": "raw", "args": {}}]}})
            assert await turn.answer("9") == {"output": 9}
            await turn.send({"somethingNew": {"a": 1}})
            await turn.send("not JSON")

        async with dial(server) as client:
            await client.say("Go.")
            (call,) = (await client.recv())["toolCall"]["functionCalls"]
            await client.answer(call, output=9)
            assert await client.recv() == {"somethingNew": {"a": 1}}
            assert await client.socket.recv() == "not JSON"


async def test_a_dropped_line_is_1006_and_cancels_whoever_waits(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.start_call("slow")
            await turn.drop()
            with pytest.raises(TurnCancelled):
                await turn.say("to nobody")

        async with dial(server) as client:
            await client.say("Go.")
            assert (await client.closed())[0] == 1006
    assert server.calls[0].state == "lost"


async def test_a_close_bears_its_code_and_a_reason_of_at_most_123_bytes(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.close(1011, "ü" * 100)

        async with dial(server) as client:
            await client.say("Go.")
            assert await client.closed() == (1011, "ü" * 61)


@pytest.mark.parametrize("said", [(999, ""), (5000, ""), (1004, ""), (None, ""), (1011, 5)])
async def test_a_close_that_no_frame_can_bear_fails_the_model_and_ends_the_connection(dial, said):
    async def model(turn):
        await turn.close(*said)

    async def closed():
        async with FakeLiveServer(model) as server, dial(server) as client:
            await client.say("Close.")
            assert (await client.closed())[0] == 1011

    with pytest.raises(AssertionError, match="the pretend model raised ValueError"):
        await closed()


async def test_go_away_says_how_long_there_is(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.go_away(50)
            await turn.go_away(0.25)
            await turn.go_away(None)

        async with dial(server) as client:
            await client.say("Go.")
            seen = [await client.recv() for _ in range(3)]
    assert [each["goAway"] for each in seen] == [{"timeLeft": "50s"}, {"timeLeft": "0.250s"}, {}]


def _content(text, complete):
    return {
        "clientContent": {"turns": [{"role": "user", "parts": [{"text": text}]}], "turnComplete": complete}
    }


@pytest.mark.parametrize(
    "frames",
    [
        [_content("a", False), {"clientContent": {"turnComplete": True}}],
        [_content("a", False), _content(".", True)],
        [{"realtimeInput": {"text": "a"}}],
        [{"realtimeInput": {"text": " "}}, {"clientContent": {"turnComplete": True}}, _content("a", True)],
    ],
)
async def test_the_users_text_comes_in_every_form_and_empty_ones_start_nothing(dial, text_of, frames):
    async with FakeLiveServer() as server, dial(server) as client:
        await client.send(*frames)
        assert text_of(await client.until("turnComplete")) == "a"


async def test_a_seed_is_answered_only_when_realtime_input_follows(dial):
    history = {"initialHistoryInClientContent": True}
    async with FakeLiveServer() as server:
        heard = []

        @server.model
        async def model(turn):
            heard.append(turn.text)

        async with dial(server, BLOCKING, historyConfig=history) as client:
            await client.say("the question")
            await client.send({"realtimeInput": {"text": " "}})
            await client.until("turnComplete")
    assert heard == ["the question"]


async def test_sound_begins_a_turn_when_its_stream_ends(dial):
    async with FakeLiveServer() as server:
        heard = []

        @server.model
        async def model(turn):
            heard.append(turn.audio)

        async with dial(server, NATIVE) as client:
            chunk = base64.urlsafe_b64encode(b"\xfb\xff" * 4).decode()
            blob = {"data": chunk, "mimeType": "audio/pcm;rate=16000"}
            await client.send({"realtimeInput": {"audio": blob}}, {"realtimeInput": {"audioStreamEnd": True}})
            await client.until("turnComplete")
    assert heard == [b"\xfb\xff" * 4]


async def test_an_interruption_that_is_the_last_word_ends_the_turn_once(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            if turn.text == "first":
                await turn.say("I was about to")
                await turn.interrupt()

        async with dial(server) as client:
            await client.say("first")
            seen = await client.until("turnComplete")
            await client.say("second")
            seen += await client.until("turnComplete")
    kinds = [key for each in seen for key in each["serverContent"]]
    assert kinds == ["modelTurn", "interrupted", "turnComplete", "turnComplete"]
