"""The relay's messages, made from the frames of a conversation that is over."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_values import json_values

import livetools
from livetools import ReconnectPolicy, TurnComplete
from livetools.cli.page.past_messages import page_messages
from livetools.testing import FakeLiveServer
from livetools.testing.wire import Frame


def read(*frames: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of frames that come a second apart, on one connection, after its setup."""
    told = [("client", {"setup": {"model": "models/m"}}), ("server", {"setupComplete": {}}), *frames]
    return [
        json.loads(message)
        for message in page_messages(Frame(float(n), who, 1, frame) for n, (who, frame) in enumerate(told))  # type: ignore[arg-type]
    ]


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


def typed(text: str) -> tuple[str, dict[str, Any]]:
    turns = [{"role": "user", "parts": [{"text": text}]}]
    return "client", {"clientContent": {"turns": turns, "turnComplete": True}}


def called(id: str | None, name: str, **args: Any) -> tuple[str, dict[str, Any]]:
    call = {"name": name, "args": args} | ({} if id is None else {"id": id})
    return "server", {"toolCall": {"functionCalls": [call]}}


def answered(id: str | None, name: str, response: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    answer = {"name": name, "response": response, **more} | ({} if id is None else {"id": id})
    return "client", {"toolResponse": {"functionResponses": [answer]}}


def content(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "server", {"serverContent": fields}


SOUND = ("client", {"realtimeInput": {"audio": {"mimeType": "audio/pcm", "data": "<300 bytes>"}}})
VOICE = content(modelTurn={"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "<300 bytes>"}}]})
DROPPED = ("server", {"_close": {"code": 1006, "reason": ""}})


@pytest.mark.anyio
async def test_it_is_what_the_session_itself_told():
    async def scan(disk: str):
        """Scan a disk."""
        yield "half"
        yield "all"

    def get_weather(city: str) -> str:
        """Current weather in a city."""
        if city == "Atlantis":
            raise livetools.ToolError("there is no Atlantis")
        return "12 °C, rain"

    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            name, _, value = turn.text.partition(" ")
            answer = await turn.call(name, **{"disk" if name == "scan" else "city": value})
            await turn.say(str(answer))

        session = livetools.connect(
            "gemini-3.8-live",
            tools=[scan, get_weather],
            reconnect=ReconnectPolicy(initial=0.0),
            **server.options,
        )
        told: list[str] = []
        async with session:
            for text in ("get_weather Oslo", "get_weather Atlantis", "scan sda"):
                await session.send_text(text)
                async for event in session:
                    told.append(type(event).__name__)
                    if isinstance(event, TurnComplete) and not session.pending:
                        break
        messages = [json.loads(each) for each in page_messages(server.frames)]
    own = {"user_text", "sound", "ended"}
    seen = [kind for kind in kinds(messages) if kind not in own]
    left_out = {"AudioChunk", "HandleUpdate", "UnknownMessage"}
    assert Counter(seen) == Counter(kind for kind in told if kind not in left_out)
    scans = [n for n, kind in enumerate(seen) if kind == "ToolStarted"][2]
    assert seen[:scans] == [kind for kind in told if kind not in left_out][:scans]
    assert [m["text"] for m in messages if m["type"] == "user_text"] == [
        "get_weather Oslo",
        "get_weather Atlantis",
        "scan sda",
    ]
    finished = [m for m in messages if m["type"] == "ToolFinished"]
    assert [m["error"] for m in finished] == [None, "ToolError", None]
    assert finished[1]["response"] == {"error": "there is no Atlantis"}
    assert [m["value"] for m in messages if m["type"] == "ToolProgress"] == ["half", "all"]
    assert [m["seq"] for m in messages] == list(range(1, len(messages) + 1))
    times = [m["at"] for m in messages]
    assert times == sorted(times)


def test_a_call_has_its_time_and_its_answer_with_an_id_and_without():
    for id in ("call-1", None):
        started, finished = read(
            typed("?"), called(id, "f", x=1), typed("!"), answered(id, "f", {"output": 2})
        )[2::2]
        assert (started["type"], started["at"], started["call"]["args"]) == ("ToolStarted", 3.0, {"x": 1})
        assert (finished["type"], finished["elapsed"]) == ("ToolFinished", 2.0)
        assert finished["call"] == started["call"]


def test_a_result_that_came_as_text_is_the_result_of_the_lost_call():
    late = 'f({"x": 1}), asked for before the connection was replaced: {"output": "a: b"}'
    messages = read(
        called("1", "f", x=1),
        DROPPED,
        ("client", {"setup": {"sessionResumption": {"handle": "handle-1"}}}),
        typed(f"[Result of {late}]"),
        typed("[Result of nothing that was called({}): {}]"),
    )
    assert kinds(messages)[1:] == ["ToolStarted", "ToolLost", "Reconnecting", "Reconnected", "ToolFinished"]
    assert messages[-1]["response"] == {"output": "a: b"}
    assert messages[-2]["state_restored"] is True


def test_results_that_came_as_one_text_are_each_the_result_of_their_own_lost_call():
    late = [f'[Result of {name}({{}}), asked for before: {{"output": "{name}"}}]' for name in ("f", "g.h")]
    messages = read(
        called("1", "f"),
        called("2", "g.h"),
        DROPPED,
        ("client", {"setup": {"sessionResumption": {"handle": "handle-1"}}}),
        typed("\n".join(late)),
    )
    finished = [m for m in messages if m["type"] == "ToolFinished"]
    assert [(m["call"]["name"], m["response"]["output"]) for m in finished] == [("f", "f"), ("g.h", "g.h")]
    assert "user_text" not in kinds(messages)


def test_a_planned_move_is_no_loss():
    messages = read(
        ("server", {"goAway": {"timeLeft": "5s"}}),
        ("client", {"_close": {"code": 1000, "reason": ""}}),
        ("client", {"setup": {"sessionResumption": {}}}),
    )
    assert kinds(messages) == ["SessionStarted", "GoAway", "Reconnected"]
    assert messages[-1]["state_restored"] is False


@pytest.mark.parametrize("handle", [{}, {"handle": "handle-1"}])
def test_a_session_that_was_reopened_was_over_before(handle):
    messages = read(
        typed("?"),
        ("client", {"_close": {"code": 1000, "reason": ""}}),
        ("client", {"setup": {"sessionResumption": handle}}),
        typed("!"),
    )
    assert kinds(messages)[1:] == ["user_text", "ended", "Reconnected", "user_text"]
    assert messages[-2]["state_restored"] is bool(handle)


def test_speech_has_its_place_though_the_service_says_nothing_of_it():
    messages = read(SOUND, SOUND, VOICE, content(outputTranscription={"text": "Yes?"}))
    assert kinds(messages)[1:] == ["VoiceActivity", "VoiceActivity", "sound", "OutputTranscript"]
    assert [m["at"] for m in messages[1:3]] == [2.0, 3.0]
    told = read(SOUND, content(inputTranscription={"text": "hello"}), VOICE)
    assert kinds(told)[1:] == ["InputTranscript", "sound"]


@pytest.mark.parametrize(
    ("close", "error"),
    [
        (("client", {"_close": {"code": 1000, "reason": ""}}), None),
        (("server", {"_close": {"code": 1000, "reason": ""}}), None),
        (("server", {"_close": {"code": 1008, "reason": "no quota"}}), "closed with 1008: no quota"),
        (DROPPED, "closed with 1006"),
    ],
)
def test_the_end_of_the_last_connection_is_the_end_of_the_session(close, error):
    last = read(typed("?"), close)[-1]
    assert last["type"] == "ended"
    assert (last["error"] is None) is (error is None)
    assert last["message"] == (error or "the session is over")


WORDS = [
    "turns",
    "parts",
    "text",
    "turnComplete",
    "functionResponses",
    "functionResponse",
    "id",
    "name",
    "response",
    "error",
    "willContinue",
    "code",
    "reason",
    "modelTurn",
    "inlineData",
    "inputTranscription",
    "functionCalls",
    "args",
    "sessionResumption",
    "handle",
    "audio",
    "timeLeft",
]
FRAMES = st.dictionaries(
    st.sampled_from(
        [
            "setup",
            "clientContent",
            "realtimeInput",
            "toolResponse",
            "_close",
            "serverContent",
            "toolCall",
            "goAway",
        ]
    ),
    json_values(*WORDS),
    max_size=3,
)


@given(st.lists(st.tuples(st.sampled_from(["client", "server"]), FRAMES), max_size=8))
def test_frames_of_any_shape_are_read(frames):
    for message in read(*frames):
        assert isinstance(message["type"], str)
        assert isinstance(message["at"], float)
