"""Tools, calls and results there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.errors import ConfigError
from livetools.formats import (
    from_declaration,
    json_schema,
    to_declaration,
    to_declarations,
    to_function_call,
    to_function_response,
    to_tool_call,
    to_tool_result,
)
from livetools.formats.converters.openai_and_anthropic import shape_of, to_declaration_and_losses

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT = {"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": SCHEMA}}
RESPONSES = {"type": "function", "name": "weather", "description": "Weather.", "parameters": SCHEMA}
ANTHROPIC = {"name": "weather", "description": "Weather.", "input_schema": SCHEMA}


@pytest.mark.parametrize(
    ("tool", "style"), [(CHAT, "chat"), (RESPONSES, "responses"), (ANTHROPIC, "anthropic")]
)
def test_a_tool_of_any_shape_becomes_a_declaration_and_comes_back(tool: Any, style: Any):
    assert shape_of(tool) == style
    declaration = to_declaration(tool)
    types.FunctionDeclaration.model_validate(declaration)
    assert declaration["parameters"]["properties"]["city"]["type"] == "STRING"
    lossless = to_declaration(tool, "json_schema")
    types.FunctionDeclaration.model_validate(lossless)
    assert lossless["parametersJsonSchema"] == SCHEMA
    assert from_declaration(lossless, style) == tool


def test_a_declaration_stays_one():
    declaration = {"name": "f", "description": "F.", "behavior": "NON_BLOCKING"}
    assert to_declaration(declaration) == declaration
    assert to_declaration(from_declaration(declaration, "anthropic")) == {"name": "f", "description": "F."}


def test_what_a_schema_loses_is_said():
    tool = {
        "name": "f",
        "input_schema": {"type": "object", "properties": {"x": {"type": "string", "not": {}}}},
    }
    declaration, losses = to_declaration_and_losses(tool)
    assert declaration["parameters"]["type"] == "OBJECT"
    assert losses


@pytest.mark.parametrize(
    "tool", [{}, {"type": "web_search"}, {"name": 5}, {"type": "web_search", "name": "x"}]
)
def test_what_is_no_tool_is_an_error(tool: Any):
    with pytest.raises(ConfigError, match="not a tool"):
        to_declaration(tool)


def test_a_schema_of_the_subset_reads_as_json_schema():
    schema = {
        "type": "OBJECT",
        "properties": {
            "a": {"type": "STRING", "nullable": True, "enum": ["x"]},
            "b": {"type": "ARRAY", "items": {"type": "INTEGER", "example": 3}},
            "c": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": True},
        },
    }
    assert json_schema(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", None]},
            "b": {"type": "array", "items": {"type": "integer", "examples": [3]}},
            "c": {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "null"}]},
        },
    }


names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "integer", "minimum": 1},
        {"type": "number"},
        {"type": "boolean", "description": "Whether."},
        {"type": ["string", "null"]},
    ]
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(names, inner, min_size=1, max_size=3)
    return properties.map(lambda p: {"type": "object", "properties": p, "required": sorted(p)[:1]})


schemas = objects(
    st.recursive(leaves, lambda s: objects(s) | s.map(lambda i: {"type": "array", "items": i}), max_leaves=5)
)
words = st.text(min_size=1, max_size=20)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(names, words, schemas, st.sampled_from(["chat", "responses", "anthropic"]))
def test_round_trips_of_tools(name: str, description: str, schema: Any, style: Any):
    declared = {"name": name, "description": description, "parametersJsonSchema": schema}
    assert to_declaration(from_declaration(declared, style), "json_schema") == declared
    lowered = to_declaration(declared)
    assert to_declaration(from_declaration(lowered, style)) == lowered
    types.FunctionDeclaration.model_validate(lowered)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(max_size=6), json_values, max_size=4)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(words, names, json_objects, st.sampled_from(["chat", "responses", "anthropic"]))
def test_round_trips_of_calls_and_results(id: str, name: str, value: Any, style: Any):
    call = {"id": id, "name": name, "args": value}
    assert to_function_call(to_tool_call(call, style)) == call
    assert to_function_call(call) == call
    response = {"id": id, "name": name, "response": value}
    assert to_function_response(to_tool_result(response, style), {id: name}) == response


def test_a_call_without_an_id_gets_one():
    made = to_tool_call({"name": "f"}, new_id=lambda: "call_1")
    assert made == {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert to_tool_call({"name": "f"})["id"] != to_tool_call({"name": "f"})["id"]


def test_arguments_are_text_there_and_an_object_here():
    made = to_tool_call({"id": "1", "name": "f", "args": {"city": "Tromsø"}})
    assert made["function"]["arguments"] == '{"city": "Tromsø"}'
    for nothing in ("", None, "null"):
        assert to_function_call({"id": "1", "function": {"name": "f", "arguments": nothing}})["args"] == {}


@pytest.mark.parametrize("arguments", ["{", "[1]", "5", 5])
def test_arguments_that_are_no_object_are_an_error(arguments: Any):
    with pytest.raises(ConfigError, match="arguments of f"):
        to_function_call({"id": "1", "function": {"name": "f", "arguments": arguments}})


@pytest.mark.parametrize(
    ("result", "response"),
    [
        ({"role": "tool", "tool_call_id": "1", "content": "12 °C"}, {"output": "12 °C"}),
        ({"role": "tool", "tool_call_id": "1", "content": '{"t": 12}'}, {"t": 12}),
        ({"role": "tool", "tool_call_id": "1", "content": "[12]"}, {"output": "[12]"}),
        ({"role": "tool", "tool_call_id": "1", "content": None}, {"output": ""}),
        (
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}] * 2},
            {"output": "aa"},
        ),
        ({"type": "function_call_output", "call_id": "1", "output": "x"}, {"output": "x"}),
        ({"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}, {"error": "no"}),
    ],
)
def test_results_of_other_shapes(result: Any, response: Any):
    assert to_function_response(result, {"1": "f"}) == {"id": "1", "name": "f", "response": response}


def test_a_result_that_cannot_be_paired_is_an_error():
    with pytest.raises(ConfigError, match="no call has the id"):
        to_function_response({"tool_call_id": "2", "content": ""}, {"1": "f"})
    with pytest.raises(ConfigError, match="has no id"):
        to_tool_result({"name": "f", "response": {}})


def test_declarations_of_many_shapes_are_plain_json():
    made = json.loads(json.dumps(to_declarations([CHAT, RESPONSES, ANTHROPIC])))
    assert [declaration["name"] for declaration in made] == ["weather"] * 3
    assert made[0] == made[1] == made[2]
