"""JSON Schema in the subset that Live reads."""

from __future__ import annotations

import datetime
import enum
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

from livetools.tools import Tool
from livetools.tools.schemas.live_subset import ALLOWED, parameters, reduce

TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}


def sound(schema: dict[str, Any]) -> None:
    """Everything that the service is known to refuse, asserted away."""
    assert schema.keys() <= ALLOWED, schema
    if "anyOf" in schema:
        assert schema.keys() == {"anyOf"}, schema
        assert len(schema["anyOf"]) > 1
        for member in schema["anyOf"]:
            assert "anyOf" not in member
            sound(member)
        return
    assert schema["type"] in TYPES, schema
    if schema["type"] == "ARRAY":
        sound(schema["items"])
    if schema["type"] == "OBJECT":
        assert schema["properties"]
        assert set(schema.get("required", ())) <= schema["properties"].keys()
        for inner in schema["properties"].values():
            sound(inner)
    if "enum" in schema:
        assert schema["type"] == "STRING"
        assert all(isinstance(value, str) and value for value in schema["enum"])
    assert schema.get("format", "date-time") == "date-time"
    json.dumps(schema, allow_nan=False)


# (JSON Schema, its reduction, what was lost)
CASES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({"type": "string"}, {"type": "STRING"}, []),
    ({"type": "STRING", "nullable": True}, {"type": "STRING", "nullable": True}, []),
    ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}, []),
    ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}, []),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "INTEGER", "nullable": True}, []),
    ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "NUMBER"}, []),
    (
        {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}], "description": "which", "default": 3},
        {
            "anyOf": [
                {"type": "INTEGER", "description": "which", "nullable": True, "default": 3},
                {"type": "STRING", "description": "which", "nullable": True},
            ]
        },
        [],
    ),
    ({"const": "a"}, {"type": "STRING", "enum": ["a"]}, []),
    ({"enum": ["a", "b", None, "a"]}, {"type": "STRING", "enum": ["a", "b"], "nullable": True}, []),
    (
        {"enum": ["", "b"]},
        {"type": "STRING", "enum": ["b"]},
        ["the arguments: the empty text cannot be a value of an enum"],
    ),
    (
        {"enum": [1, 3]},
        {"type": "INTEGER", "minimum": 1, "maximum": 3, "description": "one of 1, 3"},
        ["the arguments: one of 1, 3 is only described: an enum holds texts"],
    ),
    (
        {"enum": [1, 3], "x-enum-varnames": ["LOW", "HIGH"], "description": "how loud"},
        {"type": "INTEGER", "minimum": 1, "maximum": 3, "description": "how loud (one of 1 (LOW), 3 (HIGH))"},
        ["the arguments: one of 1 (LOW), 3 (HIGH) is only described: an enum holds texts"],
    ),
    ({"enum": ["a", True]}, {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "BOOLEAN", "description": "always true"}]}, []),  # noqa: E501  # a table
    ({"enum": [True, False]}, {"type": "BOOLEAN"}, []),
    ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 5}, {"type": "INTEGER", "minimum": 1, "maximum": 4}, []),  # noqa: E501  # a table
    (
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "NUMBER", "minimum": 0},
        ["the arguments: exclusiveMinimum 0 is declared as minimum"],
    ),
    ({"type": "integer", "minimum": "5"}, {"type": "INTEGER", "minimum": 5}, []),
    ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, {"type": "INTEGER", "minimum": 1}, []),
    ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}, []),
    ({"type": "string", "format": "uuid"}, {"type": "STRING", "description": "a UUID"}, []),
    ({"type": "string", "contentEncoding": "base64"}, {"type": "STRING", "description": "base64"}, []),
    ({"type": "integer", "format": "int64"}, {"type": "INTEGER"}, []),
    (
        {"type": "array"},
        {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}},
        ["[]: no type hint; declared as string, number or boolean"],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]},
        {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": 2, "maxItems": 2},
        [],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        {
            "type": "ARRAY",
            "items": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]},
            "minItems": 2,
            "maxItems": 2,
            "description": "in this order: integer, string",
        },
        ["the arguments: the order of its items (integer, string) is only described"],
    ),
    (
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        {"type": "ARRAY", "items": {"type": "STRING"}, "description": "each only once"},
        [],
    ),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {
            "type": "OBJECT",
            "properties": {"any_name": {"type": "INTEGER"}},
            "description": "an object with keys of your choice, not only 'any_name'; each value: integer",
        },
        ["the arguments: any keys, only described; a model may send none but 'any_name'. A list is safer"],
    ),
    (
        {
            "type": "object",
            "properties": {"b": {"type": "string", "title": "B"}, "a": {"type": "string", "title": "First"}},
            "required": ["a", "z"],
            "propertyOrdering": ["a"],
            "additionalProperties": False,
        },
        {
            "type": "OBJECT",
            "properties": {"b": {"type": "STRING"}, "a": {"type": "STRING", "title": "First"}},
            "required": ["a"],
            "propertyOrdering": ["a", "b"],
        },
        [],
    ),
    (
        {"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"y": {"type": "integer"}}, "required": ["y"]}],
         "$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}}},
        {
            "type": "OBJECT",
            "properties": {"x": {"type": "STRING"}, "y": {"type": "INTEGER"}},
            "required": ["x", "y"],
        },
        [],
    ),
    (
        {"type": "string", "not": {"const": "x"}, "$comment": "c", "x-mine": 1},
        {"type": "STRING"},
        ["the arguments: not cannot be declared"],
    ),
    (
        {"$ref": "other.json#/X"},
        {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]},
        [
            "the arguments: other.json#/X is not found; any value",
            "the arguments: no type hint; declared as string, number or boolean",
        ],
    ),
    ({"type": "string", "examples": ["Oslo"], "default": "Rome"}, {"type": "STRING", "example": "Oslo", "default": "Rome"}, []),  # noqa: E501  # a table
    ({"type": "null"}, {"type": "STRING", "description": "null", "nullable": True}, []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "wanted", "lost"), CASES)
def test_each_keyword_is_said_or_listed_as_lost(
    source: dict[str, Any], wanted: dict[str, Any], lost: list[str]
) -> None:
    before = json.dumps(source)
    schema, losses = reduce(source)
    assert schema == wanted
    assert losses == lost
    sound(schema)
    assert json.dumps(source) == before


def test_a_reduction_is_its_own_reduction() -> None:
    for source, wanted, _ in CASES:
        if "any_name" not in json.dumps(wanted) and "null" not in json.dumps(source):
            assert reduce(wanted) == (wanted, []), wanted


def test_a_type_that_holds_itself_is_unrolled_and_ends_in_an_empty_array() -> None:
    node = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
        "required": ["v", "kids"],
    }
    schema, losses = reduce({"$ref": "#/$defs/N", "$defs": {"N": node}})
    sound(schema)
    for _ in range(2):
        schema = schema["properties"]["kids"]["items"]
    assert schema["properties"]["kids"]["maxItems"] == 0
    assert losses == ["kids[].kids[].kids[]: N holds itself; 3 levels are declared"]


def test_an_optional_member_that_holds_its_type_is_left_out_at_the_bottom() -> None:
    linked = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["v", "next"],
    }
    schema, _ = reduce(linked)
    sound(schema)
    bottom = schema["properties"]["next"]["properties"]["next"]["properties"]["next"]["properties"]["next"]
    assert bottom == {"type": "STRING", "description": "null", "nullable": True}


def test_many_types_that_hold_each_other_stay_small() -> None:
    names = [f"T{i}" for i in range(12)]
    each = {"type": "object", "properties": {n: {"$ref": f"#/$defs/{n}"} for n in names}}
    schema, losses = reduce({"$ref": "#/$defs/T0", "$defs": dict.fromkeys(names, each)})
    sound(schema)
    assert len(json.dumps(schema)) < 100_000
    assert any("left out" in line or "levels are declared" in line for line in losses)


@pytest.mark.parametrize(
    "source",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}]},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]},
        {"type": "spaceship"},
        {"properties": {"x": 5}},
        {"enum": [{"a": 1}]},
        {"anyOf": []},
        {"type": []},
        {"required": "x", "properties": {"x": True}},
    ],
)
def test_nonsense_becomes_some_sound_schema(source: dict[str, Any]) -> None:
    sound(reduce(source)[0])


def test_a_schema_nested_beyond_reason_ends() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        deep = {"type": "object", "properties": {"x": deep}}
    sound(reduce(deep)[0])


@pytest.mark.parametrize("source", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_function_without_arguments_has_no_parameters(source: dict[str, Any]) -> None:
    assert parameters(source) == (None, [])


def test_arguments_of_several_kinds_become_one_object() -> None:
    text = {"type": "string"}
    both = {"type": "object", "properties": {"a": text, "b": text}, "required": ["a", "b"]}
    one = {"type": "object", "properties": {"a": text}, "required": ["a"]}
    schema, losses = parameters({"anyOf": [both, one]})
    assert schema is not None
    assert (list(schema["properties"]), schema["required"]) == (["a", "b"], ["a"])
    assert losses == ["the arguments: of several kinds; declared as one object with the properties of all"]


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    A = 1
    B = "b"
    C = None


@dataclass
class Node:
    """A node."""

    value: int
    children: list[Node] = field(default_factory=list)
    next: Node | None = None


class Item(BaseModel):
    name: str = Field(description="what it is called", examples=["tea"])
    price: Decimal = Decimal(1)
    kind: Literal["item"] = "item"


class Box(BaseModel):
    kind: Literal["box"]
    content: list[Item | Box]


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    unit: str
    days: int


SIMPLE = [
    int,
    str,
    float,
    bool,
    bytes,
    Any,
    object,
    None,
    list,
    dict,
    tuple,
    set,
    Decimal,
    UUID,
    Path,
    JsonValue,
]
TIMES = [datetime.date, datetime.datetime, datetime.timedelta, datetime.time]
CLASSES = [Colour, Level, Mixed, Node, Item, Box, Point, Options]
FORMS: list[Any] = [
    Literal["a", "b"],
    Literal[1, 2],
    Literal["a", 1, None, True],
    Annotated[int, Field(gt=0, description="n")],
    Annotated[str, Field(pattern="^a", max_length=3)],
    Annotated[Item | Box, Field(discriminator="kind")],
]
LEAVES = st.sampled_from([*SIMPLE, *TIMES, *CLASSES, *FORMS])
ANNOTATIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda a: list[a], inner)
        | st.builds(lambda a: Sequence[a], inner)
        | st.builds(lambda a: dict[str, a], inner)
        | st.builds(lambda a, b: tuple[a, b], inner, inner)
        | st.builds(lambda a: tuple[a, ...], inner)
        | st.builds(lambda a, b: Union[a, b], inner, inner)  # noqa: UP007  # made at run time
        | st.builds(lambda a: a | None if a is not None else a, inner)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, derandomize=True)  # the first example imports google-genai
@given(
    annotations=st.lists(ANNOTATIONS, min_size=1, max_size=3), defaults=st.lists(st.none() | st.integers())
)
def test_no_annotation_makes_a_schema_that_the_service_refuses(
    annotations: list[Any], defaults: list[int | None]
) -> None:
    from google.genai import types

    def f(a=None, b=None, c=None) -> None:  # type: ignore[no-untyped-def]  # annotated below
        """Does it."""

    f.__annotations__ = dict(zip("abc", annotations, strict=False))
    f.__defaults__ = tuple(defaults[:3]) if len(defaults) >= 3 else ()
    declaration = Tool(f).declaration()
    sound(declaration["parameters"])
    types.FunctionDeclaration(**declaration)


EXAMPLES = {
    "a date such": "2026-01-31",
    "a time such": "09:30:00",
    "a duration such": "PT90S",
    "a UUID": "12345678-1234-5678-1234-567812345678",
    "base64": "AP8=",
}


def sayable(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a model may send for a schema of the subset; numbers as JSON from a protobuf may write them."""
    if "anyOf" in schema:
        return st.one_of([sayable(member) for member in schema["anyOf"]])
    about = schema.get("description", "")
    low, high = schema.get("minimum", -9), schema.get("maximum", 9)
    match schema["type"]:
        case "INTEGER":
            said = st.integers(low, high) | st.integers(int(low), int(high)).map(float)
        case "NUMBER":
            said = st.floats(low, high)
        case "BOOLEAN":
            said = st.just(True) if "always true" in about else st.booleans()
        case "ARRAY":
            least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
            said = st.lists(sayable(schema["items"]), min_size=least, max_size=most)
        case "OBJECT":
            known = {name: sayable(inner) for name, inner in schema["properties"].items()}
            required = {name: known.pop(name) for name in schema.get("required", ())}
            said = st.fixed_dictionaries(required, optional=known)
        case _:
            said = sayable_text(schema, about)
    return said | st.none() if schema.get("nullable") else said


def sayable_text(schema: dict[str, Any], about: str) -> st.SearchStrategy[Any]:
    if about.endswith("null"):
        return st.none()
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "pattern" in schema:
        return st.just("ab")
    if "format" in schema:
        return st.just("2026-01-31T00:00:00Z")
    fixed = [text for words, text in EXAMPLES.items() if words in about]
    return st.just(fixed[0]) if fixed else st.text(max_size=5)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(annotation=ANNOTATIONS, data=st.data())
def test_whatever_is_declared_is_accepted(annotation: Any, data: st.DataObject) -> None:
    def f(a) -> None: ...  # type: ignore[no-untyped-def]  # annotated below

    f.__annotations__ = {"a": annotation}
    declared = Tool(f).declaration()["parameters"]
    if "in this order" not in json.dumps(declared):  # that order is only described
        Tool(f).bind(data.draw(sayable(declared)), None)


SCHEMAS = st.recursive(
    st.sampled_from([{}, True, {"type": "string"}, {"type": "null"}, {"$ref": "#/$defs/D"}, {"enum": ["a", 1, None]}])
    | st.dictionaries(
        st.sampled_from(["type", "const", "format", "minimum", "pattern", "title", "default", "nullable", "$ref"]),
        st.sampled_from(["string", "object", "array", "integer", 1, True, None, "x", ["string", "null"]]),
    ),
    lambda inner: (
        st.builds(lambda s: {"type": "array", "items": s}, inner)
        | st.builds(lambda s: {"anyOf": s}, st.lists(inner))
        | st.builds(lambda s: {"oneOf": s, "description": "one"}, st.lists(inner))
        | st.builds(lambda s: {"allOf": s}, st.lists(inner))
        | st.builds(lambda s: {"prefixItems": s}, st.lists(inner))
        | st.builds(lambda s: {"additionalProperties": s}, inner)
        | st.builds(lambda s: {"properties": s, "required": list(s)}, st.dictionaries(st.text(), inner))
        | st.builds(lambda s: {"$defs": {"D": s}, "anyOf": [s, {"type": "string"}]}, inner)
    ),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None, derandomize=True)
@given(source=SCHEMAS)
def test_no_foreign_schema_makes_one_that_the_service_refuses(source: Any) -> None:
    schema, losses = reduce(source if isinstance(source, dict) else {})
    sound(schema)
    assert all(": " in line for line in losses)
