"""The checks and the fake server say the same, though neither was written from the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from livetools.formats import check
from livetools.testing.schema import read

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "testing" / "client_frames.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def response(**changes: Any) -> dict[str, Any]:
    whole = {"id": "1", "name": "f", "response": {"output": 1}, **changes}
    return {"toolResponse": {"functionResponses": [whole]}}


def turn(**changes: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": "1", "name": "f", "response": {"output": 1}}}
    return {"clientContent": {"turns": [{"role": "user", "parts": [part], **changes}], "turnComplete": True}}


def declared(**schema: Any) -> dict[str, Any]:
    tool = {"name": "f", "description": "F.", "parameters": {"type": "OBJECT", "properties": {"x": schema}}}
    return {"setup": {"model": "models/gemini-3.8-live", "tools": [{"functionDeclarations": [tool]}]}}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "refused" not in row], ids=lambda row: str(row["frame"])[:60]
)
def test_no_text_of_the_service_is_found_for_frames_that_it_took(row: dict[str, Any]):
    assert [finding for finding in check(row["frame"]).faults if finding.service_text] == []


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if "refused" in row and row["frame"].keys() & {"toolResponse", "clientContent"}],
    ids=lambda row: str(row["frame"])[:60],
)
def test_frames_that_the_service_refused_are_found_with_its_text(row: dict[str, Any]):
    assert any(row["refused"][1] in finding.service_text for finding in check(row["frame"]).faults)


@pytest.mark.parametrize("frame", [response(), turn(), declared(type="string")], ids=str)
def test_what_both_take(frame: dict[str, Any]):
    assert read(frame)[1] == []
    assert check(frame).ok


@pytest.mark.parametrize(
    "frame",
    [
        response(response="text"),
        response(response=5),
        response(response=[{"status": "sent"}]),
        response(scheduling="SOON"),
        response(functionCallId="1"),
        {"toolResponse": {"functionResponse": {}}},
        {"toolResponse": {"functionResponses": {}}},
        {"functionResponses": []},
        {"functionResponse": {}},
        {"BidiGenerateContentToolResponse": {"functionResponses": []}},
        turn(parts=[{"functionResponse": {"id": "1", "name": "f", "response": "text"}}]),
        turn(functionResponse={}),
        turn(content="hi"),
        {"clientContent": {"contents": []}},
        {"clientContent": {"turns": ["hi"]}},
        declared(type="STRING", const="x"),
        declared(type="OBJECT", properties={"y": {"$ref": "#/x"}}),
        declared(type="text"),
    ],
    ids=str,
)
def test_what_both_refuse_with_the_same_words(frame: dict[str, Any]):
    reason = read(frame)[1][0].reason
    texts = [finding.service_text for finding in check(frame).faults]
    assert any(text and reason.startswith(text.split(" (")[0]) for text in texts), (reason, texts)
