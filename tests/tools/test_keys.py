"""Objects whose keys are not free text: declared by name or by kind, read, and blamed."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import re
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from livetools import Tool
from livetools.tools import InvalidArguments
from livetools.tools.schemas.live_subset import reduce


class Side(enum.Enum):
    left = "left"
    right = "right"


class Level(enum.IntEnum):
    low = 1
    high = 2


class Holder(BaseModel):
    by_side: dict[Side, int]
    by_day: dict[datetime.date, int] = {}


def tool_for(annotation: Any) -> Tool:
    def f(x): ...  # type: ignore[no-untyped-def]

    f.__annotations__ = {"x": annotation}
    return Tool(f)


def declared(annotation: Any) -> dict[str, Any]:
    return tool_for(annotation).declaration()["parameters"]["properties"]["x"]  # type: ignore[no-any-return]


NAMED: list[tuple[Any, list[str], dict[str, Any], object]] = [
    (dict[Literal["left", "right"], int], ["left", "right"], {"left": 1}, {"left": 1}),
    (dict[Side, int], ["left", "right"], {"right": 1}, {Side.right: 1}),
    (dict[Level, int], ["1", "2"], {"1": 1, "high": 2}, {Level.low: 1, Level.high: 2}),
    (dict[Literal[1, 2], int], ["1", "2"], {"1": 1}, {1: 1}),
    (dict[Literal[Side.left], int], ["left"], {"left": 1}, {Side.left: 1}),
    (dict[bool, int], ["true", "false"], {"true": 1}, {True: 1}),
    (dict[Side | Literal["up"], int], ["left", "right", "up"], {"up": 1, "left": 2}, {"up": 1, Side.left: 2}),
    (dict[Side | None, int], ["left", "right"], {"left": 1}, {Side.left: 1}),
    (Mapping[Side, int], ["left", "right"], {"left": 1}, {Side.left: 1}),
    (collections.OrderedDict[Side, int], ["left", "right"], {"left": 1}, {Side.left: 1}),
    (collections.defaultdict[Side, int], ["left", "right"], {"left": 1}, {Side.left: 1}),
    (collections.Counter[Side], ["left", "right"], {"left": 1}, {Side.left: 1}),
]


@pytest.mark.parametrize(("annotation", "names", "given", "read"), NAMED, ids=lambda v: str(v)[:40])
def test_keys_that_are_known_are_properties(
    annotation: Any, names: list[str], given: dict[str, Any], read: object
) -> None:
    assert declared(annotation) == {"type": "OBJECT", "properties": {n: {"type": "INTEGER"} for n in names}}
    assert tool_for(annotation).arguments({"x": given}) == {"x": read}
    assert not [line for line in tool_for(annotation).lint() if "any_name" in line or "propertyNames" in line]


DAY, ID = datetime.date(2026, 1, 31), uuid.UUID(int=7)
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
KINDS: list[tuple[Any, str, dict[str, Any], object]] = [
    (dict[int, str], "a whole number", {"3": "a"}, {3: "a"}),
    (dict[float, str], "a number", {"1.5": "a"}, {1.5: "a"}),
    (dict[decimal.Decimal, str], "a number", {"1.50": "a"}, {decimal.Decimal("1.50"): "a"}),
    (dict[datetime.date, str], "a date such as 2026-01-31", {"2026-01-31": "a"}, {DAY: "a"}),
    (dict[datetime.datetime, str], "a date and time such as 2026", {f"{NOON}": "a"}, {NOON: "a"}),
    (dict[uuid.UUID, str], "a UUID", {str(ID): "a"}, {ID: "a"}),
    (dict[Annotated[str, "a city"], str], "a city", {"Oslo": "a"}, {"Oslo": "a"}),
    (dict[Annotated[str, Field(pattern="^a")], str], "text that matches ^a", {"ab": "a"}, {"ab": "a"}),
    (dict[Annotated[str, Field(max_length=2)], str], "at most 2 characters long", {"ab": "a"}, {"ab": "a"}),
    (dict[int | datetime.date, str], "a whole number or a date such as", {"3": "a"}, {3: "a"}),
]


@pytest.mark.parametrize(("annotation", "kind", "given", "read"), KINDS, ids=lambda v: str(v)[:40])
def test_keys_of_a_kind_are_described_by_it(
    annotation: Any, kind: str, given: dict[str, Any], read: object
) -> None:
    about = declared(annotation)["description"]
    assert f"each key: {kind}" in about
    assert "each value: string" in about
    assert tool_for(annotation).arguments({"x": given}) == {"x": read}


@pytest.mark.parametrize(
    ("annotation", "given", "text"),
    [
        (
            dict[Literal["left", "right"], int],
            {"up": 1},
            """the key "up" of x should be one of 'left', 'right'""",
        ),
        (
            dict[Side | int, str],
            {"up": "a"},
            """the key "up" of x should be one of 'left', 'right' or a whole number""",
        ),
        (dict[Side, int], {"up": 1}, """the key "up" of x should be one of 'left', 'right'"""),
        (dict[int, str], {"up": "a"}, 'the key "up" of x should be a whole number, not "up"'),
        (dict[datetime.date, str], {"a.b": "c"}, 'the key "a.b" of x should be a date such as'),
        (list[dict[Side, dict[int, str]]], [{"left": {"a": "b"}}], 'the key "a" of x[0].left should be'),
        (Holder, {"by_side": {"up": 1}}, """the key "up" of x.by_side should be one of 'left', 'right'"""),
        (dict[Side, int], {"left": "a"}, 'x.left should be a whole number, not "a"'),
    ],
    ids=str,
)
def test_an_error_blames_the_key_or_the_value_whichever_it_is(
    annotation: Any, given: object, text: str
) -> None:
    with pytest.raises(InvalidArguments, match=re.escape(text)):
        tool_for(annotation).arguments({"x": given})


def test_keys_inside_a_model_are_declared_too() -> None:
    properties = declared(Holder)["properties"]
    assert list(properties["by_side"]["properties"]) == ["left", "right"]
    assert "a date such as" in properties["by_day"]["description"]


def test_other_peoples_schemas_name_their_keys_as_well() -> None:
    zod = {
        "type": "object",
        "propertyNames": {"type": "string", "enum": ["left", "right"]},
        "additionalProperties": {"type": "number"},
        "required": ["left", "right"],
    }
    numbers = {"left": {"type": "NUMBER"}, "right": {"type": "NUMBER"}}
    assert reduce(zod) == ({"type": "OBJECT", "properties": numbers, "required": ["left", "right"]}, [])
    patterns, _ = reduce(
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "string"}}}
    )
    assert "each key: text that matches ^a or text that matches ^b" in patterns["description"]
    named, _ = reduce({"type": "object", "propertyNames": {"const": "a"}})
    assert list(named["properties"]) == ["a"]


@pytest.mark.parametrize(
    "names", [True, 5, "a", [], {}, {"enum": []}, {"enum": [1]}, {"$ref": "#/nowhere"}, {"anyOf": 5}]
)
def test_what_is_no_schema_of_names_does_no_harm(names: object) -> None:
    schema, _ = reduce({"type": "object", "propertyNames": names, "additionalProperties": {"type": "string"}})
    assert list(schema["properties"]) == ["any_name"]
