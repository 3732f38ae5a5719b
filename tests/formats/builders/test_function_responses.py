"""Built answers: google-genai takes them, and the checks have nothing to say."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.formats import (
    check,
    client_content_reply,
    content_reply,
    error_response,
    function_response,
    is_error,
    tool_response,
)

VALUES = [
    "text",
    5,
    None,
    [1],
    {"a": 1},
    {"error": "no"},
    datetime.date(2026, 1, 1),
    float("nan"),
    {1, 2},
    b"x",
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("key", ["output", "result", "content"])
def test_any_value_makes_a_response_that_every_format_takes(value: Any, key: str):
    made = function_response("f", value, id="1", key=key)
    assert check(tool_response(made)).ok
    assert check(client_content_reply(made)).ok
    types.FunctionResponse.model_validate(made)
    types.Content.model_validate(content_reply(made))
    types.LiveClientMessage.model_validate(tool_response(made))
    types.LiveClientMessage.model_validate(client_content_reply(made))


def test_the_three_coats():
    made = function_response("f", "x", id="1", scheduling="SILENT", will_continue=False)
    response = {"output": "x"}
    whole = {"id": "1", "name": "f", "response": response, "scheduling": "SILENT", "willContinue": False}
    assert tool_response(made) == {"toolResponse": {"functionResponses": [whole]}}
    content = {"role": "user", "parts": [{"functionResponse": whole}]}
    assert content_reply(made) == content
    assert client_content_reply(made) == {"clientContent": {"turns": [content], "turnComplete": True}}


def test_an_error_is_told_as_one():
    made = error_response("f", "no such city", id="1")
    assert made["response"] == {"error": "no such city"}
    assert is_error(made["response"])
    assert not is_error(function_response("f", "error")["response"])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.text(min_size=1), st.text(min_size=1), st.integers() | st.text()), min_size=1, max_size=4
    )
)
def test_the_answers_to_a_turn_of_calls_are_lawful(calls: list[tuple[str, str, Any]]):
    parts = [
        {"functionCall": {"id": f"{n}{id}", "name": name, "args": {}}}
        for n, (id, name, _) in enumerate(calls)
    ]
    made = [function_response(name, value, id=f"{n}{id}") for n, (id, name, value) in enumerate(calls)]
    question = {"role": "user", "parts": [{"text": "Go"}]}
    assert check([question, {"role": "model", "parts": parts}, content_reply(*made)]).findings == ()
