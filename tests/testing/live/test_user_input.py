"""Voice in: speech begins and ends turns, interrupts, is acknowledged and transcribed."""

from __future__ import annotations

import base64

import anyio
import pytest

from livetools.testing import FakeClock, FakeLiveServer
from livetools.testing.live.user_input import (
    ContentAdded,
    NothingSaid,
    Responses,
    SpeechChange,
    TextComplete,
    UserInput,
    rate_of,
)
from livetools.testing.messages.output import History, tone
from livetools.testing.settings.vad import EnergyDetector

pytestmark = pytest.mark.anyio

NATIVE = "models/gemini-2.5-flash-native-audio-latest"
LIVE = "models/gemini-3.8-live"
TRANSCRIBE = "models/gemini-3.5-transcribe-live"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
SPEECH = tone(0.5, rate=16000)
SILENCE = bytes(32000)


async def sound(client, *pieces):
    for piece in pieces:
        for start in range(0, len(piece), 3200):
            data = base64.b64encode(piece[start : start + 3200]).decode()
            await client.send(
                {"realtimeInput": {"audio": {"data": data, "mimeType": "audio/pcm;rate=16000"}}}
            )


def activity(messages):
    return [each["voiceActivity"] for each in messages if "voiceActivity" in each]


async def test_speech_and_then_silence_are_a_turn(dial):
    async with FakeLiveServer() as server:
        heard = []

        @server.model
        async def model(turn):
            heard.append(turn.audio)
            await turn.say("Yes.")

        async with dial(server, model=LIVE) as client:
            await sound(client, SPEECH, SILENCE)
            seen = await client.until("turnComplete")
            await sound(client, SILENCE, SPEECH, SILENCE)
            seen += await client.until("turnComplete")
    assert [len(each) // 3200 for each in heard] == [10, 15]  # speech, its silence, the lead-in of the second
    assert [each["type"] for each in activity(seen)] == ["ACTIVITY_START", "ACTIVITY_END"] * 2
    assert activity(seen)[:2] == [
        {"type": "ACTIVITY_START", "audioOffset": "0s"},
        {"type": "ACTIVITY_END", "audioOffset": "0.500s"},
    ]


async def test_silence_alone_starts_nothing(dial):
    async with FakeLiveServer() as server, dial(server, model=LIVE) as client:
        await sound(client, SILENCE, SILENCE)
        await client.say("Did you hear that?")
        await client.until("turnComplete")
    (session,) = server.sessions
    assert [content["role"] for content in session.history] == ["user", "model"]


async def test_the_end_of_a_stream_that_gave_its_turn_already_starts_no_second(dial):
    async with FakeLiveServer() as server:
        turns = []

        @server.model
        async def model(turn):
            turns.append(turn)

        async with dial(server, model=NATIVE) as client:
            await sound(client, SPEECH, SILENCE)
            await client.send({"realtimeInput": {"audioStreamEnd": True}})
            await client.until("turnComplete")
            await client.say("next")
            await client.until("turnComplete")
    assert [bool(turn.audio) for turn in turns] == [True, False]


async def test_speaking_interrupts_the_model(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        server.pace = 1.0
        async with dial(server, model=LIVE) as client:
            await client.say("Tell me a long story, at your leisure.")
            await client.until("modelTurn")
            await sound(client, SPEECH)
            seen = await client.until("turnComplete")
            assert [key for each in seen for key in each.get("serverContent", {})] == [
                "interrupted",
                "turnComplete",
            ]


@pytest.mark.parametrize("handling", ["NO_INTERRUPTION", "START_OF_ACTIVITY_INTERRUPTS"])
async def test_manual_activity_is_a_turn_and_interrupts_unless_it_must_not(dial, handling):
    config = {"automaticActivityDetection": {"disabled": True}, "activityHandling": handling}
    hold = anyio.Event()
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            if not turn.audio:
                await turn.say("I am")
                await hold.wait()
            await turn.say("done")

        async with dial(server, model=NATIVE, realtimeInputConfig=config) as client:
            await client.say("go")
            await client.until("modelTurn")
            await client.send({"realtimeInput": {"activityStart": {}}})
            await sound(client, SPEECH)
            await client.until("voiceActivity")
            hold.set()
            seen = await client.until("turnComplete")
            await client.send({"realtimeInput": {"activityEnd": {}}})
            await client.until("turnComplete")
    interrupted = any("interrupted" in each.get("serverContent", {}) for each in seen)
    assert interrupted is (handling != "NO_INTERRUPTION")


async def test_a_hook_transcribes_what_was_said_for_the_model_and_for_whoever_asked(dial):
    async with FakeLiveServer() as server:
        server.transcriber = lambda pcm, rate: f"{len(pcm) / 2 / rate:.1f} seconds of speech"
        heard = []

        @server.model
        async def model(turn):
            heard.append(turn.text)
            await turn.say("Yes.")

        async with dial(server, model=LIVE, inputAudioTranscription={}) as client:
            await sound(client, SPEECH, SILENCE)
            seen = await client.until("inputTranscription")
            await client.until("turnComplete")
    assert heard == ["1.0 seconds of speech"]
    assert seen[-1] == {"serverContent": {"inputTranscription": {"text": "1.0 seconds of speech"}}}


async def test_a_detector_of_ones_own_is_asked_instead(dial):
    from livetools.testing.settings.vad import Edge

    class Every:
        def __init__(self, config):
            self.config = config

        def feed(self, pcm, rate):
            return [Edge("start", 0.0), Edge("end", 0.1)]

    async with FakeLiveServer() as server:
        server.detector = Every
        async with dial(server, model=LIVE) as client:
            await sound(client, SILENCE[:3200])
            await client.until("turnComplete")


async def test_a_model_that_only_transcribes_ends_with_generation_complete_and_no_turn(dial):
    async with FakeLiveServer() as server:
        server.transcriber = lambda pcm, rate: "ask not"
        config = {"responseModalities": ["TEXT"]}
        async with dial(
            server, model=TRANSCRIBE, inputAudioTranscription={}, generationConfig=config
        ) as client:
            await sound(client, SPEECH, SILENCE)
            seen = [await client.recv() for _ in range(4)]
    assert activity(seen)[0]["type"] == "ACTIVITY_START"
    assert seen[1]["serverContent"] == {"inputTranscription": {"text": "ask not"}}
    assert seen[2] == {"serverContent": {"generationComplete": True}}
    assert activity(seen)[1]["type"] == "ACTIVITY_END"


async def test_vertex_signals_activity_in_the_older_way_too_when_asked(dial):
    name = "gemini-live-2.5-flash-native-audio"
    async with FakeLiveServer() as server:
        async with dial(server, model=name, path=VERTEX, explicitVadSignal=True) as client:
            await sound(client, SPEECH, SILENCE)
            seen = await client.until("turnComplete")
    signals = [
        each["voiceActivityDetectionSignal"]["vadSignalType"]
        for each in seen
        if len(each) == 1 and "voiceActivityDetectionSignal" in each
    ]
    assert signals == ["VAD_SIGNAL_TYPE_SOS", "VAD_SIGNAL_TYPE_EOS"]


async def test_at_real_pace_the_turn_is_complete_when_it_would_have_been_played(dial):
    clock = FakeClock()
    async with FakeLiveServer(clock=clock) as server:
        server.pace = 1.0
        async with dial(server, model=NATIVE) as client:
            await client.say("Six words take about two seconds.")
            seconds = 0.0
            while True:
                message = await client.recv()
                if "modelTurn" not in message["serverContent"]:
                    break
                assert clock.now() == pytest.approx(seconds)
                seconds += 0.2
                with anyio.fail_after(30):
                    while clock.sleepers < 2:
                        await anyio.lowlevel.checkpoint()
                clock.advance(0.2)
            assert message == {"serverContent": {"generationComplete": True}}
    assert seconds == pytest.approx(2.2)


# -- what is gathered, without a socket


def heard(setup, *bodies, kind="realtime"):
    history = History()
    gathered = UserInput(setup, EnergyDetector, history)
    return gathered, [each for body in bodies for each in getattr(gathered, kind)(body)]


def user(text, role="user"):
    return {"role": role, "parts": [{"text": text}]}


@pytest.mark.parametrize(
    ("bodies", "facts", "taken"),
    [
        ([{"turns": [user("a")], "turnComplete": True}], [TextComplete()], "a"),
        ([{"turns": [user("a")]}], [ContentAdded()], "a"),
        ([{}], [ContentAdded()], ""),
        ([{"turns": [user("a"), user("b", "model")], "turnComplete": True}], [], ""),
        (
            [{"turns": [user("a")]}, {"turns": [user(".")], "turnComplete": True}],
            [ContentAdded(), TextComplete()],
            "a",
        ),
        ([{"turnComplete": True}], [NothingSaid()], ""),
    ],
)
def test_a_content_is_gathered_until_it_says_that_it_is_complete(bodies, facts, taken):
    gathered, told = heard({}, *bodies, kind="content")
    assert told == facts
    assert gathered.take("")[0] == taken
    assert gathered.empty


def test_responses_within_a_content_are_told():
    response = {"id": "1", "name": "f", "response": {}}
    _, told = heard({}, {"turns": [{"parts": [{"functionResponse": response}]}]}, kind="content")
    assert told == [Responses([response])]


def test_an_activity_begins_and_ends_where_the_client_says():
    manual = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}
    gathered, told = heard(manual, {"activityStart": {}}, {"text": "hello"}, {"activityEnd": {}})
    assert told == [SpeechChange("START"), SpeechChange("END")]
    assert gathered.take("") == ("hello", b"")


def test_the_end_of_the_stream_ends_what_no_silence_has_ended():
    sound = {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}
    _, told = heard({}, {"audio": sound}, {"audioStreamEnd": True})
    assert told == [SpeechChange("END", by_stream=True)]
    _, told = heard({}, {"audioStreamEnd": True})
    assert told == []


def test_silence_behind_the_end_of_the_stream_belongs_to_no_turn():
    sound = {"mimeType": "audio/pcm;rate=16000", "data": "AAEA"}
    silence = {"mimeType": "audio/pcm;rate=16000", "data": base64.b64encode(bytes(3200)).decode()}
    gathered, _ = heard({}, {"audio": sound}, {"audioStreamEnd": True})
    gathered.take("")
    again = [*gathered.realtime({"audio": silence}), *gathered.realtime({"audioStreamEnd": True})]
    assert again == [], "nothing was said between the two ends"
    list(gathered.realtime({"audio": silence}))
    list(gathered.realtime({"audio": sound}))
    assert list(gathered.realtime({"audioStreamEnd": True})) == [SpeechChange("END", by_stream=True)]
    assert gathered.take("") == ("", b"\0\1\0")


@pytest.mark.parametrize(
    ("mime", "rate"),
    [
        ("audio/pcm;rate=24000", 24000),
        ("audio/pcm", 16000),
        ("audio/pcm;rate=0", 16000),
        ("a;rate=1234567", 16000),
    ],
)
def test_a_rate_that_makes_no_sense_is_the_usual_one(mime, rate):
    assert rate_of(mime) == rate
