"""Strict types read JSON by JSON's rules, as ``validate_json`` does."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import pathlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictBytes,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypedDict

from livetools import Tool, ToolDefinitionError
from livetools.tools import InvalidArguments


class Color(enum.Enum):
    red = "red"
    blue = "blue"


class Level(enum.IntEnum):
    low = 1


@dataclass
class Point:
    day: datetime.date
    n: int


@pydantic.dataclasses.dataclass(config=ConfigDict(strict=True))
class StrictPoint:
    day: datetime.date
    color: Color


class Fields(TypedDict):
    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]
    day: datetime.date
    n: int


class Everything(BaseModel):
    model_config = ConfigDict(strict=True)
    color: Color = Color.red
    level: Level = Level.low
    day: datetime.date = datetime.date(2026, 1, 1)
    at: datetime.datetime | None = None
    time: datetime.time | None = None
    span: datetime.timedelta | None = None
    id: uuid.UUID | None = None
    price: decimal.Decimal | None = None
    pair: tuple[int, str] | None = None
    some: set[int] | None = None
    frozen: frozenset[Color] | None = None
    path: pathlib.Path | None = None
    real: float = 0.0
    whole: int = 0
    points: list[Point] = []
    by_color: dict[Color, int] = {}


class Tree(BaseModel):
    value: StrictInt
    below: list[Tree] = []


VALUES: list[Any] = [
    5,
    5.0,
    5.5,
    "5",
    True,
    1,
    "true",
    None,
    "red",
    "RED",
    "2026-01-31",
    "2026-01-31T09:30:00Z",
    "09:30:00",
    "PT90S",
    "8f46b060-8a09-49db-921f-fc16ec03773e",
    "aGk",
    [],
    [1, 2],
    [1, "a"],
    ["red"],
    {},
    {"day": "2026-01-31", "color": "red"},
    {"day": "2026-01-31", "n": 1},
    {"day": "2026-01-31", "n": "1"},
    {"color": "red", "day": "2026-01-31", "pair": [1, "a"], "some": [1], "frozen": ["blue"], "real": 3},
    {"points": [{"day": "2026-01-31", "n": 1}], "by_color": {"red": 1}, "price": "1.50", "span": "PT90S"},
    {"whole": "5"},
    {"whole": 5.0},
    {"value": 1, "below": [{"value": 2}]},
    {"value": 1, "below": [{"value": "2"}]},
]
TYPES: list[Any] = [
    StrictInt,
    StrictFloat,
    StrictBool,
    StrictStr,
    Annotated[int, Field(strict=True, ge=3)],
    Annotated[Color, Strict()],
    Annotated[Color, Field(strict=True)],
    Annotated[Level, Strict()],
    Annotated[datetime.date, Strict()],
    Annotated[datetime.datetime, Strict()],
    Annotated[datetime.time, Strict()],
    Annotated[datetime.timedelta, Strict()],
    Annotated[uuid.UUID, Strict()],
    Annotated[decimal.Decimal, Strict()],
    Annotated[pathlib.Path, Strict()],
    Annotated[list[int], Strict()],
    Annotated[tuple[int, str], Strict()],
    Annotated[set[int], Strict()],
    Annotated[frozenset[Color], Strict()],
    list[StrictInt],
    StrictInt | None,
    StrictInt | Color,
    StrictPoint,
    Fields,
    Everything,
    Tree,
]


def tool_for(annotation: Any) -> Tool:
    def f(x): ...  # type: ignore[no-untyped-def]

    f.__annotations__ = {"x": annotation}
    return Tool(f)


def whole(value: Any) -> Any:
    """Numbers such as 5.0 as 5, which JSON Schema calls the same integer."""
    if isinstance(value, dict):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize("annotation", TYPES, ids=str)
def test_what_is_strict_takes_what_validate_json_takes_and_whole_numbers_with_a_point(
    annotation: Any,
) -> None:
    made, reference = tool_for(annotation), TypeAdapter(annotation)
    taken = 0
    for value in VALUES:
        if value is True and annotation == Annotated[Level, Strict()]:
            continue  # whether true is a level of 1: pydantic 2.12 refuses it, 2.14 takes it
        try:
            try:
                wanted = reference.validate_json(json.dumps(value))
            except ValidationError:
                wanted = reference.validate_json(json.dumps(whole(value)))
        except ValidationError:
            with pytest.raises(InvalidArguments):
                made.arguments({"x": value})
        else:
            assert made.arguments({"x": value}) == {"x": wanted}
            taken += 1
    assert taken


def test_bytes_are_base64_and_enums_may_come_by_name_also_where_they_are_strict() -> None:
    assert tool_for(StrictBytes).arguments({"x": "aGk="}) == {"x": b"hi"}
    assert tool_for(Annotated[Level, Strict()]).arguments({"x": "low"}) == {"x": Level.low}


def test_a_text_that_holds_an_array_is_one_for_a_strict_array_too() -> None:
    assert tool_for(list[StrictInt]).arguments({"x": "[1, 2]"}) == {"x": [1, 2]}
    with pytest.raises(InvalidArguments):
        tool_for(list[StrictInt]).arguments({"x": '["1"]'})


def test_a_lax_parameter_beside_a_strict_one_keeps_its_patience() -> None:
    def f(n: StrictInt, count: int, one: Literal[1, 2], **rest: StrictInt) -> None: ...

    made = Tool(f)
    assert made.arguments({"n": 1, "count": "2", "one": 1.0}) == {"n": 1, "count": 2, "one": 1}
    assert made.arguments({"n": 1.0, "count": 2, "one": 1, "more": 3.0}) == {
        "n": 1,
        "count": 2,
        "one": 1,
        "more": 3,
    }
    for wrong in ({"n": 1.5}, {"n": "1"}, {"n": 1, "more": "1"}):
        with pytest.raises(InvalidArguments):
            made.arguments({"count": 2, "one": 1, **wrong})
    assert made.arguments({"n": 1, "count": 2, "one": 1, "more": 3})["more"] == 3


def test_a_test_may_pass_the_objects_themselves() -> None:
    day = datetime.date(2026, 1, 31)
    assert tool_for(Annotated[datetime.date, Strict()]).arguments({"x": day}) == {"x": day}


def test_a_lone_surrogate_is_an_invalid_argument_and_nothing_worse() -> None:
    with pytest.raises(InvalidArguments):
        tool_for(StrictInt).arguments({"x": "\ud800"})


@pytest.mark.parametrize("name", ["\ud800", "x\udfff"])
def test_so_is_an_argument_whose_name_is_one(name: str) -> None:
    with pytest.raises(InvalidArguments):
        tool_for(StrictInt).arguments({"x": 1, name: 2})


def test_the_users_own_validators_come_before_ours() -> None:
    upper = Annotated[Level, Strict(), BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v)]
    assert tool_for(upper).arguments({"x": "LOW"}) == {"x": Level.low}


class Odd:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        raise RuntimeError("not today")


class OddSchema:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        return {"type": "no such type"}


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[Point, Strict()],
        Annotated[StrictPoint, Strict()],
        Annotated[int, Field(gt="a")],  # type: ignore[arg-type]
        Annotated[str, Field(pattern="(")],
        Annotated[int, Field(discriminator="kind")],
        Odd,
        OddSchema,
        list[Odd],
        dict[str, Odd],
        type("Bare", (), {}),
    ],
    ids=str,
)
def test_what_cannot_be_declared_is_a_definition_error_that_names_the_parameter(annotation: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="parameter 'x'"):
        tool_for(annotation).declaration()


def test_the_same_of_what_else_is_taken() -> None:
    def f(**rest: Odd) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"\*\*"):
        Tool(f).declaration()
