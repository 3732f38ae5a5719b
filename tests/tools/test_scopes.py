"""Callable objects, classes and methods: what describes them, where their annotations are looked up, their context."""

from __future__ import annotations

import dataclasses
import enum
import functools
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    TypeAlias,
    TypeVar,
)

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from livetools import Call, Tool, ToolContext, tool

if TYPE_CHECKING:
    from nowhere import House  # type: ignore[import-not-found]


class Look:
    "Looks a thing up."

    def __call__(self, x: int) -> str:
        return str(x)


class LookAsync:
    "Looks later."

    async def __call__(self, x: int) -> str:
        return str(x)


class LookSelf:
    "A class."

    def __call__(self, x: int) -> str:
        """Looks itself up.

        Args:
            x: the thing
        """
        return str(x)


class LookMore(LookSelf):
    def __call__(self, x: int) -> str:
        return str(x)


class Silent:
    def __call__(self, x: int) -> None: ...


class Dict(dict[str, int]):
    def __call__(self, x: int) -> None: ...

    def get(self, x: int) -> None:  # type: ignore[override]
        ...


class Model(BaseModel):
    n: int = Field(description="how many")

    def __call__(self, x: int) -> None: ...


class ModelWithDoc(BaseModel):
    """A booking."""

    n: int


@dataclasses.dataclass
class Data:
    x: int

    def __call__(self, y: int) -> None: ...


class Tuple(NamedTuple):
    x: int

    def __call__(self, y: int) -> None: ...


class Base:
    def method(self, x: int) -> None:
        """From the base."""


class Derived(Base):
    def method(self, x: int) -> None: ...


def named() -> Silent:
    made = Silent()
    made.__doc__ = "This very one."
    return made


class Init:
    def __init__(self, x: int) -> None:
        """Makes one.

        Args:
            x: the thing
        """


class Both:
    """Is one."""

    def __init__(self, x: int) -> None:
        """Makes one.

        Args:
            x: the thing
        """


@functools.wraps(Base.method)
def wrapping(*args: Any) -> None: ...


DESCRIBED: list[tuple[Any, str]] = [
    (Look(), "Looks a thing up."),
    (LookAsync(), "Looks later."),
    (LookSelf(), "Looks itself up."),
    (LookMore(), "Looks itself up."),
    (Silent(), ""),
    (named(), "This very one."),
    (Dict().get, ""),
    (Model(n=1), ""),
    (Model, ""),
    (ModelWithDoc, "A booking."),
    (Data(1), ""),
    (Data, ""),
    (Tuple(1), ""),
    (Tuple, ""),
    (Derived().method, "From the base."),
    (Init, "Makes one."),
    (Both, "Is one."),
    (functools.partial(Look()), "Looks a thing up."),
    (lambda x: x, ""),
]


@pytest.mark.parametrize(("target", "text"), DESCRIBED)
def test_what_describes_a_callable_was_written_for_it(target: Any, text: str) -> None:
    made = Tool(target, name="it")
    assert made.description == text
    assert made.declaration().get("description", "") == text


@pytest.mark.parametrize("target", [LookSelf(), LookMore(), Init, Both])
def test_arguments_are_described_wherever_it_is_said(target: Any) -> None:
    assert (
        Tool(target, name="it").declaration()["parameters"]["properties"]["x"]["description"] == "the thing"
    )


class Shop:
    class Size(enum.Enum):
        small = "small"

    Color: TypeAlias = Literal["red", "blue"]

    def order(self, size: Size, color: Color) -> None: ...

    @tool
    def marked(self, size: Size) -> None: ...

    @classmethod
    def of_class(cls, size: Size) -> None: ...

    @staticmethod
    def static(size: Size) -> None: ...

    def __call__(self, size: Size) -> None: ...

    class Inner:
        Kind: TypeAlias = Literal["a", "b"]

        def order(self, size: Shop.Size, kind: Kind) -> None: ...


class Branch(Shop):
    pass


SIZE = {"type": "STRING", "enum": ["small"]}


@pytest.mark.parametrize(
    "target",
    [
        Shop().order,
        Branch().order,
        Shop().marked,
        Shop.of_class,
        Branch.of_class,
        Shop.static,
        Shop().static,
        Shop(),
        Branch(),
        Shop.Inner().order,
        functools.partial(Shop().order, color="red"),
    ],
)
def test_names_of_a_classs_own_scope_resolve(target: Any) -> None:
    assert Tool(target, name="it").declaration()["parameters"]["properties"]["size"] == SIZE


def test_names_of_a_local_classs_scope_and_of_a_closure_resolve() -> None:
    class Unit(enum.Enum):
        metre = "metre"

    class Local:
        class Size(enum.Enum):
            small = "small"

        @tool
        def marked(self, size: Size, unit: Unit) -> None: ...

        def order(self, size: Size, unit: Unit) -> None: ...

    for method in (Local().marked, Local().order):
        assert Tool(method).declaration()["parameters"]["properties"]["size"] == SIZE


def test_what_a_closure_holds_resolves_when_the_function_around_has_returned() -> None:
    def make() -> Any:
        class Size(enum.Enum):
            small = "small"

        def order(size: Size) -> str:
            return Size(size).value

        return order

    assert Tool(make()).declaration()["parameters"]["properties"]["size"] == SIZE


class Ours(ToolContext[int]):
    @property
    def twice(self) -> int:
        return self.deps * 2


class Odd(ToolContext[int]):
    def __init__(self, *, call: Call, **more: Any) -> None:
        if "session" in more:
            raise RuntimeError("made otherwise")
        super().__init__(call=call, **more)


T = TypeVar("T")
C = TypeVar("C", bound=ToolContext[Any])
Alias = ToolContext[int]
Noted = Annotated[Alias, "the house"]
Statement = TypeAliasType("Statement", ToolContext[int])
Parametrised = TypeAliasType("Parametrised", ToolContext[T], type_params=(T,))
Recursive = TypeAliasType("Recursive", "Statement | None")
New = NewType("New", ToolContext[int])


class Generous(ToolContext[T], Generic[T]):
    pass


def by_alias(n: int, c: Alias) -> None: ...
def by_note(n: int, c: Noted) -> None: ...
def by_statement(n: int, c: Statement) -> None: ...
def by_optional_statement(n: int, c: Statement | None = None) -> None: ...
def by_parameter(n: int, c: Parametrised[int]) -> None: ...
def by_new_type(n: int, c: New) -> None: ...
def by_subclass(n: int, c: Ours) -> None: ...
def by_generic_subclass(n: int, c: Generous[int]) -> None: ...
def by_variable(n: int, c: C) -> None: ...
def by_optional(n: int, c: ToolContext | None) -> None: ...
def by_house(n: int, c: ToolContext[House]) -> None: ...
def by_annotated_subclass(n: int, c: Annotated[Ours, "x"] | None = None) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        by_alias,
        by_note,
        by_statement,
        by_optional_statement,
        by_parameter,
        by_new_type,
        by_subclass,
        by_generic_subclass,
        by_variable,
        by_optional,
        by_house,
        by_annotated_subclass,
    ],
)
def test_a_context_is_found_behind_whatever_it_is_called(function: Any) -> None:
    assert list(Tool(function).declaration()["parameters"]["properties"]) == ["n"]


@pytest.mark.anyio
async def test_a_subclass_is_what_the_tool_gets() -> None:
    def twice(c: Ours) -> int:
        return c.twice

    assert await Tool(twice).call({}, deps=4) == {"output": 8}


@pytest.mark.anyio
async def test_a_subclass_that_cannot_be_made_costs_no_call(caplog: pytest.LogCaptureFixture) -> None:
    def which(c: Odd) -> str:
        return type(c).__name__

    assert await Tool(which).call({}, deps=4) == {"output": "ToolContext"}
    assert "the Odd of which cannot be made" in caplog.text
