"""Schemas as other people write them: OpenAI, MCP, zod, pydantic, by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from livetools import Tool
from livetools.tools import InvalidArguments
from livetools.tools.schemas.keywords import ALLOWED
from livetools.tools.schemas.live_subset import reduce


def only(schema: dict[str, Any]) -> dict[str, Any]:
    """The reduction of a schema, that of a property without its name."""
    return reduce(schema)[0]


def lint(schema: dict[str, Any]) -> list[str]:
    tool = {"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {"x": schema}}}
    return [line for line in Tool(tool).lint() if "no description" not in line]


def test_an_array_with_an_enum_is_an_array_of_these() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}
    assert only(schema) == {"type": "ARRAY", "items": {"type": "STRING", "enum": ["a", "b"]}}
    assert lint(schema) == ["f: x: the enum of an array is declared for its items"]
    assert only({"type": "array", "enum": ["a"], "minItems": 1.0}) == {
        "type": "ARRAY",
        "items": {"type": "STRING", "enum": ["a"]},
        "minItems": 1,
    }
    nullable = only({"type": ["array", "null"], "items": {"type": "string"}, "enum": ["a", None]})
    assert (nullable["type"], nullable["nullable"]) == ("ARRAY", True)


@pytest.mark.parametrize("kind", ["array", "object"])
def test_an_enum_of_arrays_or_objects_leaves_the_type_as_it_is(kind: str) -> None:
    values: list[Any] = [["a"], ["b"]] if kind == "array" else [{"a": 1}, "a"]
    schema = {
        "type": kind,
        "enum": values,
        "properties": {"a": {"type": "integer"}},
        "items": {"type": "string"},
    }
    assert only(schema)["type"] == kind.upper()
    assert f"f: x: an enum of an {kind} cannot be declared" in lint(schema)


@pytest.mark.parametrize(
    ("schema", "kind", "said"),
    [
        ({"type": "number", "enum": ["1", "2.5"]}, "NUMBER", "one of 1, 2.5"),
        ({"type": "integer", "enum": ["1", "2"]}, "INTEGER", "one of 1, 2"),
        ({"type": "integer", "enum": [1.0, 2.0]}, "INTEGER", "one of 1, 2"),
        ({"type": "boolean", "enum": ["true", "false"]}, "BOOLEAN", None),
        ({"type": "boolean", "enum": ["True"]}, "BOOLEAN", "always true"),
    ],
)
def test_an_enum_in_texts_of_another_type_is_read_as_that_type_and_told(
    schema: dict[str, Any], kind: str, said: str | None
) -> None:
    made = only(schema)
    assert (made["type"], made.get("description")) == (kind, said)
    assert any("is not of its type" in line for line in lint(schema)) == (schema["enum"] != [1.0, 2.0])


@pytest.mark.parametrize("kind", ["number", "integer", "boolean"])
def test_an_enum_that_cannot_be_of_its_type_wins_and_is_told(kind: str) -> None:
    schema = {"type": kind, "enum": ["low", "high"]}
    assert only(schema) == {"type": "STRING", "enum": ["low", "high"]}
    assert lint(schema) == [f'f: x: its enum is not of its type, {kind}; declared as one of ["low", "high"]']


def test_a_text_whose_enum_is_of_numbers_is_a_text() -> None:
    schema = {"type": "string", "enum": [1, 2.5, True]}
    assert only(schema) == {"type": "STRING", "enum": ["1", "2.5", "true"]}
    assert lint(schema)


def test_of_several_types_each_has_its_own_values() -> None:
    assert only({"type": ["string", "integer"], "enum": ["a", 1]})["anyOf"][0] == {
        "type": "STRING",
        "enum": ["a"],
    }


WHOLE = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("ref", "more"),
    [
        ("#place", {"$defs": {"P": {"$anchor": "place", **WHOLE}}}),
        ("#place", {"$defs": {"P": {"$dynamicAnchor": "place", **WHOLE}}}),
        ("#place", {"definitions": {"P": {"$id": "#place", **WHOLE}}}),
        ("#/$defs/a%20b", {"$defs": {"a b": WHOLE}}),
        ("#/$defs/a%2Fb", {"$defs": {"a": {"b": WHOLE}}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": WHOLE}}),
        ("#/%24defs/P", {"$defs": {"P": WHOLE}}),
        ("#/$defs/Gen%5Bint%5D", {"$defs": {"Gen[int]": WHOLE}}),
        ("#/$defs/gr%C3%B6%C3%9Fe", {"$defs": {"größe": WHOLE}}),
        ("#/$defs/L/anyOf/1", {"$defs": {"L": {"anyOf": [{"type": "string"}, WHOLE]}}}),
        ("https://x.y/z#/$defs/P", {"$id": "https://x.y/z", "$defs": {"P": WHOLE}}),
        ("https://x.y/z#place", {"$id": "https://x.y/z", "$defs": {"P": {"$anchor": "place", **WHOLE}}}),
    ],
)
def test_references_resolve_in_every_spelling(ref: str, more: dict[str, Any]) -> None:
    made, losses = reduce({"type": "object", "properties": {"x": {"$ref": ref}}, **more})
    assert made["properties"]["x"] == {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
    assert losses == []


@pytest.mark.parametrize("keyword", ["$dynamicRef", "$recursiveRef"])
def test_other_references_are_followed_too(keyword: str) -> None:
    made = only({"type": "object", "properties": {"x": {keyword: "#/$defs/P"}}, "$defs": {"P": WHOLE}})
    assert made["properties"]["x"]["type"] == "OBJECT"


@pytest.mark.parametrize(
    "ref", ["#nowhere", "#/$defs/P/5", "https://else.where/#/a", "#/a%", "#/$defs/L/anyOf/9", "", "x"]
)
def test_a_reference_to_nothing_is_any_value_and_told(ref: str) -> None:
    made, losses = reduce({"type": "object", "properties": {"x": {"$ref": ref, "description": "it"}}})
    assert made["properties"]["x"]
    assert losses


def test_counts_are_whole_numbers() -> None:
    assert only({"type": "string", "minLength": 1.0, "maxLength": "2"}) == {
        "type": "STRING",
        "minLength": 1,
        "maxLength": 2,
    }
    made, losses = reduce({"type": "array", "items": {"type": "integer", "minimum": 1.0}, "maxItems": 2.5})
    assert made == {"type": "ARRAY", "items": {"type": "INTEGER", "minimum": 1}}
    assert isinstance(made["items"]["minimum"], int)
    assert losses == ["the arguments: maxItems 2.5 is not a whole number; left out"]
    assert only({"type": "number", "minimum": 0.5})["minimum"] == 0.5


class Place(NamedTuple):
    """Where it is."""

    x: float
    y: float = 0.0


def test_a_named_tuple_keeps_the_names_of_its_fields() -> None:
    def f(at: Place, all: list[Place]) -> None: ...

    properties = Tool(f).declaration()["parameters"]["properties"]
    fields = {"x": {"type": "NUMBER"}, "y": {"type": "NUMBER", "default": 0.0}}
    assert properties["at"]["type"] == "OBJECT"
    assert properties["at"]["properties"] == fields
    assert properties["at"]["required"] == ["x"]
    assert properties["all"]["items"]["properties"] == fields
    for sent in ({"x": 1}, [1]):
        assert Tool(f).arguments({"at": sent, "all": [sent]}) == {"at": Place(1.0), "all": [Place(1.0)]}
    with pytest.raises(InvalidArguments, match=r"at\.x is missing"):
        Tool(f).arguments({"at": {"y": 1}, "all": []})
    with pytest.raises(InvalidArguments, match=r"at\.z is not known"):
        Tool(f).arguments({"at": {"x": 1, "z": 1}, "all": []})


WORDS = ("string", "number", "integer", "boolean", "array", "object", "null", "STRING", "any")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-3, 3)
    | st.sampled_from(("", "a", "1", "true"))
)
SCHEMAS = st.recursive(
    st.booleans() | st.just({}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(WORDS) | st.lists(st.sampled_from(WORDS), max_size=2),
            "enum": st.lists(SCALARS | st.just(["a"]), max_size=3),
            "const": SCALARS,
            "items": inner | st.lists(inner, max_size=2),
            "prefixItems": st.lists(inner, max_size=2),
            "properties": st.dictionaries(st.sampled_from(("a", "b", "1")), inner, max_size=2),
            "required": st.lists(st.sampled_from(("a", "b", "1")), max_size=2),
            "propertyNames": inner,
            "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
            "additionalProperties": inner,
            "anyOf": st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "$ref": st.sampled_from(("#", "#/properties/a", "#a", "#/%", "#/anyOf/0")),
            "$anchor": st.just("a"),
            "maxLength": SCALARS,
            "minItems": SCALARS,
            "minimum": SCALARS,
            "exclusiveMaximum": SCALARS,
            "format": st.sampled_from(("date", "date-time", "zzz")),
            "nullable": st.booleans(),
            "default": SCALARS,
        },
    ),
    max_leaves=10,
)


def check(made: dict[str, Any]) -> None:
    assert made.keys() <= ALLOWED
    if "anyOf" in made:
        assert made.keys() == {"anyOf"}
        assert all("anyOf" not in one for one in made["anyOf"])
    else:
        assert made["type"] in ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT")
    if made.get("type") == "OBJECT":
        assert made["properties"]
        assert set(made.get("required", ())) <= made["properties"].keys()
    if made.get("type") == "ARRAY":
        assert made["items"]
    assert all(isinstance(value, str) and value for value in made.get("enum", ()))
    assert "enum" not in made or made["type"] == "STRING"
    for keyword in ("maxLength", "minItems"):
        assert isinstance(made.get(keyword, 1), int)
    for inner in [
        *made.get("properties", {}).values(),
        *made.get("anyOf", ()),
        *filter(None, [made.get("items")]),
    ]:
        check(inner)


@settings(deadline=None)
@given(SCHEMAS)
@example({"type": "null", "enum": [0, "a"]})
@example({"type": "null", "enum": ["a", False]})
def test_whatever_comes_is_said_in_the_words_that_the_service_reads(schema: Any) -> None:
    if isinstance(schema, dict):
        check(reduce(schema)[0])
