"""Members of enums inside models, dataclasses and tuples of the user's: taken by their value and by their name."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, make_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pydantic.dataclasses
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, create_model
from typing_extensions import TypedDict

from livetools.tools import InvalidArguments, Tool
from livetools.tools.validation.enum_members import with_members


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"
    THREE = 3
    HALF = 0.5
    ON = True


class Size(enum.StrEnum):
    S = "small"
    L = "large"


class Shirt(BaseModel):
    color: Literal[Color.RED, Color.THREE]
    size: Size = Size.S
    lining: Literal[Color.BLUE] | None = None
    parts: list[Shirt] = []


class Red(BaseModel):
    kind: Literal[Color.RED]
    depth: Literal[Color.THREE]


class Blue(BaseModel):
    kind: Literal[Color.BLUE]
    depth: Literal[Color.THREE]


class Choice(BaseModel):
    tagged: Annotated[Red | Blue, Field(discriminator="kind")] | None = None
    either: Red | Blue | None = None


@dataclass
class Plain:
    color: Literal[Color.HALF, Color.ON]
    sizes: tuple[Size, ...] = ()


class Pair(NamedTuple):
    color: Literal[Color.RED]
    number: int


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    color: Literal[Color.RED] = Field(alias="theColor")
    by: dict[Color, tuple[Literal[Size.S], int]] = {}


def bound(annotation: Any, value: object) -> object:
    def take(it: Any) -> None:
        """Takes it."""

    take.__annotations__["it"] = annotation
    return Tool(take).arguments({"it": value})["it"]


CASES: list[tuple[Any, object, object]] = [
    (Shirt, {"color": "red"}, Shirt(color=Color.RED)),
    (Shirt, {"color": 3}, Shirt(color=Color.THREE)),
    (Shirt, {"color": 3.0}, Shirt(color=Color.THREE)),
    (Shirt, {"color": "THREE", "size": "L"}, Shirt(color=Color.THREE, size=Size.L)),
    (Shirt, {"color": "red", "lining": "blue"}, Shirt(color=Color.RED, lining=Color.BLUE)),
    (
        Shirt,
        {"color": "red", "parts": [{"color": 3, "parts": [{"color": "red"}]}]},
        Shirt(color=Color.RED, parts=[Shirt(color=Color.THREE, parts=[Shirt(color=Color.RED)])]),
    ),
    (list[Shirt], [{"color": "red"}], [Shirt(color=Color.RED)]),
    (dict[str, Shirt], {"a": {"color": "red"}}, {"a": Shirt(color=Color.RED)}),
    (
        Choice,
        {"tagged": {"kind": "blue", "depth": 3}},
        Choice(tagged=Blue(kind=Color.BLUE, depth=Color.THREE)),
    ),
    (
        Choice,
        {"either": {"kind": "blue", "depth": 3}},
        Choice(either=Blue(kind=Color.BLUE, depth=Color.THREE)),
    ),
    (Plain, {"color": 0.5}, Plain(Color.HALF)),
    (Plain, {"color": True, "sizes": ["S", "large"]}, Plain(Color.ON, (Size.S, Size.L))),
    (Pair, {"color": "red", "number": 1}, Pair(Color.RED, 1)),
    (Pair, ["red", 1], Pair(Color.RED, 1)),
    (Aliased, {"theColor": "red"}, Aliased(color=Color.RED)),
    (Aliased, {"color": "RED"}, Aliased(color=Color.RED)),
    (
        Aliased,
        {"theColor": "red", "by": {"BLUE": ["S", 1]}},
        Aliased(color=Color.RED, by={Color.BLUE: (Size.S, 1)}),
    ),
]


@pytest.mark.parametrize(("annotation", "sent", "value"), CASES)
def test_it_is_bound_to_the_member(annotation: Any, sent: object, value: object) -> None:
    assert bound(annotation, sent) == value


@pytest.mark.parametrize("sent", [{"color": "blue"}, {"color": "Red"}, {"color": True}, {"color": None}])
def test_what_is_no_member_is_refused_with_the_values(sent: object) -> None:
    with pytest.raises(InvalidArguments, match=r"it\.color should be one of 'red', 3") as caught:
        bound(Shirt, sent)
    assert "<" not in str(caught.value)


def test_the_declaration_names_the_values() -> None:
    def take(it: Shirt) -> None:
        """Takes it."""

    color = Tool(take).declaration("schema")["parameters"]["properties"]["it"]["properties"]["color"]
    assert color["anyOf"][0] == {"type": "STRING", "enum": ["red"]}
    assert (color["anyOf"][1]["type"], color["anyOf"][1]["description"]) == ("INTEGER", "one of 3")


def test_what_is_accepted_as_it_is_stays() -> None:
    """A text that is expected as a text is not taken for the name of a member."""
    schema = TypeAdapter(dict[str, Literal["RED", Color.RED]]).core_schema
    assert with_members(schema, {"a": "RED", "b": "red", "c": [1]}) == {"a": "RED", "b": Color.RED, "c": [1]}


@pytest.mark.parametrize("value", ["red", 3, None, [["x"]], {"color": {"color": []}}])
def test_any_value_may_come(value: object) -> None:
    for annotation in (Shirt, Plain, Pair, Aliased, tuple[Color, int], set[Color]):
        with pytest.raises(InvalidArguments):
            bound(annotation, value)


# Beside what is strict


class Day(enum.Enum):
    FIRST = date(2026, 1, 1)
    HALF = Decimal("0.5")
    PAIR = (1, 2)
    ZERO = 0


LEAVES: list[tuple[Any, object, object]] = [
    (Color, "blue", Color.BLUE),
    (Color, "BLUE", Color.BLUE),
    (Color | None, "RED", Color.RED),
    (Literal[Color.RED, Color.THREE], "red", Color.RED),
    (Literal[Color.RED, Color.THREE], "THREE", Color.THREE),
    (Literal["red"], "red", "red"),
    (Literal[Size.S], "S", Size.S),
    (Size, "L", Size.L),
    (Day, "2026-01-01", Day.FIRST),
    (Day, "0.5", Day.HALF),
    (Day, [1, 2], Day.PAIR),
    (Day, "ZERO", Day.ZERO),
    (set[Literal[Color.RED]], ["RED"], {Color.RED}),
    (dict[Literal[Color.RED], tuple[Color, int]], {"red": ["BLUE", 1]}, {Color.RED: (Color.BLUE, 1)}),
]
STRICT: list[tuple[Any, object, object]] = [
    (date, "2026-05-06", date(2026, 5, 6)),
    (datetime, "2026-05-06T10:00:00", datetime(2026, 5, 6, 10)),
    (time, "10:00:00", time(10)),
    (timedelta, "PT90S", timedelta(seconds=90)),
    (UUID, str(UUID(int=5)), UUID(int=5)),
    (Decimal, "1.5", Decimal("1.5")),
    (set[date], ["2026-05-06"], {date(2026, 5, 6)}),
    (tuple[int, ...], [1, 2], (1, 2)),
    (frozenset[int], [1], frozenset({1})),
    (dict[int, UUID], {"1": str(UUID(int=5))}, {1: UUID(int=5)}),
    (IPv4Address, "10.0.0.1", IPv4Address("10.0.0.1")),
    (float, 3, 3.0),
]


def model(fields: dict[str, Any]) -> Any:
    return create_model(
        "Model", __config__=ConfigDict(strict=True), **{n: (t, ...) for n, t in fields.items()}
    )


def model_of_strict_fields(fields: dict[str, Any]) -> Any:
    given: dict[str, Any] = {name: (annotation, ...) for name, annotation in fields.items()}
    return create_model("Model", **{**given, "beside": (fields["beside"], Field(strict=True))})


def plain_dataclass(fields: dict[str, Any]) -> Any:
    made = make_dataclass("Plain", list(fields.items()))
    made.__pydantic_config__ = ConfigDict(strict=True)  # type: ignore[attr-defined]
    return made


def pydantic_dataclass(fields: dict[str, Any]) -> Any:
    return pydantic.dataclasses.dataclass(config=ConfigDict(strict=True))(
        make_dataclass("Plain", list(fields.items()))
    )


def typed_dict(fields: dict[str, Any]) -> Any:
    made = TypedDict("Fields", fields)  # type: ignore[misc] # made at run time
    made.__pydantic_config__ = ConfigDict(strict=True)  # type: ignore[attr-defined]
    return made


KINDS = [model, model_of_strict_fields, plain_dataclass, pydantic_dataclass, typed_dict]
AROUND: list[Callable[[Any, object, object], tuple[Any, object, object]]] = [
    lambda kind, sent, value: (list[kind], [sent, sent], [value, value]),
    lambda kind, sent, value: (dict[str, kind], {"a": sent}, {"a": value}),
    lambda kind, sent, value: (kind | None, sent, value),
    lambda kind, sent, value: (tuple[kind, UUID], [sent, str(UUID(int=5))], (value, UUID(int=5))),
]


@st.composite
def shapes(draw: st.DrawFn) -> tuple[Any, object, object]:
    """A member beside something strict, in containers and classes: an annotation, what is sent, the value."""
    shape = draw(st.sampled_from(LEAVES))
    for _ in range(draw(st.integers(1, 3))):
        for around in draw(st.lists(st.sampled_from(AROUND), max_size=1)):
            shape = around(*shape)
        beside, other = draw(st.sampled_from(STRICT)), draw(st.sampled_from(STRICT))
        fields = {"it": shape, "beside": beside, "other": other}
        made = draw(st.sampled_from(KINDS))({name: annotation for name, (annotation, _, _) in fields.items()})
        shape = (
            made,
            {n: sent for n, (_, sent, _) in fields.items()},
            {n: v for n, (_, _, v) in fields.items()},
        )
    return shape


def opened(value: object) -> object:
    """A value with its models and dataclasses as dicts."""
    if isinstance(value, BaseModel) or is_dataclass(value):
        return {name: opened(one) for name, one in vars(value).items() if not name.startswith("_")}
    if isinstance(value, dict):
        return {key: opened(one) for key, one in value.items()}
    return type(value)(map(opened, value)) if isinstance(value, list | tuple) else value


@given(shapes())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_member_is_taken_beside_anything_strict_at_any_depth(shape: tuple[Any, object, object]) -> None:
    annotation, sent, value = shape
    got = opened(bound(annotation, sent))
    assert got == value
    assert repr(got) == repr(value)  # 3.0 is no 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("annotation", "sent"), [(int, "5"), (date, "never"), (bool, 1), (UUID, "5"), (str, 5)]
)
def test_what_is_strict_stays_strict_beside_a_member(kind: Any, annotation: Any, sent: object) -> None:
    made = kind({"it": Literal[Color.RED], "beside": annotation})
    with pytest.raises(InvalidArguments, match="beside"):
        bound(made, {"it": "RED", "beside": sent})


def test_a_validator_of_the_user_s_is_given_what_was_sent() -> None:
    came: list[object] = []

    def parse(value: str) -> date:
        came.append(value)
        return date.fromisoformat(value)

    class Watched(BaseModel):
        model_config = ConfigDict(strict=True)
        it: Literal[Color.RED]
        day: Annotated[date, BeforeValidator(parse)]

    assert bound(Watched, {"it": "RED", "day": "2026-05-06"}) == Watched.model_construct(
        it=Color.RED, day=date(2026, 5, 6)
    )
    assert set(came) == {"2026-05-06"}


def test_a_strict_dataclass_that_refuses_its_values_says_so() -> None:
    @pydantic.dataclasses.dataclass(config=ConfigDict(strict=True))
    class Never:
        it: Literal[Color.RED]
        day: date

        def __post_init__(self) -> None:
            raise ValueError("never")

    with pytest.raises(InvalidArguments):
        bound(Never, {"it": "RED", "day": "2026-05-06"})
