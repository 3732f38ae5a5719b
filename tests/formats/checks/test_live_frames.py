"""A session's frames together: every call answered once, by the right answer."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.formats import check


def asked(*ids: str, connection: int = 1) -> dict[str, Any]:
    calls = [{"id": id, "name": f"f{id}", "args": {}} for id in ids]
    return {
        "direction": "server",
        "connection": connection,
        "message": {"toolCall": {"functionCalls": calls}},
    }


def gave(*ids: str, connection: int = 1, **more: Any) -> dict[str, Any]:
    responses = [{"id": id, "name": f"f{id}", "response": {"output": 1}, **more} for id in ids]
    message = {"toolResponse": {"functionResponses": responses}}
    return {"direction": "client", "connection": connection, "message": message}


def as_content(*ids: str) -> dict[str, Any]:
    parts = [{"functionResponse": {"id": id, "name": f"f{id}", "response": {}}} for id in ids]
    turn = {"role": "user", "parts": parts}
    return {
        "direction": "client",
        "connection": 1,
        "message": {"clientContent": {"turns": [turn], "turnComplete": True}},
    }


def took_back(*ids: str) -> dict[str, Any]:
    return {"direction": "server", "connection": 1, "message": {"toolCallCancellation": {"ids": list(ids)}}}


CLOSE = {"direction": "server", "connection": 1, "message": {"_close": {"code": 1006, "reason": ""}}}
RESUME = {
    "direction": "client",
    "connection": 1,
    "message": {"setup": {"model": "models/x", "session_resumption": {"handle": "h"}}},
}
SETUP = {"direction": "client", "connection": 1, "message": {"setup": {"model": "models/gemini-3.8-live"}}}


@pytest.mark.parametrize(
    ("rows", "broken"),
    [
        ([SETUP, asked("1"), gave("1")], set()),
        ([asked("1", "2"), gave("2"), gave("1")], set()),
        ([asked("1", "2"), gave("1", "2")], set()),
        ([asked("1"), as_content("1")], set()),
        ([asked("1"), gave("1", willContinue=True), gave("1", willContinue=False)], set()),
        ([asked("1"), took_back("1")], set()),
        ([asked("1")], {"call-answered"}),
        ([asked("1", "2"), gave("1")], {"call-answered"}),
        ([asked("1"), gave("1"), gave("1")], {"answered-once"}),
        ([asked("1"), took_back("1"), gave("1")], {"answered-once"}),
        ([asked("1"), gave("1"), gave("2")], {"answer-known"}),
        ([asked("1"), gave("1", name="g")], {"response-name-match"}),
        ([asked("1"), gave("1", connection=2)], {"call-answered", "answer-known"}),
        ([asked("1"), CLOSE], set()),
        ([asked("1"), {**CLOSE, "direction": "client"}], {"call-answered"}),
        ([asked("1"), CLOSE, SETUP, gave("1")], {"answer-known"}),
        ([asked("1"), CLOSE, RESUME, gave("1")], set()),
        ([{}], set()),
        ([{"version": 1}, SETUP, asked("1"), gave("1")], set()),
        ([{"direction": "client", "message": {"_text": "x"}}], set()),
        ([5], {"value-type"}),
    ],
)
def test_recordings(rows: list[Any], broken: set[str]):
    assert {finding.rule for finding in check(rows, "recording").findings} == broken


def test_calls_without_ids_are_paired_by_name():
    call = {"toolCall": {"functionCalls": [{"name": "f", "args": {}}]}}
    answer = {"toolResponse": {"functionResponses": [{"name": "f", "response": {}}]}}
    assert {finding.rule for finding in check([call, answer]).findings} == {"response-id"}


def test_a_history_in_client_content_is_checked_as_a_conversation():
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    user = {"role": "user", "parts": [{"text": "hi"}]}
    report = check({"clientContent": {"turns": [user, call, user]}})
    assert [(finding.rule, finding.path) for finding in report.faults] == [
        ("response-count", "$.clientContent.turns[1]")
    ]


def test_a_single_frame_of_the_server_is_no_fault():
    assert check({"serverContent": {"turnComplete": True}}).ok
    assert check(asked("1")["message"]).ok  # who answers it stands in another frame
    wrong = {"tool_call": {"function_calls": [{"id": "1", "name": "f", "args": "{}"}]}}
    assert [(finding.rule, finding.path) for finding in check(wrong).faults] == [
        ("call-args", "$.tool_call.function_calls[0].args")
    ]
    assert [finding.rule for finding in check(5, "frame").faults] == ["value-type"]


def test_frames_without_a_direction_are_told_by_their_keys():
    rows = [SETUP["message"], {"setupComplete": {}}, asked("1")["message"], gave("1")["message"]]
    report = check(rows)
    assert (report.kind, report.findings) == ("recording", ())
    assert "call-answered" in report.held


def test_the_place_is_in_the_row():
    (finding,) = check([asked("1"), gave("1", response=5)]).faults
    assert finding.path == "$[1].message.toolResponse.functionResponses[0].response"
    assert "'tool_response.function_responses[0].response'" in finding.service_text
