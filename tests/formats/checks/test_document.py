"""Documents checked whole: the table of what works, detection, texts that are no JSON."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from livetools import formats
from livetools.formats import check, check_text
from livetools.formats.checks.document import is_empty

QUESTION = {"role": "user", "parts": [{"text": "Weather in Oslo?"}]}
CALL = {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]}
EQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)


def answer(response: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"functionResponse": {"name": "weather", "response": response}}]}


def said(report: formats.Report, rule: str) -> str:
    """The service's text for the one fault of this rule."""
    (finding,) = [finding for finding in report.faults if finding.rule == rule]
    return finding.service_text


# the table, row by row


@pytest.mark.parametrize("key", ["content", "result", "output"])
def test_a_response_under_each_of_the_keys_works(key: str):
    assert check([QUESTION, CALL, answer({key: "rain"})]).ok


def test_a_string_for_a_response_is_refused():
    report = check([QUESTION, CALL, answer("text")])
    assert said(report, "response-object") == (
        "Invalid value at 'contents[2].parts[0].function_response.response' "
        '(type.googleapis.com/google.protobuf.Struct), "text"'
    )


def test_a_function_call_is_checked_by_itself_and_in_its_part():
    call = CALL["parts"][0]["functionCall"]
    for document in (call, {"functionCall": call}, [call], [{"id": "1", **call}]):
        report = check(document)
        assert report.ok
        assert report.kind == "function_call"


@pytest.mark.parametrize(
    ("document", "broken", "path"),
    [
        ({"name": "f", "args": "{}"}, "call-args", "$.args"),
        ({"functionCall": {"name": "f", "args": []}}, "call-args", "$.functionCall.args"),
        ([{"name": "f", "arguments": "{}"}], "unknown-field", "$[0].arguments"),
        ({"args": {}, "functionCall": {"args": {}}}, "call-name", "$.functionCall"),
    ],
)
def test_what_is_wrong_with_a_function_call_is_told_at_its_place(document: Any, broken: str, path: str):
    assert [(finding.rule, finding.path) for finding in check(document).faults] == [(broken, path)]


def test_a_function_response_in_the_model_role_is_refused():
    report = check([QUESTION, CALL, answer({"output": 1}, role="model")])
    text = said(report, "response-role")
    assert text == "Content with role 'model' can't contain 'functionResponse' part"


def test_a_function_response_without_parts_is_refused():
    document = {"role": "user", "functionResponse": {"name": "weather", "response": {"output": 1}}}
    text = said(check(document), "content-parts")
    assert text == (
        "Invalid JSON payload received. Unknown name \"functionResponse\" at 'contents[0]': Cannot find field."
    )


def test_two_calls_and_one_response_are_refused():
    two = {"role": "model", "parts": CALL["parts"] * 2}
    assert said(check([QUESTION, two, answer({"output": 1})]), "response-count") == EQUAL


@pytest.mark.parametrize(
    ("outer", "inner"), [("tool_response", "function_responses"), ("toolResponse", "functionResponses")]
)
def test_a_live_tool_response_with_id_name_and_response_works(outer: str, inner: str):
    assert check({outer: {inner: [{"id": "1", "name": "weather", "response": {"output": 1}}]}}).ok


def test_a_complete_client_content_with_a_function_response_works():
    assert check({"clientContent": {"turns": [answer({"output": 1})], "turnComplete": True}}).ok


@pytest.mark.parametrize("key", ["BidiGenerateContentToolResponse", "functionResponses", "functionResponse"])
def test_other_names_at_the_top_of_a_live_frame_are_refused(key: str):
    text = said(check({key: {"functionResponses": []}}), "live-message")
    assert text == f'Invalid JSON payload received. Unknown name "{key}": Cannot find field.'


def test_an_error_under_response_works_and_is_an_error():
    report = check([QUESTION, CALL, answer({"error": "no such city"})])
    assert report.ok
    assert [finding.rule for finding in report.findings if finding.level == "note"] == ["response-error"]
    assert formats.is_error({"error": "no such city"})


# more of what people send


def rules(document: Any) -> set[str]:
    return {finding.rule for finding in check(document).findings if finding.level != "note"}


def live(**changes: Any) -> dict[str, Any]:
    response = {"id": "1", "name": "f", "response": {"output": 1}, **changes}
    response = {key: value for key, value in response.items() if value is not ...}
    return {"toolResponse": {"functionResponses": [response]}}


@pytest.mark.parametrize(
    ("document", "broken"),
    [
        (live(), set()),
        (live(id=...), {"response-id"}),
        (live(name=...), {"response-name-live"}),
        (live(response=...), {"response-present"}),
        (live(response=[1]), {"response-list"}),
        (live(response="{'a': 1}"), {"response-object"}),
        (live(response={"output": 1, "scheduling": "SILENT"}), {"scheduling-place"}),
        (live(scheduling="SOON"), {"scheduling-value"}),
        (live(willContinue=True, parts=[], scheduling="INTERRUPT"), set()),
        (live(functionCallId="1"), {"unknown-field"}),
        ({"toolResponse": {"functionResponse": {"id": "1"}}}, {"unknown-field"}),
        ({"toolResponse": {"functionResponses": {"id": "1"}}}, {"live-response-list"}),
        ({"toolResponse": {"functionResponses": []}}, {"live-response-empty"}),
        ({"toolResponse": []}, {"value-type"}),
        ({"clientContent": {"turns": [answer({})]}}, {"turn-complete", "response-id-content"}),
        ({"clientContent": {"turns": [{"parts": [{"text": "hi"}]}]}}, {"turn-role"}),
        ({"clientContent": {"contents": []}}, {"unknown-field"}),
        ({"clientContent": {"turnComplete": True}}, set()),
        ({"toolResponse": live()["toolResponse"], "clientContent": {}}, {"live-message"}),
        ({"realtimeInput": {"text": "hi"}}, set()),
        ({"realtimeInput": {"words": "hi"}}, {"unknown-field"}),
        ({"id": "1", "name": "f", "response": {"output": 1}}, set()),
        ([{"id": "1", "name": "f", "response": 5}], {"response-object"}),
    ],
)
def test_what_else_is_sent(document: Any, broken: set[str]):
    assert rules(document) == broken


def test_a_finding_names_the_place_in_the_document_and_on_the_wire():
    (finding,) = check(
        {"tool_response": {"function_responses": [{"id": "1", "name": "f", "response": [1]}]}}
    ).faults
    assert finding.path == "$.tool_response.function_responses[0].response"
    assert finding.service_text == (
        'Invalid JSON payload received. Unknown name "response" at '
        "'tool_response.function_responses[0]': Proto field is not repeating, cannot start list."
    )


def test_a_python_dict_where_json_is_due_is_said_so_and_checked_all_the_same():
    report = check_text(str({"id": "1", "name": "f", "response": None, "parts": True}))
    assert [finding.rule for finding in report.findings] == ["python-text", "response-present"]
    assert report.kind == "function_response"


@pytest.mark.parametrize("text", ["{", "", "not json", '{"a": NaN}', "[1] [2", "1, 2"])
def test_a_text_that_is_no_json_is_a_finding(text: str):
    assert [finding.rule for finding in check_text(text).faults] in (["json-text"], ["document-kind"])
    assert not check_text(text).ok


def test_json_within_a_json_string_is_said_so_and_checked_all_the_same():
    report = check_text(json.dumps(json.dumps(live(response=5))))
    assert [finding.rule for finding in report.faults] == ["json-twice", "response-object"]
    assert check_text('"only text"').faults[0].rule == "document-kind"


def test_server_sent_events_are_read_as_a_stream():
    chunks = formats.stream_chunks([{"text": "a"}, {"text": "b"}])
    report = check_text("".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks))
    assert (report.kind, report.ok) == ("stream", True)
    assert check_text("data: [DONE]\n\n").faults[0].rule == "json-text"


def test_json_that_is_too_deep_is_a_finding():
    assert not check_text("[" * 100_000).ok


def test_json_lines_are_read_as_a_list():
    lines = "\n".join(json.dumps(content) for content in [QUESTION, CALL, answer({"output": 1})])
    report = check_text(lines + "\n")
    assert (report.kind, report.ok) == ("conversation", True)


def test_a_document_of_no_known_kind_is_a_fault():
    assert [finding.rule for finding in check({"a": 1}).faults] == ["document-kind"]


def test_a_report_reads_as_a_checklist_and_as_json():
    report = check([QUESTION, CALL, answer("text")])
    text = str(report)
    assert "✔ roles are user and model" in text
    assert "✘ $[2].parts[0].functionResponse.response: response is a string, not an object" in text
    told = report.as_json()
    assert told["ok"] is False
    assert told["findings"][-1]["rule"] == "response-object"
    json.dumps(told)


LAWFUL: list[Any] = [
    [QUESTION, CALL, answer({"output": "rain"})],
    {
        "contents": [QUESTION, CALL, answer({"output": "rain"})],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    },
    live(),
    {"clientContent": {"turns": [answer({"output": 1})], "turnComplete": True}},
    formats.text_response("x"),
    formats.call_response({"name": "f", "args": {}}),
    formats.stream_chunks([{"text": "a"}, {"text": "b"}]),
    {
        "name": "f",
        "description": "F.",
        "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
    },
    {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}},
    [
        {
            "direction": "server",
            "connection": 1,
            "frame": {"toolCall": {"functionCalls": [{"id": "1", "name": "f"}]}},
        },
        {"direction": "client", "connection": 1, "frame": live(name="f")},
        {"direction": "server", "connection": 1, "frame": {"toolCallCancellation": {"ids": ["1"]}}},
    ],
]
ODD: list[Any] = [
    None,
    True,
    5,
    1.5,
    "text",
    "",
    [],
    {},
    [None],
    [5],
    ["x"],
    [{}],
    {"a": 5},
    [[]],
    {"": None},
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    items = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    return [found for key, inner in items for found in [(value, key), *places(inner)]]


@pytest.mark.parametrize("document", LAWFUL, ids=lambda document: str(document)[:40])
def test_whatever_stands_in_a_place_the_check_tells_and_does_not_raise(document: Any):
    assert check(document).ok
    kind = formats.detect(document)
    for number in range(len(places(document))):
        for odd in ODD:
            broken = copy.deepcopy(document)
            container, key = places(broken)[number]
            container[key] = odd
            str(check(broken, kind))
            json.dumps(check(broken).as_json())


@pytest.mark.parametrize("key", ["functionResponse", "function_response"])
@pytest.mark.parametrize("several", [True, False])
def test_a_function_response_in_its_part_is_checked_as_one(key, several):
    good = {key: {"id": "1", "name": "f", "response": {"output": 1}}}
    bad = {key: {"id": "1", "name": "f", "response": 1}}
    assert check([good, good] if several else good).ok
    report = check([good, bad] if several else bad)
    assert report.kind == "function_response"
    (fault,) = report.faults
    assert (fault.rule, fault.path) == ("response-object", f"{'$[1]' if several else '$'}.{key}.response")


@pytest.mark.parametrize("text", ["", " \n", "null", "{}", "[]", '""'])
def test_a_text_that_says_nothing_is_empty(text):
    assert is_empty(text)


@pytest.mark.parametrize("text", ["[[]]", "0", "nonsense", '{"name": "f"}', "[" * 20_000, "'{}'"])
def test_any_other_is_not(text):
    assert not is_empty(text)
