"""Responses of generateContent, whole and in chunks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from support.json_values import json_values

from livetools.formats import check, text_response, usage


def answer(**changes: Any) -> dict[str, Any]:
    """A right response, with its only candidate changed."""
    whole = text_response("x")
    candidate = {**whole["candidates"][0], **changes}
    return {**whole, "candidates": [{k: v for k, v in candidate.items() if v is not ...}]}


def part(part: Any) -> dict[str, Any]:
    return answer(content={"role": "model", "parts": [part]})


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ({"choices": [{"message": {"content": "x"}}]}, "answer-shape"),
        ({"candidates": []}, "answer-object"),
        ({"candidates": {}}, "answer-object"),
        ({"candidates": ["x"]}, "answer-object"),
        ({**text_response("x"), "promptFeedback": []}, "answer-feedback"),
        ({**text_response("x"), "usage_metadata": {}}, "answer-casing"),
        ({**text_response("x"), "usageMetadata": {"prompt_tokens": 3}}, "answer-usage"),
        ({**text_response("x"), "usageMetadata": {"promptTokenCount": "3"}}, "answer-usage"),
        ({**text_response("x"), "usageMetadata": None}, "answer-usage-present"),
        (
            {**text_response("x"), "usageMetadata": {**usage(3, 4), "totalTokenCount": 4}},
            "answer-usage-total",
        ),
        (answer(finishReason=...), "answer-finished"),
        (answer(finishReason="stop"), "answer-finish"),
        (answer(finishReason="tool_calls"), "answer-finish"),
        (answer(finish_reason="STOP"), "answer-casing"),
        (answer(index="0"), "answer-index"),
        (answer(safetyRatings=None), "answer-safety"),
        (answer(safetyRatings=[{"category": "x"}]), "answer-safety"),
        (answer(content=...), "answer-content"),
        (answer(content={"role": "model", "parts": "x"}), "answer-content"),
        (answer(content={"role": "assistant", "parts": []}), "answer-role"),
        (part("x"), "answer-part"),
        (part({"type": "text"}), "answer-part"),
        (part({"function_call": {"name": "f", "args": {}}}), "answer-casing"),
        (part({"functionCall": {"name": "f", "args": "{}"}}), "answer-args"),
        (part({"functionCall": {"name": "f", "arguments": "{}"}}), "answer-args"),
        (part({"functionCall": {"args": {}}}), "answer-args"),
        ({"error": "no"}, "answer-error"),
        ({"error": {"code": 400, "message": "no"}}, "answer-error"),
    ],
)
def test_each_fault_is_found_and_nothing_else(document: Any, rule: str):
    found = {finding.rule for finding in check(document, "response").findings}
    assert rule in found
    assert found <= {rule, "answer-usage-present"}


def test_a_finish_reason_before_the_last_chunk_is_found():
    chunks = [text_response("a"), text_response("b")]
    assert [finding.path for finding in check(chunks).faults if finding.rule == "stream-finish"] == ["$[1]"]


def test_a_stream_without_an_end_is_found():
    chunks = [text_response("a", finish_reason=None)]
    assert [finding.rule for finding in check(chunks).faults] == ["stream-finish"]
    assert check([], "stream").faults[0].rule == "stream-chunks"


def test_null_stands_for_an_absent_finish_reason_in_a_stream():
    first = text_response("a", finish_reason=None)
    first["candidates"][0]["finishReason"] = None
    assert check([first, text_response("b")]).ok


VALUES = json_values(
    "candidates", "content", "parts", "text", "functionCall", "error", "usageMetadata", "index"
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(VALUES)
def test_no_json_makes_the_check_raise(document: Any):
    check(document, "response")
    check(document, "stream")
