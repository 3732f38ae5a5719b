"""Built responses: google-genai takes them, and the checks have nothing to say."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.formats import (
    blocked_response,
    call_response,
    check,
    error_body,
    response,
    stream_chunks,
    text_response,
    usage,
)

BUILT = [
    text_response("Hello", usage_metadata=usage(3, 4, 5), model="gemini-3.8-flash", response_id="r"),
    text_response("cut", finish_reason="MAX_TOKENS"),
    call_response({"name": "f", "args": {"x": 1}, "id": "1"}, {"name": "g"}, text="One moment."),
    blocked_response("SAFETY", prompt=3),
    response([], finish_reason="SAFETY"),
]


@pytest.mark.parametrize("built", BUILT, ids=str)
def test_what_the_builders_make_passes_and_the_sdk_takes_it(built: dict[str, Any]):
    assert check(built).findings == ()
    types.GenerateContentResponse.model_validate(built)


def test_an_error_body_has_its_status():
    body = error_body(429, "Slow down", details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo"}])
    assert body["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert check(body).findings == ()


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.text(min_size=1).map(lambda text: {"text": text}), max_size=5))
def test_built_streams_pass_and_hold_all_parts(parts: list[dict[str, Any]]):
    chunks = stream_chunks(parts, usage_metadata=usage(1, 2))
    assert check(chunks, "stream").findings == ()
    said = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    assert said == parts
