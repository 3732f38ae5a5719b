"""What a model is told of defaults, enums and literals, and what it may send for them."""

from __future__ import annotations

import datetime
import enum
import json
import math
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pytest
from pydantic import BaseModel, SecretStr
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import Doc

from livetools import Tool


class Paint(enum.Enum):
    RED = (255, 0, 0)
    GREEN = (0, 255, 0)


class Kind(enum.Enum):
    WHOLE = int
    TEXT = str


def declared(function: Any) -> dict[str, Any]:
    properties: dict[str, Any] = Tool(function).declaration()["parameters"]["properties"]
    return properties


def test_defaults_are_told_whatever_their_type_but_for_secrets() -> None:
    def f(
        either: int | str = 3,
        day: datetime.date = datetime.date(2026, 1, 2),
        counts: list[int] = [1, 2],  # noqa: B006
        by_name: dict[str, int] = {"a": 1},  # noqa: B006
        maybe: list[str] | None = ["a"],  # noqa: B006
        nothing: list[str] | None = None,
        secret: SecretStr = SecretStr("hunter2"),  # noqa: B008
        text: SecretStr = "hunter2",  # type: ignore[assignment]
        long: list[int] = list(range(500)),  # noqa: B006
    ) -> None: ...

    told = declared(f)
    # In either order: typing's caches hand out ``str | int`` for it where that was asked for before.
    number, text_type = {"type": "INTEGER", "default": 3}, {"type": "STRING"}
    assert told["either"] in ({"anyOf": [number, text_type]}, {"anyOf": [text_type, number]})
    assert told["day"]["default"] == "2026-01-02"
    assert told["counts"]["default"] == [1, 2]
    assert told["by_name"]["default"] == {"a": 1}
    assert told["maybe"]["default"] == ["a"]
    assert not any("default" in told[name] for name in ("nothing", "secret", "text", "long"))
    assert "hunter2" not in json.dumps(told)


class Size(NamedTuple):
    name: str
    price: Decimal


class Level(enum.Enum):
    LOW = 1
    HIGH = 2.5


class Order(BaseModel):
    price: Decimal = Decimal("1.10")
    paint: Paint = Paint.RED
    ratio: float = math.nan
    sizes: list[Decimal] = [Decimal("1.5")]


@dataclass
class Box:
    paint: Paint = Paint.GREEN
    days: list[datetime.date] = field(default_factory=lambda: [datetime.date(2026, 1, 2)])


@pytest.mark.parametrize(
    ("hint", "default", "said"),
    [
        (Decimal, Decimal("1.10"), 1.1),
        (Decimal | None, Decimal("1.10"), 1.1),
        (list[Decimal], [Decimal("1.5")], [1.5]),
        (Paint, Paint.GREEN, "GREEN"),
        (Paint | None, Paint.GREEN, "GREEN"),
        (list[Paint], [Paint.GREEN], ["GREEN"]),
        (dict[Paint, int], {Paint.GREEN: 1}, {"GREEN": 1}),
        (Literal[Paint.RED, Paint.GREEN], Paint.RED, "RED"),
        (bytes, b"x", "eA=="),
        (frozenset[str], frozenset("dacb"), ["a", "b", "c", "d"]),
        (Size, Size("L", Decimal("2.5")), {"name": "L", "price": 2.5}),
        (Box, Box(), {"paint": "GREEN", "days": ["2026-01-02"]}),
        (Order, Order(ratio=1), {"price": 1.1, "paint": "RED", "ratio": 1.0, "sizes": [1.5]}),
    ],
)
def test_a_default_is_told_as_its_type_is_declared(hint: Any, default: Any, said: Any) -> None:
    def f(x: Any = default) -> None: ...

    f.__annotations__["x"] = hint
    assert declared(f)["x"]["default"] == said


def test_defaults_inside_a_class_are_told_as_those_of_parameters_are() -> None:
    def f(order: Order, box: Box) -> None: ...

    told = declared(f)
    order, box = told["order"]["properties"], told["box"]["properties"]
    assert (order["price"]["default"], order["paint"]["default"]) == (1.1, "RED")
    assert order["sizes"]["default"] == [1.5]
    assert box["paint"]["default"] == "GREEN"
    json.dumps(told, allow_nan=False)


def test_a_doc_in_annotated_is_the_description() -> None:
    def f(city: Annotated[str, Doc("Where it rains.")]) -> None: ...

    assert declared(f)["city"]["description"] == "Where it rains."


@pytest.mark.parametrize("hint", [Level, Literal[Level.LOW, Level.HIGH]])
@pytest.mark.parametrize(("sent", "member"), [("1", Level.LOW), ("2.5", Level.HIGH), ("LOW", Level.LOW)])
def test_an_enum_of_numbers_takes_a_number_in_a_text(hint: Any, sent: str, member: Level) -> None:
    def f(level: Any, more: Any) -> None: ...

    f.__annotations__ = {"level": hint, "more": list[hint]}
    assert Tool(f).arguments({"level": sent, "more": [sent]}) == {"level": member, "more": [member]}


@dataclass
class Dial:
    level: Level


def test_an_enum_of_numbers_inside_a_class_takes_a_number_in_a_text() -> None:
    def f(dial: Dial) -> None: ...

    assert Tool(f).arguments({"dial": {"level": "2.5"}}) == {"dial": Dial(Level.HIGH)}


def test_a_literal_of_bytes_is_taken_as_it_is_declared() -> None:
    def f(flag: Literal[b"x", b"y"]) -> None: ...

    assert declared(f)["flag"]["enum"] == ["x", "y"]
    assert Tool(f).arguments({"flag": "y"}) == {"flag": b"y"}


@pytest.mark.parametrize("kind", [Paint, Kind])
@pytest.mark.anyio
async def test_an_enum_of_objects_is_declared_and_taken_by_its_names(kind: Any) -> None:
    def f(c: Any) -> str:
        return str(c.name)

    f.__annotations__ = {"c": kind}
    (told,) = declared(f).values()
    assert told["enum"] == [member.name for member in kind]
    for member in kind:
        assert await Tool(f).call({"c": member.name}) == {"output": member.name}


def test_a_number_that_is_chosen_may_come_as_text() -> None:
    def f(n: Literal[1, "x", "2", 2, True]) -> None: ...

    for sent, got in ((1, 1), ("1", 1), ("x", "x"), ("2", "2"), (2, 2), ("true", True)):
        assert Tool(f).arguments({"n": sent}) == {"n": got}


@dataclass
class Booking:
    """What a dataclass sets itself, and what it only takes, are fields of different kinds."""

    table: int
    total: int = field(init=False, default=5)
    lines: list[str] = field(init=False, default_factory=list)
    house: ClassVar[str] = "ours"
    guests: int = field(kw_only=True, default=2)
    code: InitVar[int] = 4

    def __post_init__(self, code: int) -> None:
        self.total = code


@pydantic_dataclass
class Bill:
    table: int
    total: int = field(init=False, default=5)


@pytest.mark.parametrize(
    ("kind", "taken"), [(Booking, {"table", "guests", "code"}), (Bill, {"table"})], ids=["stdlib", "pydantic"]
)
@pytest.mark.parametrize("dialect", ["schema", "json_schema"])
@pytest.mark.anyio
async def test_what_is_declared_of_a_dataclass_is_what_it_takes(
    kind: Any, taken: set[str], dialect: Any
) -> None:
    default = kind(1)

    def book(order: Any, other: Any = default) -> str:
        """Book."""
        return repr(order)

    book.__annotations__ = {"order": kind, "other": kind, "return": str}
    tool = Tool(book)
    told = json.dumps(tool.declaration(dialect))
    assert {
        name for name in ("table", "guests", "code", "total", "lines", "house") if f'"{name}"' in told
    } == taken
    assert "error" not in await tool.call({"order": dict.fromkeys(taken, 1)})
