"""A function's parameters: what the model may send, and how it reaches the function."""

from __future__ import annotations

import contextlib
import datetime
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union, Unpack
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypedDict

from livetools import Tool
from livetools.errors import ToolDefinitionError
from livetools.tools import ToolContext
from livetools.tools.validation.invalid_arguments import InvalidArguments
from livetools.tools.validation.signature import Signature


class Colour(Enum):
    RED = "r"
    BLUE = "b"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Node:
    value: int
    children: list[Node] = field(default_factory=list)


class Item(BaseModel):
    name: str
    price: Decimal = Decimal("1")


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    unit: str
    days: int


def sent(function: Callable[..., Any], args: Mapping[str, Any], context: Any = None) -> Any:
    """What the function gets when a model calls it so: the function is really called."""
    positional, keyword = Signature(function, "f").bind(args, context)
    return function(*positional, **keyword)


VALUES: list[tuple[Any, Any, Any]] = [
    (int, 3, 3),
    (int, 3.0, 3),
    (int, "3", 3),
    (float, 3, 3.0),
    (bool, "true", True),
    (str, "3", "3"),
    (str, '{"a": 1}', '{"a": 1}'),
    (Colour, "r", Colour.RED),
    (Colour, "BLUE", Colour.BLUE),
    (Level, 2, Level.HIGH),
    (Level, 2.0, Level.HIGH),
    (Level, "LOW", Level.LOW),
    (datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
    (datetime.datetime, "2026-01-02T03:04:05Z", datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
    (datetime.time, "03:04", datetime.time(3, 4)),
    (datetime.timedelta, "PT90S", datetime.timedelta(seconds=90)),
    (datetime.timedelta, 90, datetime.timedelta(seconds=90)),
    (Decimal, 1.5, Decimal("1.5")),
    (Decimal, "1.50", Decimal("1.50")),
    (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
    (Path, "a/b", Path("a/b")),
    (bytes, "AP8=", b"\x00\xff"),
    (Node, {"value": 1, "children": [{"value": 2.0}]}, Node(1, [Node(2)])),
    (Node, '{"value": 1}', Node(1)),
    (Item, {"name": "tea"}, Item(name="tea")),
    (Item, '{"name": "tea", "price": 2}', Item(name="tea", price=Decimal(2))),
    (Point, [1, 2], Point(1, 2)),
    (Point, {"x": 1}, Point(1)),
    (Options, {"unit": "C"}, {"unit": "C"}),
    (Literal["a", 2], 2.0, 2),
    (Literal["a", 2], "a", "a"),
    (Optional[int], None, None),  # noqa: UP045  # the old spelling is meant
    (Union[int, str], "x", "x"),  # noqa: UP007  # the old spelling is meant
    (int | str, "3", "3"),
    (int | list[int], "[1]", [1]),
    (tuple[int, str], [1, "x"], (1, "x")),
    (tuple[int, ...], [1, 2], (1, 2)),
    (set[int], [1, 2, 1], {1, 2}),
    (frozenset[Colour], ["r", "BLUE"], frozenset(Colour)),
    (list[Colour], ["RED"], [Colour.RED]),
    (list[int], "[1, 2]", [1, 2]),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (dict[str, int], '{"a": 1}', {"a": 1}),
    (dict[Level, str], {"1": "x"}, {Level.LOW: "x"}),
    (Annotated[int, Field(ge=1, description="how many")], 1, 1),
    (Any, {"x": [1.0]}, {"x": [1.0]}),
    (object, "x", "x"),
    (list, [1, "x"], [1, "x"]),
    (dict, {"a": None}, {"a": None}),
]


@pytest.mark.parametrize(("annotation", "value", "wanted"), VALUES)
def test_a_value_arrives_as_its_annotation_says(annotation: Any, value: Any, wanted: Any) -> None:
    def f(x):  # type: ignore[no-untyped-def]  # annotated below
        return x

    f.__annotations__["x"] = annotation
    got = sent(f, {"x": value})
    assert got == wanted
    assert type(got) is type(wanted)


def test_positional_keyword_and_collecting_parameters_all_get_theirs() -> None:
    def f(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: str) -> Any:
        return a, b, rest, c, more

    assert sent(f, {"a": 1}) == (1, 2, (), 3, {})
    assert sent(f, {"a": 1, "rest": [4, 5.0], "c": 6, "z": "x"}) == (1, 2, (4, 5), 6, {"z": "x"})
    with pytest.raises(InvalidArguments, match="z should be text, not 1"):
        sent(f, {"a": 1, "z": 1})


def test_positional_only_parameters_keep_their_defaults_in_the_middle() -> None:
    def f(a: int = 1, b: int = 2, c: int = 3, /) -> Any:
        return a, b, c

    assert sent(f, {"c": 9}) == (1, 2, 9)


def test_defaults_are_the_functions_own_objects() -> None:
    marker = object()

    def f(x: Any = marker) -> Any:
        return x

    assert sent(f, {}) is marker


def test_null_for_a_parameter_with_a_default_means_the_default() -> None:
    def f(x: int = 7, y: int | None = 8) -> Any:
        return x, y

    assert sent(f, {"x": None, "y": None}) == (7, None)


def test_a_pydantic_field_as_default_is_read_as_one() -> None:
    def f(x: int = Field(5, ge=1, description="how many"), y: int = Field(ge=1)) -> Any:
        return x, y

    assert sent(f, {"y": 2}) == (5, 2)
    schema = Signature(f, "f").json_schema()
    assert schema["required"] == ["y"]
    wanted = {"type": "integer", "default": 5, "description": "how many", "minimum": 1}
    assert schema["properties"]["x"] == wanted


def test_unpacked_typed_dicts_are_keyword_parameters() -> None:
    def f(**options: Unpack[Options]) -> Any:
        return options

    assert sent(f, {"days": 2.0}) == {"days": 2}
    with pytest.raises(InvalidArguments, match="hours is not known"):
        sent(f, {"hours": 2})


@pytest.mark.parametrize(
    "name",
    ["model_config", "schema", "json", "copy", "self", "cls", "_x", "model_fields", "validate", "args"],
)
def test_a_parameter_may_have_any_name(name: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def f({name}: int, other: int = 1): return {name}", space)
    assert sent(space["f"], {name: 3}) == 3
    assert name in Signature(space["f"], "f").json_schema()["properties"]


def test_unannotated_parameters_take_any_json() -> None:
    def f(x, y=None):  # type: ignore[no-untyped-def]  # that is the point
        return x, y

    assert sent(f, {"x": {"a": [1, None]}}) == ({"a": [1, None]}, None)


@pytest.mark.parametrize(
    "annotation",
    [
        "ToolContext",
        "ToolContext[int]",
        "ToolContext | None",
        "Optional[ToolContext[int]]",
        "Annotated[ToolContext, 'x']",
        "ToolContext['NotImportedHere']",
        ToolContext,
        ToolContext[int] | None,
    ],
)
def test_a_context_is_found_however_it_is_written(annotation: Any) -> None:
    def f(x: int, c) -> Any:  # type: ignore[no-untyped-def]  # annotated below
        return x, c

    f.__annotations__["c"] = annotation
    signature = Signature(f, "f")
    assert signature.context == "c"
    assert list(signature.json_schema()["properties"]) == ["x"]
    assert sent(f, {"x": 1}, "the context") == (1, "the context")
    with pytest.raises(InvalidArguments, match="c is not known"):
        sent(f, {"x": 1, "c": 2})


def test_a_positional_only_context_is_passed_by_position() -> None:
    def f(c: ToolContext, x: int, /, *rest: int) -> Any:
        return c, x, rest

    assert sent(f, {"x": 1, "rest": [2]}, "the context") == ("the context", 1, (2,))


def test_two_contexts_are_refused() -> None:
    def f(a: ToolContext, b: ToolContext[int]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="'a' and 'b' are both a ToolContext"):
        Signature(f, "f")


def test_a_local_class_is_found_while_its_function_runs() -> None:
    @dataclass
    class Local:
        x: int

    def f(it: Local, many: list[Local]) -> Any:
        return it, many

    assert sent(f, {"it": {"x": 1}, "many": [{"x": 2}]}) == (Local(1), [Local(2)])


def test_methods_partials_and_callable_objects_have_their_own_parameters() -> None:
    class Box:
        def method(self, x: int) -> Any:
            return x

        @classmethod
        def build(cls, x: int) -> Any:
            return x

        @staticmethod
        def static(x: int) -> Any:
            return x

        def __call__(self, x: int) -> Any:
            return x

    def two(x: int, y: int = 1, z: int = 2) -> Any:
        return x, y, z

    for function in (Box().method, Box.build, Box.static, Box()):
        assert sent(function, {"x": 1.0}) == 1
    assert sent(functools.partial(two, 5, z=6), {"y": 7}) == (5, 7, 6)
    assert list(Signature(functools.partial(two, 5, z=6), "f").arguments) == ["y"]


def test_a_wrapper_is_read_through() -> None:
    def inner(x: Colour) -> Any:
        return x

    @functools.wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    assert sent(outer, {"x": "r"}) is Colour.RED


def test_a_method_out_of_its_class_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"pass instance\.f, not the class's"):
        Signature(Holder.method, "f")


class Holder:
    def method(self, x: int) -> int:
        return x


class Later:
    pass


BROKEN: list[tuple[str, str]] = [
    ("Nowhere", "the annotation of 'x' cannot be resolved: name 'Nowhere' is not defined"),
    ("the number", "is not an annotation for 'x'"),
    ("Callable[[int], int]", "parameter 'x'"),
    ("inspect.Signature", "parameter 'x': Signature cannot be declared to a model"),
    ("list[Later]", "parameter 'x': list[Later] cannot"),
    ("Later | None", "for JSON has no such values. Use str, int, float,"),
    ("inspect.Signature", "is read from ToolContext.deps, which connect(deps=...) sets"),
]


@pytest.mark.parametrize(("annotation", "text"), BROKEN)
def test_what_no_schema_can_say_names_the_file_the_function_and_the_parameter(
    annotation: str, text: str
) -> None:
    def f(a: int, x) -> None: ...  # type: ignore[no-untyped-def]  # annotated below

    f.__annotations__["x"] = annotation
    with pytest.raises(ToolDefinitionError) as caught:
        Signature(f, "f").check()
    assert text in str(caught.value)
    assert "pydantic-core" not in str(caught.value)
    assert f"test_signature.py:{inspect.getsourcelines(f)[1]}" in str(caught.value)
    assert "f:" in str(caught.value)


def test_a_callable_that_tells_nothing_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="its parameters cannot be read"):
        Signature(dict, "f")


class Strict(BaseModel):
    even: int

    @field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("only even numbers")
        return value


REFUSED: list[tuple[Any, Any, str]] = [
    (int, "many", 'x should be a whole number, not "many"'),
    (int, 1.5, "x should be a whole number, not 1.5"),
    (int, None, "x should be a whole number, not null"),
    (int, {"a": 1}, "x should be a whole number, not an object"),
    (str, 5, "x should be text, not 5"),
    (list[int], ["a"], 'x[0] should be a whole number, not "a"'),
    (list[int], 5, "x should be an array, not 5"),
    (dict[str, int], {"k": "v"}, 'x.k should be a whole number, not "v"'),
    (Node, {"value": 1, "children": [{}]}, "x.children[0].value is missing"),
    (Node, {"value": 1, "size": 2}, "x.size is not known"),
    (Node, 5, "x should be an object, not 5"),
    (Colour, "green", "x should be one of 'r', 'b', not \"green\""),
    (Literal["a", "b"], "c", "x should be one of 'a', 'b', not \"c\""),
    (int | bool, "x", 'x should be a whole number or true or false, not "x"'),
    (int | None, "x", 'x should be a whole number, not "x"'),
    (datetime.date, "soon", 'x should be a date such as 2026-01-31, not "soon"'),
    (datetime.datetime, "soon", 'x should be a date and time such as 2026-01-31T09:30:00Z, not "soon"'),
    (datetime.timedelta, "soon", 'x should be a duration such as PT90S, not "soon"'),
    (UUID, "1", 'x should be a UUID, not "1"'),
    (Decimal, "much", 'x should be a number, not "much"'),
    (bytes, "%", "x is not accepted: it is not base64 text"),
    (tuple[int, str], [1], "x[1] is missing"),
    (Strict, {"even": 3}, "x.even is not accepted: only even numbers"),
    (Annotated[int, Field(ge=1, le=5)], 0, "x should be at least 1, not 0"),
    (Annotated[str, Field(min_length=2)], "a", 'x should be text of at least 2 characters, not "a"'),
    (
        Annotated[list[int], Field(max_length=1)],
        [1, 2],
        "x should be of at most 1 items, not 2",
    ),
    (str, ["a" * 100], "x should be text, not an array"),
    (int, "a" * 100, f'x should be a whole number, not "{"a" * 37}…'),
]


@pytest.mark.parametrize(("annotation", "value", "text"), REFUSED)
def test_a_value_that_does_not_fit_is_told_in_words(annotation: Any, value: Any, text: str) -> None:
    def f(x) -> None: ...  # type: ignore[no-untyped-def]  # annotated below

    f.__annotations__["x"] = annotation
    with pytest.raises(InvalidArguments) as caught:
        sent(f, {"x": value})
    assert text in str(caught.value)
    assert "pydantic" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_argument_that_is_missing_and_one_that_is_not_known_are_named() -> None:
    def f(city: str, unit: str = "C") -> None: ...

    with pytest.raises(
        InvalidArguments, match=r"Invalid arguments for f: city is missing\. f takes city, unit\."
    ):
        sent(f, {})
    with pytest.raises(InvalidArguments, match=r"city is missing; town is not known\. f takes city, unit\."):
        sent(f, {"town": "Oslo"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None, derandomize=True)
@given(args=st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e", "z"]), JSON))
def test_whatever_a_model_sends_it_is_taken_or_refused_in_words(args: dict[str, Any]) -> None:
    def f(
        a: int,
        b: list[Colour] | None = None,
        c: Node | str = "",
        *,
        d: dict[str, float] | None = None,
        **e: int,
    ):  # type: ignore[no-untyped-def]  # odd on purpose
        return a

    with contextlib.suppress(InvalidArguments):
        assert type(sent(f, args)) is int


class Shop:
    @functools.singledispatchmethod
    def look(self, x: int | str) -> str:
        """Look."""
        return "other"

    @look.register
    def _(self, x: int) -> str:
        return f"number {x}"


@functools.singledispatch
def show(x: int | str, loud: bool = False) -> str:
    """Show."""
    return "other"


@show.register
def _(x: int, loud: bool = False) -> str:
    return f"number {x}, {loud}"


@pytest.mark.anyio
async def test_a_function_that_dispatches_by_the_class_of_its_first_argument_is_a_tool() -> None:
    assert await Tool(show).call({"x": 5, "loud": True}) == {"output": "number 5, True"}
    assert await Tool(show).call({"x": "a"}) == {"output": "other"}
    assert await Tool(Shop().look).call({"x": 5}) == {"output": "number 5"}
    assert Tool(Shop().look).declaration()["parameters"]["required"] == ["x"]
