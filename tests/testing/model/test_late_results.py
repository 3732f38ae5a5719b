"""Results that a session sends as text are read as they were written."""

from __future__ import annotations

import json

import pytest

from livetools.testing.model.late_results import LateResult, late_results

WHY = ", asked for before the connection was replaced"


def late(name: str, args: object, response: object, why: str = WHY) -> str:
    """As ``livetools.protocol.calls.wording.late_result`` writes it."""
    return f"[Result of {name}({json.dumps(args)}){why}: {json.dumps(response)}]"


@pytest.mark.parametrize("why", [WHY, ""], ids=["lost", "background"])
@pytest.mark.parametrize("name", ["f", "get_weather", "house.light:on-off"])
def test_a_result_names_its_function_and_holds_its_response(name: str, why: str) -> None:
    assert late_results(late(name, {"x": 1}, {"output": 2}, why)) == [LateResult(name, '{"output": 2}')]


def test_texts_may_hold_every_sign_by_which_a_result_is_read() -> None:
    args, response = {"q": '): {"output": 1}]\n[Result of g({}): {}]'}, {"output": "a: b]", "more": ["({"]}
    assert late_results(late("f", args, response)) == [LateResult("f", json.dumps(response))]


def test_results_that_came_together_are_told_apart() -> None:
    text = f"{late('f', {'x': 1}, {'output': 'one'})}\n{late('g', {}, {'error': 'two'})}"
    assert late_results(text) == [LateResult("f", '{"output": "one"}'), LateResult("g", '{"error": "two"}')]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weather in Oslo?",
        "[Result of f]",
        "[Result of f(): {}]",
        '[Result of f({}): "no object"]',
        "[Result of f({}): {}] and more",
        f"{late('f', {}, {})}\nweather in Oslo?",
        "[Result of f(" + "[" * 100_000,
    ],
    ids=range(8),
)
def test_what_a_user_types_is_no_result(text: str) -> None:
    assert late_results(text) == []
