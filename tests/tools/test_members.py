"""Members of enums inside models, dataclasses and tuples of the user's: taken by their value and by their name."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from livetools.tools import InvalidArguments, Tool
from livetools.tools.members import with_members


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
