"""Every word we write."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.protocol.messages import outgoing

ANSWER = {"name": "f", "response": {"output": 1}, "id": "c1"}


def read(frame: bytes) -> Any:
    return json.loads(frame.decode())


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (outgoing.text("hé", "realtime"), {"realtimeInput": {"text": "hé"}}),
        (
            outgoing.text("hi", "content"),
            {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "hi"}]}], "turnComplete": True}},
        ),
        (outgoing.client_content([], False), {"clientContent": {"turns": [], "turnComplete": False}}),
        (outgoing.end_of_turn(False), {"clientContent": {"turnComplete": False}}),
        (outgoing.end_of_turn(True), {"clientContent": {"turnComplete": True}}),
        (outgoing.activity(True), {"realtimeInput": {"activityStart": {}}}),
        (outgoing.activity(False), {"realtimeInput": {"activityEnd": {}}}),
        (outgoing.audio_stream_end(), {"realtimeInput": {"audioStreamEnd": True}}),
        (outgoing.tool_response([ANSWER]), {"toolResponse": {"functionResponses": [ANSWER]}}),
        (
            outgoing.content_response([ANSWER, ANSWER]),
            {
                "clientContent": {
                    "turns": [{"role": "user", "parts": [{"functionResponse": ANSWER}] * 2}],
                    "turnComplete": True,
                }
            },
        ),
    ],
)
def test_each_frame_is_what_the_service_reads(frame: bytes, message: object) -> None:
    assert read(frame) == message


def test_audio_and_video_say_what_they_are_and_carry_every_byte() -> None:
    heard = read(outgoing.audio(b"\0\xff\x10", 8000))["realtimeInput"]["audio"]
    assert (heard["mimeType"], b64decode(heard["data"])) == ("audio/pcm;rate=8000", b"\0\xff\x10")
    seen = read(outgoing.video(b"\xff\xd8"))["realtimeInput"]["video"]
    assert (seen["mimeType"], b64decode(seen["data"])) == ("image/jpeg", b"\xff\xd8")


@pytest.mark.parametrize(
    ("instructions", "tools", "update"),
    [
        ({"parts": [{"text": "be brief"}]}, None, {"systemInstruction": {"parts": [{"text": "be brief"}]}}),
        (None, [{"googleSearch": {}}], {"tools": {"tools": [{"googleSearch": {}}]}}),
        (None, [], {"tools": {"tools": []}}),
        (None, None, {}),
    ],
)
def test_an_update_says_what_changes_and_nothing_else(
    instructions: dict[str, Any] | None, tools: list[Any] | None, update: object
) -> None:
    assert read(outgoing.context_update(instructions, tools)) == {"contextUpdate": update}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_no_json_goes_out_as_null(number: float) -> None:
    assert read(outgoing.encode({"output": [number, 1.5]})) == {"output": [None, 1.5]}
    assert read(outgoing.encode({"output": [number, "\ud800"]})) == {"output": [None, "\ufffd"]}


@pytest.mark.parametrize(("name", "parts"), [("f", []), ("f", [{"a": Path("b")}]), ("\ud800", [])])
def test_a_response_that_was_encoded_before_goes_out_as_it_is(name: str, parts: list[Any]) -> None:
    response = outgoing.EncodedJSON(b'{"output":[1,"h\xc3\xa9"]}')
    answer = {"name": name, "response": response, "parts": parts}
    (sent,) = read(outgoing.tool_response([answer]))["toolResponse"]["functionResponses"]
    assert sent["response"] == {"output": [1, "hé"]}
    assert len(sent["parts"]) == len(parts)


@given(st.text(st.characters()))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_text_goes_out_as_utf8_lone_surrogates_replaced(text: str) -> None:
    written = read(outgoing.text(text, "realtime"))["realtimeInput"]["text"]
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert written == whole
