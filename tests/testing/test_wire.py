"""JSON as the service writes it, and as a person reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.testing.wire import (
    Frame,
    ServiceRefusal,
    camel,
    clip_reason,
    decode,
    encode,
    readable,
    seconds,
    snake,
)


@given(st.text())
def test_a_reason_is_at_most_123_bytes_and_whole_characters(text):
    clipped = clip_reason(text)
    assert len(clipped.encode()) <= 123
    assert text.startswith(clipped)


@pytest.mark.parametrize(("value", "text"), [(50, "50s"), (0.44, "0.440s"), (0, "0s"), (11.6, "11.600s")])
def test_durations_are_written_as_protobuf_has_them(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [("sessionResumption", "session_resumption"), ("topP", "top_p"), ("mimeType", "mime_type"), ("id", "id")],
)
def test_both_casings_are_one_name(one, other):
    assert (snake(one), camel(other), camel(one), snake(other)) == (other, one, one, other)


def test_what_is_encoded_is_decoded():
    message = {"serverContent": {"modelTurn": {"parts": [{"text": "ü"}]}}}
    assert decode(encode(message)) == message
    assert "ü".encode() in encode(message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(st.dictionaries(st.text(), json_values))
def test_what_goes_out_is_indented_as_json_does_it(message):
    assert encode(message).decode() == json.dumps(message, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("data", [b"{", "[]", '{"a": NaN}', '{"a": -Infinity}', b"\xff\xfe", "1"])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(ServiceRefusal) as caught:
        decode(data.encode() if isinstance(data, str) else data)
    assert caught.value.code == 1007
    assert caught.value.why


def test_a_frame_is_a_line_with_its_media_cut():
    blob = {"inlineData": {"mimeType": "audio/pcm", "data": "A" * 400}}
    frame = Frame(1.5, "server", 3, {"serverContent": {"modelTurn": {"parts": [blob]}}})
    assert "#3 ← " in str(frame)
    assert "<300 bytes>" in str(frame)
    assert len(readable({"text": "x" * 5000})) == 600
