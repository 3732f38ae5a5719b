"""Small questions about a schema."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.tools.schemas.keywords import (
    ALLOWED,
    different,
    is_null,
    kind_of,
    merge,
    noted,
    number,
    tidy,
    type_of,
    word,
)


def test_the_allowed_words_are_the_fields_of_the_services_schema() -> None:
    from google.genai import types

    fields = {field.alias or name for name, field in types.Schema.model_fields.items()}
    assert fields >= ALLOWED
    assert fields - ALLOWED == {"additionalProperties", "defs", "ref"}  # Vertex only


def test_snake_case_is_respelt_and_nonsense_dropped() -> None:
    source = {
        "any_of": [{}],
        "min_items": 1,
        "max_properties": 2,
        "format": 5,
        "required": "x",
        "type": "object",
    }
    assert tidy(source) == {"anyOf": [{}], "minItems": 1, "maxProperties": 2, "type": "object"}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "STRING"),
        ({"type": "OBJECT"}, "OBJECT"),
        ({"type": "null"}, "NULL"),
        ({"type": "TYPE_UNSPECIFIED"}, None),
        ({"properties": {}}, "OBJECT"),
        ({"items": {}}, "ARRAY"),
        ({"pattern": "a"}, "STRING"),
        ({"minimum": 1}, "NUMBER"),
        ({}, None),
    ],
)
def test_a_missing_type_is_guessed(schema: dict[str, Any], kind: str | None) -> None:
    assert kind_of(schema) == kind


def test_null_is_known_in_every_spelling() -> None:
    assert all(map(is_null, ({"type": "null"}, {"type": "NULL"}, {"const": None}, {"enum": [None]})))
    assert not any(map(is_null, ({}, {"type": "string"}, {"enum": [None, 1]}, True)))


def test_bounds_are_numbers_or_nothing() -> None:
    assert [number(v) for v in (1, 1.5, "12", "-3")] == [1, 1.5, 12, -3]
    assert [number(v) for v in (True, None, "many", float("nan"), [1])] == [None] * 5


def test_what_is_merged_holds_together() -> None:
    first = {"type": "object", "properties": {"a": 1}, "required": ["a"], "title": "A"}
    second = {"properties": {"b": 2}, "required": ["b", "a"], "title": "B"}
    assert merge(first, second) == {
        "type": "object",
        "properties": {"a": 1, "b": 2},
        "required": ["a", "b"],
        "title": "B",
    }


def test_repetitions_and_whole_numbers_among_numbers_go() -> None:
    assert different([{"type": "INTEGER"}, {"type": "NUMBER"}, {"type": "NUMBER"}]) == [{"type": "NUMBER"}]


def test_a_default_of_another_type_is_left_out() -> None:
    assert noted({"type": "NUMBER"}, {"default": "1.5", "example": 2}, False, "") == {
        "type": "NUMBER",
        "example": 2,
    }


def test_values_and_schemas_have_words() -> None:
    assert [type_of(v) for v in ("", True, 1, 1.0, None, [])] == [
        "STRING",
        "BOOLEAN",
        "INTEGER",
        "NUMBER",
        "NULL",
        "OTHER",
    ]
    assert word({"anyOf": [{"type": "STRING"}, {"type": "ARRAY"}]}) == "string or array"
    assert word(True) == "true"
