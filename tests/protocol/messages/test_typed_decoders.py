"""What is read the short way means the same as what is read the general way."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.events import Event, InputTranscript, OutputTranscript, TextChunk
from livetools.protocol.messages import to_events
from livetools.protocol.messages.incoming import FunctionCall, PlainCall, ServerMessage, parse
from livetools.protocol.messages.typed_decoders import only_calls_or_words, only_media

QUICK = settings(max_examples=300, deadline=None, derandomize=True)
RECORDED = pathlib.Path(__file__).parents[1] / "frames_recorded.jsonl"

CALLS = st.one_of(
    st.just({"id": "c1", "name": "f", "args": {}}),
    st.dictionaries(
        st.sampled_from(["id", "name", "args", "partialArgs", "willContinue"]),
        st.sampled_from(["c1", "f", "", None, 7, {}, {"n": 1}, [], True]),
    ),
)
VALUES = st.sampled_from(["words", "", None, 7, True, {}, [], {"text": "words"}, "\ud800", 1e400])
TEXTS = st.one_of(
    st.just({"text": "words"}), st.dictionaries(st.sampled_from(["text", "finished", "thought"]), VALUES)
)
CONTENTS = st.dictionaries(
    st.sampled_from(["outputTranscription", "inputTranscription", "modelTurn", "turnComplete", "new"]),
    st.one_of(
        TEXTS,
        VALUES,
        st.fixed_dictionaries({"parts": st.lists(TEXTS, max_size=2)}, optional={"role": VALUES}),
    ),
    max_size=2,
)


@QUICK
@given(st.lists(CALLS), st.booleans())
def test_calls(calls: list[dict[str, Any]], more: bool) -> None:
    frame: dict[str, Any] = {"toolCall": {"functionCalls": calls}} | ({"usageMetadata": {}} if more else {})
    data = json.dumps(frame).encode()
    short = only_calls_or_words(data)
    if short is not None:
        assert isinstance(short, list)
        whole = [FunctionCall(call.id, call.name, call.args) for call in short]
        assert parse(data) == ServerMessage(calls=whole)


@QUICK
@given(CONTENTS)
def test_words(said: dict[str, Any]) -> None:
    data = json.dumps({"serverContent": said}).encode()
    event = only_calls_or_words(data)
    if event is not None:
        assert to_events.events_of(parse(data)) == [event]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.binary(max_size=2000) | st.just(bytes(1600)),
    st.sampled_from(["audio/pcm;rate=24000", "audio/pcm", "video/mp4", "image/png", "", 'a"b', "é"]),
    st.sampled_from([None, 2, "\t"]),
    st.sampled_from(
        [
            {},
            {"part": {"thought": True}},
            {"part": {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}},
            {"turn": {"role": "model"}},
            {"content": {"interrupted": True}},
            {"content": {"turnComplete": True}},
            {"frame": {"usageMetadata": {"totalTokenCount": 1}}},
            {"frame": {"toolCall": {"functionCalls": []}}},
            {"url_safe": True},
            {"data": "!" * 1100},
            {"data": "AAAA" * 300 + "A"},
            {"behind": "}"},
            {"behind": " \n"},
        ]
    ),
)
def test_a_large_blob_that_comes_alone_is_seen_as_any_other(
    blob: bytes, mime_type: str, indent: int | str | None, odd: dict[str, Any]
) -> None:
    encode = base64.urlsafe_b64encode if odd.get("url_safe") else base64.b64encode
    data = odd.get("data", encode(blob).decode())
    part = {"inlineData": {"mimeType": mime_type, "data": data}, **odd.get("part", {})}
    told = {"modelTurn": {"parts": [part], **odd.get("turn", {})}, **odd.get("content", {})}
    text = json.dumps({"serverContent": told, **odd.get("frame", {})}, indent=indent) + odd.get("behind", "")
    at_once, in_full = only_media(text.encode()), parse(text)
    if at_once is not None:
        assert (to_events.events_of(in_full), in_full.calls, in_full.unknown) == ([at_once], [], [])
    if len(blob) == 1600 and odd == {} and mime_type == "audio/pcm":
        assert at_once is not None


@pytest.mark.parametrize("line", RECORDED.read_text("utf-8").splitlines())
def test_frames_that_were_recorded(line: str) -> None:
    row = json.loads(line)
    data = json.dumps(row.get("frame", {})).encode()
    message, short = parse(data), only_calls_or_words(data)
    if isinstance(short, list):
        assert message == ServerMessage(calls=[FunctionCall(call.id, call.name, call.args) for call in short])
    elif short is not None:
        assert to_events.events_of(message) == [short]


@pytest.mark.parametrize(
    ("said", "event"),
    [
        ({"outputTranscription": {"text": "Hi"}}, OutputTranscript("Hi")),
        ({"modelTurn": {"parts": [{"text": "Hi"}]}}, TextChunk("Hi")),
        ({"inputTranscription": {"text": "Hi"}}, InputTranscript("Hi")),
    ],
)
def test_words_alone_take_the_short_way(said: dict[str, Any], event: Event) -> None:
    assert only_calls_or_words(json.dumps({"serverContent": said}).encode()) == event
    assert only_calls_or_words(json.dumps({"serverContent": said, "usageMetadata": {}}).encode()) is None


def test_calls_alone_take_the_short_way() -> None:
    data = b'{"toolCall": {"functionCalls": [{"id": "c1", "name": "f", "args": {"n": 1}}]}}'
    assert only_calls_or_words(data) == [PlainCall("c1", "f", {"n": 1})]
    assert only_calls_or_words(b'{"toolCall": ') is None


def test_arguments_without_end_are_read_the_general_way() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000  # Python 3.12 and 3.13 follow some ten thousand
    call = b'{"id":"c1","name":"f","args":' + deep + b"}"
    assert only_calls_or_words(b'{"toolCall":{"functionCalls":[' + call + b"]}}") is None
    assert only_calls_or_words(b'{"serverContent":' + deep + b"}") is None
