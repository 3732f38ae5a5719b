"""Conversations mended, and never a result invented."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.formats import check, repair

USER = {"role": "user", "parts": [{"text": "hi"}]}
MODEL = {"role": "model", "parts": [{"text": "hello"}]}


def calls(*names: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"id": n, "name": n, "args": {}}} for n in names]}


def answers(*names: str, **more: Any) -> dict[str, Any]:
    parts = [{"functionResponse": {"id": n, "name": n, "response": {"output": 1}, **more}} for n in names]
    return {"role": "user", "parts": parts}


RIGHT = [USER, calls("a", "b"), answers("a", "b"), MODEL]


@pytest.mark.parametrize(
    "broken",
    [
        [USER, calls("a", "b"), answers("a"), answers("b"), MODEL],
        [USER, calls("a", "b"), answers("b", "a"), MODEL],
        [USER, calls("a", "b"), MODEL, answers("a", "b")],
        [USER, calls("a", "b"), {**answers("a", "b"), "role": "model"}, MODEL],
        [USER, calls("a", "b"), {**answers("a", "b"), "role": "function"}, MODEL],
        [
            "hi",
            {**calls("a", "b"), "role": "assistant"},
            answers("a", "b"),
            {"role": "ai", "content": "hello"},
        ],
        [USER, calls("a", "b"), answers("a", "b", name="x"), MODEL],
        [USER, calls("a", "b"), {"role": "user", "parts": answers("a", "b")["parts"] * 2}, MODEL],
        [answers("gone"), *RIGHT],
        [{"role": "user", "parts": ["hi"]}, *RIGHT[1:]],
        [{"text": "hi"}, *RIGHT[1:]],
        [
            USER,
            calls("a", "b"),
            {"functionResponse": answers("a")["parts"][0]["functionResponse"]},
            answers("b"),
            MODEL,
        ],
        [5, *RIGHT],
        [{"role": "user", "parts": ["hi", None]}, *RIGHT[1:]],
        RIGHT,
    ],
)
def test_what_can_be_mended_is(broken: list[Any]):
    before = copy.deepcopy(broken)
    mended, changes = repair(broken)
    assert mended == RIGHT
    assert bool(changes) is (broken != RIGHT)
    assert broken == before


def test_values_are_put_right():
    call = {"function_call": {"name": "a", "arguments": '{"x": 1}'}}
    broken = [
        USER,
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"function_response": {"name": "a", "response": "12"}}]},
    ]
    mended, changes = repair(broken)
    assert mended[1]["parts"] == [{"functionCall": {"name": "a", "args": {"x": 1}}}]
    assert mended[2]["parts"] == [{"functionResponse": {"name": "a", "response": {"output": "12"}}}]
    assert len(changes) >= 4
    assert check(mended).ok


def test_arguments_that_are_no_json_are_left_as_they_are():
    call = {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "a", "args": "{"}}]}
    mended, changes = repair([USER, call, answers("a")])
    assert (mended, changes) == ([USER, call, answers("a")], [])
    assert [finding.rule for finding in check(mended).faults] == ["call-args"]


def test_a_json_text_of_an_object_becomes_the_object():
    mended, _ = repair([USER, calls("a"), answers("a", response='{"output": 5}')])
    assert mended[2]["parts"][0]["functionResponse"]["response"] == {"output": 5}


def test_words_and_a_call_in_two_turns_become_one():
    mended, _ = repair([USER, MODEL, calls("a"), answers("a")])
    assert mended == [USER, {"role": "model", "parts": [*MODEL["parts"], *calls("a")["parts"]]}, answers("a")]


def test_an_answer_stays_with_the_call_that_it_followed():
    def unnamed(content: dict[str, Any]) -> dict[str, Any]:
        parts = [{key: {**value, "id": None} for key, value in part.items()} for part in content["parts"]]
        return {"role": content["role"], "parts": parts}

    for call, answer in [(calls("a"), answers("a")), (unnamed(calls("a")), unnamed(answers("a")))]:
        mended, _ = repair([USER, call, MODEL, USER, call, answer, MODEL])
        assert [content["parts"][0].keys() for content in mended[1:3]] == [{"functionCall"}, {"text"}]
        assert [content["parts"][0].keys() for content in mended[4:6]] == [
            {"functionCall"},
            {"functionResponse"},
        ]


def test_a_call_that_nobody_answered_stays_a_fault():
    mended, _ = repair([USER, calls("a", "b"), answers("a"), MODEL])
    assert mended == [USER, calls("a", "b"), answers("a"), MODEL]
    assert [finding.rule for finding in check(mended).faults] == ["response-count"]


contents = st.lists(
    st.one_of(
        st.just(USER),
        st.just(MODEL),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(
            lambda names: calls(*names)
        ),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(
            lambda names: answers(*names)
        ),
    ),
    max_size=8,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(contents)
def test_what_is_left_are_calls_without_answers_and_beginnings(broken: list[Any]):
    mended, changes = repair(broken)
    left = {finding.rule for finding in check(mended, "conversation").faults}
    assert left <= {"response-count", "call-follows", "contents-list"}
    assert repair(mended) == (mended, [])
    if check(broken, "conversation").ok:
        assert (mended, changes) == (broken, [])
