"""What stands after the colon of a parameter."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Annotated, Any, Optional, Required, TypedDict

import pytest

from livetools.tools import ToolContext
from livetools.tools.definition.annotations import (
    Unresolved,
    context_of,
    fields_of,
    function_of,
    is_method,
    is_plain,
    place_of,
    resolve,
)


def plain(x: int) -> int:
    return x


@functools.wraps(plain)
def wrapped(*args: Any) -> Any:
    return plain(*args)


class Box:
    def __init__(self, x: int = 0) -> None:
        self.x = x

    def method(self, x: int) -> int:
        return x

    @classmethod
    def build(cls) -> Box:
        return cls()

    @staticmethod
    def static(self: int) -> int:
        return self

    def __call__(self, x: int) -> int:
        return x


class City(TypedDict, total=False):
    name: Required[str]
    size: int


@pytest.mark.parametrize(
    ("target", "function"),
    [
        (plain, plain),
        (wrapped, plain),
        (functools.partial(functools.partial(plain), 1), plain),
        (Box().method, Box.method),
        (Box.build, Box.build.__func__),  # type: ignore[attr-defined]  # a bound method has it
        (Box(), Box.__call__),
        (Box, Box.__init__),
    ],
)
def test_the_function_behind_a_callable_is_found(target: Any, function: Any) -> None:
    assert function_of(target) is function


def test_a_place_is_a_file_a_line_and_a_name() -> None:
    assert place_of(plain).endswith(f"test_annotations.py:{plain.__code__.co_firstlineno}, plain")
    assert place_of(Box().method).endswith("Box.method")
    assert place_of(len) == "len"


def test_only_a_function_of_a_class_body_is_a_method_without_its_object() -> None:
    assert is_method(Box.method)
    assert not is_method(Box().method)
    assert not is_method(plain)

    def local(self: int) -> None: ...

    assert not is_method(local)


def test_names_are_looked_up_where_they_were_written() -> None:
    class Local:
        pass

    def f() -> None: ...

    assert resolve(f, "Box | None") == Optional[Box]  # noqa: UP045  # what it resolves to
    assert resolve(f, "list[Local]") == list[Local]
    assert resolve(plain, int) is int
    with pytest.raises(Unresolved, match="'Local' is not defined"):
        resolve(plain, "Local")


@pytest.mark.parametrize(
    ("annotation", "answer"),
    [
        (ToolContext, True),
        (ToolContext[int], True),
        (Optional[ToolContext[int]], True),  # noqa: UP045  # the old spelling is meant
        (Annotated[ToolContext | None, "x"], True),
        (list[ToolContext], False),
        (int, False),
    ],
)
def test_a_context_is_known_in_every_dress(annotation: Any, answer: bool) -> None:
    assert (context_of(annotation) is ToolContext) is answer


def test_the_fields_of_a_typed_dict_know_whether_they_are_required() -> None:
    assert fields_of(City) == {"name": (str, True), "size": (int, False)}


def test_plain_annotations_need_no_building() -> None:
    assert all(
        map(is_plain, (int, list[int], dict[str, list[int]], int | None, tuple[int, ...], Any, None | int))
    )
    assert not any(map(is_plain, (Box, list[Box], Annotated[int, Box()], type, Box | int)))


def test_importing_the_tools_loads_nothing_heavy() -> None:
    heavy = ["google.genai", "websockets", "rich", "typer", "starlette", "trio", "griffe", "pydantic"]
    code = f"import sys, livetools.tools; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
