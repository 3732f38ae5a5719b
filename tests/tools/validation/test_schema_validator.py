"""Arguments of tools that are declared by a schema: read as those of a function are."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from livetools import Tool
from livetools.tools import InvalidArguments
from livetools.tools.validation.schema_validator import read

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["q"],
    "$defs": {"Place": {"type": "object", "properties": {"zip": {"type": "integer"}}, "required": ["zip"]}},
    "properties": {
        "q": {"type": "string"},
        "limit": {"type": "integer"},
        "price": {"type": "number"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "array", "items": {"type": "integer"}},
        "options": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        "none": {"type": ["string", "null"]},
        "nullable": {"type": "STRING", "nullable": True},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "mixed": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "place": {"$ref": "#/$defs/Place"},
        "whole": {"allOf": [{"$ref": "#/$defs/Place"}]},
        "kind": {"type": "string", "enum": ["red", "1"]},
        "size": {"enum": [1, 2, None]},
        "any": {},
        "upper": {"type": "INTEGER"},
        "by_name": {"type": "object", "additionalProperties": {"type": "integer"}},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        "more": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        "both": {
            "allOf": [
                {"$ref": "#/$defs/Place"},
                {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
            ]
        },
        "five": {"const": 5},
    },
}


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ({"limit": None}, {}),
        ({"tags": None, "options": None, "place": None}, {}),
        ({"none": None, "nullable": None, "either": None, "any": None, "size": None}, ...),
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": 5.0, "upper": "5.0"}, {"limit": 5, "upper": 5}),
        ({"price": "2.5"}, {"price": 2.5}),
        ({"price": 2}, ...),
        ({"flag": "true"}, {"flag": True}),
        ({"flag": "False"}, {"flag": False}),
        ({"tags": '["x", "y"]'}, {"tags": ["x", "y"]}),
        ({"counts": ["1", 2.0, 3]}, {"counts": [1, 2, 3]}),
        ({"options": '{"a": "1", "b": null}'}, {"options": {"a": 1}}),
        ({"options": {"a": 1.0, "more": None}}, {"options": {"a": 1, "more": None}}),
        ({"mixed": "3"}, {"mixed": 3}),
        ({"mixed": "[1, 2]"}, {"mixed": [1, 2]}),
        ({"either": "7"}, {"either": 7}),
        ({"none": "null"}, ...),
        ({"place": {"zip": "123"}, "whole": {"zip": 1.0}}, {"place": {"zip": 123}, "whole": {"zip": 1}}),
        ({"kind": 1}, {"kind": "1"}),
        ({"size": 2.0}, ...),
        ({"any": [1.0, None], "unknown": None}, ...),
        ({"by_name": {"a": "1", "b": 2.0, "c": None}}, {"by_name": {"a": 1, "b": 2}}),
        ({"pair": ["1", "2"]}, {"pair": [1, "2"]}),
        ({"more": '["1", "2", 3.0]'}, {"more": ["1", 2, 3]}),
        ({"both": '{"zip": "1", "n": 2.0}'}, {"both": {"zip": 1, "n": 2}}),
        ({"five": "5", "size": "2"}, {"five": 5, "size": 2}),
    ],
)
def test_arguments_are_what_the_schema_says(sent: dict[str, Any], got: Any) -> None:
    made = read(SCHEMA, {"q": "a", **sent}, "find")
    assert made == {"q": "a", **(sent if got is ... else got)}
    assert [type(v) for v in made.values()] == [
        type(v) for v in {"q": "a", **(sent if got is ... else got)}.values()
    ]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "q is missing"),
        ({"q": None}, "q should be text, not null"),
        ({"q": 5}, "q should be text, not 5"),
        ({"q": "a", "limit": 5.5}, "limit should be a whole number, not 5.5"),
        ({"q": "a", "limit": True}, "limit should be a whole number, not true"),
        ({"q": "a", "counts": [1, "x"]}, r"counts\[1\] should be a whole number"),
        ({"q": "a", "options": {"a": "x"}}, "options.a should be a whole number"),
        ({"q": "a", "tags": "x"}, "tags should be an array"),
        ({"q": "a", "flag": "perhaps"}, "flag should be true or false"),
        ({"q": "a", "mixed": "x"}, "mixed should be a whole number or an array"),
        ({"q": "a", "place": {}}, "place.zip is missing"),
        ({"q": "a", "kind": "blue"}, "kind should be one of red, 1"),
        ({"q": "a", "kind": ["red"]}, "kind should be one of red, 1, not an array"),
        ({"q": "a", "size": [1]}, "size should be one of 1, 2, None, not an array"),
        ({"q": "a", "price": "NaN"}, "price should be a number"),
        ({"q": "a", "by_name": {"b": "x"}}, "by_name.b should be a whole number"),
        ({"q": "a", "pair": ["x", "y"]}, r"pair\[0\] should be a whole number"),
        ({"q": "a", "both": {"zip": 1}}, "both.n is missing"),
    ],
)
def test_what_does_not_fit_is_an_error_and_the_tool_takes_is_told(sent: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArguments, match=words) as raised:
        read(SCHEMA, sent, "find")
    assert "find takes q, limit" in str(raised.value)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "declaration",
    [
        {"name": "find", "description": "f", "parameters": SCHEMA},
        {"name": "find", "description": "f", "inputSchema": SCHEMA},
        {"type": "function", "function": {"name": "find", "parameters": SCHEMA}},
        types.FunctionDeclaration(name="find", description="f", parameters_json_schema=SCHEMA),
    ],
)
async def test_the_handler_of_a_declaration_gets_what_the_schema_says_or_does_not_run(
    declaration: Any,
) -> None:
    got: list[dict[str, Any]] = []

    async def handler(**arguments: Any) -> str:
        got.append(arguments)
        return "ok"

    made = Tool(declaration, handler=handler)
    assert await made.call({"q": "a", "limit": None, "counts": '["1"]'}) == {"output": "ok"}
    assert "q is missing" in (await made.call({"limit": 1}))["error"]
    assert got == [{"q": "a", "counts": [1]}]
    assert made.arguments({"q": "a", "limit": "3"}) == {"q": "a", "limit": 3}


def test_a_schema_that_refers_to_itself_is_read_to_its_depth() -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}}}
    schema = {"type": "object", "$defs": {"Node": node}, "properties": {"first": {"$ref": "#/$defs/Node"}}}
    sent: dict[str, Any] = {"n": "0"}
    for n in range(9):
        sent = {"n": str(n), "next": sent}
    made = read(schema, {"first": sent}, "walk")
    assert made["first"]["next"]["next"]["n"] == 6
    assert read({"$ref": "#"}, {"a": None}, "loop") == {"a": None}
