"""Conversations: the order of calls and responses, and what the service would say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.json_values import json_values

from livetools.formats import check

USER = {"role": "user", "parts": [{"text": "hi"}]}
MODEL = {"role": "model", "parts": [{"text": "hello"}]}


def calls(*names: str, ids: bool = True, role: str = "model") -> dict[str, Any]:
    parts = [
        {"functionCall": {"id": f"id-{n}", "name": n, "args": {}} if ids else {"name": n}} for n in names
    ]
    return {"role": role, "parts": parts}


def answers(*names: str, ids: bool = True, role: str = "user") -> dict[str, Any]:
    parts = []
    for name in names:
        response = {"name": name, "response": {"output": 1}}
        parts.append({"functionResponse": {"id": f"id-{name}", **response} if ids else response})
    return {"role": role, "parts": parts}


def faults(*contents: Any) -> list[str]:
    return [finding.rule for finding in check(list(contents), "conversation").faults]


@pytest.mark.parametrize(
    "contents",
    [
        [USER, MODEL, USER],
        [USER, calls("a"), answers("a"), MODEL],
        [USER, calls("a", "b"), answers("b", "a"), MODEL],
        [USER, calls("a", "a", ids=False), answers("a", "a", ids=False)],
        [USER, calls("a"), answers("a"), calls("b"), answers("b"), MODEL],
        [USER, {"role": "model", "parts": [*MODEL["parts"], *calls("a")["parts"]]}, answers("a")],
        [USER, calls("a"), answers("a"), USER, MODEL],
        [{"parts": [{"text": "no role is the user's"}]}],
        [USER, {"role": "model", "parts": {"text": "one part"}}],
        [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AA=="}}]}],
    ],
)
def test_lawful_conversations_pass(contents: list[Any]):
    assert faults(*contents) == []


@pytest.mark.parametrize(
    ("contents", "broken"),
    [
        ([], ["contents-list"]),
        (["hi"], ["content-object"]),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], ["content-role"]),
        ([{"role": "user", "content": "x"}], ["content-parts"]),
        ([{"role": "user"}], ["parts-list"]),
        ([{"role": "user", "parts": []}], ["parts-list"]),
        ([{"role": "user", "parts": ["x"]}], ["part-object"]),
        ([{"role": "user", "parts": [{"type": "text", "text": "x"}]}], ["unknown-field"]),
        ([USER, calls("a", role="user"), answers("a")], ["call-role"]),
        ([USER, calls("a"), answers("a", role="function")], ["content-role"]),
        ([calls("a"), answers("a")], ["call-follows"]),
        ([USER, MODEL, calls("a"), answers("a")], ["call-follows"]),
        ([USER, calls("a")], ["response-count"]),
        ([USER, calls("a"), MODEL], ["response-count"]),
        ([USER, calls("a"), USER], ["response-count"]),
        ([USER, calls("a", "b"), answers("a"), answers("b")], ["response-count", "response-follows"]),
        ([USER, calls("a"), MODEL, answers("a")], ["response-count", "response-follows"]),
        ([USER, answers("a")], ["response-follows"]),
        ([answers("a")], ["response-follows"]),
        ([USER, calls("a"), answers("a", "a")], ["response-count"]),
        ([USER, calls("a", ids=False), answers("b", ids=False)], ["response-name-match"]),
    ],
)
def test_each_fault_is_found_once(contents: list[Any], broken: list[str]):
    assert faults(*contents) == broken


def test_another_id_and_another_name_are_found():
    other = {"functionResponse": {"id": "x", "name": "a", "response": {}}}
    assert faults(USER, calls("a"), {"role": "user", "parts": [other]}) == ["response-id-match"]
    other = {"functionResponse": {"id": "id-a", "name": "x", "response": {}}}
    assert faults(USER, calls("a"), {"role": "user", "parts": [other]}) == ["response-name-match"]


def test_arguments_as_text_are_found():
    call = {"functionCall": {"name": "a", "args": '{"x": 1}'}}
    assert faults(USER, {"role": "model", "parts": [call]}, answers("a", ids=False)) == ["call-args"]
    call = {"functionCall": {"name": "a", "arguments": "{}"}}
    assert faults(USER, {"role": "model", "parts": [call]}, answers("a", ids=False)) == ["unknown-field"]


def test_the_message_says_that_the_assistant_answered_too_early():
    (finding,) = check([USER, calls("a"), MODEL]).faults
    assert finding.message == "the assistant answered, but no function response for a comes before it"
    assert finding.path == "$[1]"


VALUES = json_values(
    "role", "parts", "text", "functionCall", "function_response", "id", "name", "response", "args"
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(VALUES, max_size=4))
def test_no_json_makes_the_check_raise(contents: list[Any]):
    check(contents, "conversation")
    check({"clientContent": {"turns": contents, "turnComplete": True}})
    check({"toolResponse": {"functionResponses": contents}})
    check(contents, "recording")
