"""Declarations and their schemas."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from support.json_values import json_values

from livetools.formats import check


def declared(**changes: Any) -> dict[str, Any]:
    schema = {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}, "required": ["x"]}
    declaration = {"name": "f", "description": "F.", "parameters": schema, **changes}
    return {"functionDeclarations": [{k: v for k, v in declaration.items() if v is not ...}]}


def parameter(**schema: Any) -> dict[str, Any]:
    return declared(parameters={"type": "OBJECT", "properties": {"x": schema}})


def foreign(**schema: Any) -> dict[str, Any]:
    return {"name": "f", "description": "F.", "input_schema": {"type": "object", "properties": {"x": schema}}}


@pytest.mark.parametrize(
    ("tool", "broken"),
    [
        (declared(), set()),
        (declared(parameters=...), set()),
        (declared(description=...), {"tool-description"}),
        (declared(name="1st"), {"tool-name"}),
        (declared(name="x" * 65), {"tool-name"}),
        (declared(name="a.b:c-d"), set()),
        (declared(parametersJsonSchema={}), {"tool-one-schema"}),
        (declared(strict=True), {"unknown-field"}),
        (declared(parameters={"type": "STRING"}), {"tool-schema-object"}),
        (declared(parameters={"type": "OBJECT", "properties": {}}), {"tool-properties"}),
        (parameter(type="string"), set()),
        (parameter(type=["string", "null"]), {"tool-type"}),
        (parameter(type="text"), {"tool-type"}),
        (parameter(type="ARRAY"), {"tool-items"}),
        (parameter(type="ARRAY", items={"$ref": "#/x"}), {"tool-keyword"}),
        (parameter(anyOf=[{"const": 1}]), {"tool-keyword"}),
        (parameter(any_of=[{"type": "STRING"}], min_items=1), set()),
        (parameter(type="STRING", additionalProperties=False), {"tool-keyword"}),
        (parameter(type="OBJECT", properties={"a": {}}, required=["b"]), {"tool-required"}),
        ({"googleSearch": {}}, set()),
        ({"type": "function", "function": {"name": "f", "description": "F."}}, set()),
        (foreign(type="string", contentSchema={}), {"tool-lossless"}),
        (foreign(type="string"), set()),
        (
            {"type": "function", "function": {"name": "f", "description": "F.", "parameters": 5}},
            {"tool-schema-object"},
        ),
        ([{"type": "web_search"}], {"tool-object"}),
        (["f"], {"tool-object"}),
    ],
)
def test_tools(tool: Any, broken: set[str]):
    assert {finding.rule for finding in check(tool, "tools").findings} == broken


def test_two_tools_of_one_name_are_found_whatever_their_shapes():
    tools = [declared(), {"name": "f", "description": "F.", "input_schema": {}}]
    assert [finding.rule for finding in check(tools).faults] == ["tool-unique"]


def test_an_unknown_keyword_is_refused_with_its_path():
    (finding,) = check([parameter(type="STRING", const=1)]).faults
    assert finding.service_text == (
        'Invalid JSON payload received. Unknown name "const" at '
        "'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field."
    )


def test_a_setup_has_its_tools_checked():
    frame = {"setup": {"model": "models/gemini-3.8-live", "tools": [declared(name="1st")]}}
    (finding,) = check(frame).faults
    assert finding.path == "$.setup.tools[0].functionDeclarations[0].name"


VALUES = json_values(
    "functionDeclarations", "name", "parameters", "type", "items", "properties", "required", "anyOf"
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(VALUES)
def test_no_json_makes_the_check_raise(document: Any):
    check(document, "tools")


WRONG = [{"type": "strin"}, {"type": ["string", "nul"]}, {"type": 5}, {"anyOf": [{"type": "strin"}]}]
WRONG += [
    {"type": "array", "items": {"type": "strin"}},
    {"type": "array", "prefixItems": [{"type": "strin"}]},
]
WRONG += [{"type": "object", "additionalProperties": {"type": "strin"}}, {"$defs": {"a": {"type": "strin"}}}]
RIGHT = [
    {"type": "string"},
    {"type": "STRING"},
    {"type": ["string", "null"]},
    True,
    {},
    {"enum": [{"type": "strin"}]},
]
RIGHT += [{"type": "object", "properties": {"type": {"type": "string"}}}, {"const": {"type": "strin"}}]


@pytest.mark.parametrize("shape", ["responses", "chat", "anthropic", "json_schema", "response"])
@pytest.mark.parametrize(
    ("schema", "right"), [*((each, False) for each in WRONG), *((each, True) for each in RIGHT)]
)
def test_a_type_that_json_schema_does_not_have_is_a_fault(shape, schema, right):
    whole = {"type": "object", "properties": {"x": schema}}
    named = {"name": "f", "description": "F."}
    tool = {
        "responses": {"type": "function", **named, "parameters": whole},
        "chat": {"type": "function", "function": {**named, "parameters": whole}},
        "anthropic": {**named, "input_schema": whole},
        "json_schema": declared(parameters=..., parametersJsonSchema=whole),
        "response": declared(responseJsonSchema=whole),
    }[shape]
    rules = {fault.rule for fault in check(tool).faults}
    assert rules == (set() if right else {"tool-json-type"})


def test_the_schema_of_a_response_is_checked_as_that_of_the_parameters_is():
    (fault,) = check(declared(response={"type": "OBJECT", "properties": {"x": {"type": "strin"}}})).faults
    assert (fault.rule, fault.path) == ("tool-type", "$.functionDeclarations[0].response.properties.x.type")
