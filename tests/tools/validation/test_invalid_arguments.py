"""What is wrong with a call, in words for a model."""

from __future__ import annotations

import collections
import datetime
import pathlib
import re
import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    UUID4,
    AnyUrl,
    BaseModel,
    Field,
    FutureDate,
    FutureDatetime,
    HttpUrl,
    Json,
    PastDate,
    PastDatetime,
    Strict,
    StrictBool,
    StrictInt,
    TypeAdapter,
    UrlConstraints,
    ValidationError,
)

from livetools import Tool
from livetools.errors import ToolError
from livetools.tools.validation.invalid_arguments import InvalidArguments, explain


def explained(annotation: Any, args: dict[str, Any], takes: list[str] | None = None) -> str:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(annotation).validate_python(args)
    error = explain("f", caught.value, args, takes or [])
    assert isinstance(error, InvalidArguments | ToolError)
    return str(error)


def test_the_text_says_what_where_and_what_is_taken() -> None:
    assert explained(dict[str, int], {"a": "x"}, ["a", "b"]) == (
        'Invalid arguments for f: a should be a whole number, not "x". f takes a, b.'
    )
    assert explained(dict[str, int], {"a": "x"}).endswith("f takes no arguments.")


def test_many_problems_are_counted() -> None:
    text = explained(dict[str, int], {f"k{i}": "x" for i in range(10)})
    assert text.count("should be") == 6
    assert "; and 4 more." in text


def test_the_members_of_a_union_are_one_problem() -> None:
    assert "a should be a whole number or an array, not null." in explained(
        dict[str, int | list[int]], {"a": None}
    )


def test_a_place_is_written_as_a_path() -> None:
    assert "a.b[1].c should be true or false" in explained(
        dict[str, dict[str, list[dict[str, bool]]]], {"a": {"b": [{}, {"c": "x"}]}}
    )


class Left(BaseModel):
    n: int


class Right(BaseModel):
    at: datetime.date


def said(annotation: Any, value: object) -> str:
    def f(x): ...  # type: ignore[no-untyped-def]

    f.__annotations__ = {"x": annotation}
    with pytest.raises(InvalidArguments) as info:
        Tool(f).arguments({"x": value})
    return str(info.value).removeprefix("Invalid arguments for f: ").removesuffix(". f takes x.")


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int | list[int], "a", 'x should be a whole number or an array, not "a"'),
        (list[int] | dict[str, int], 5, "x should be an array or an object, not 5"),
        (
            datetime.date | Literal["now"],
            "x",
            "x should be a date such as 2026-01-31 or one of 'now', not \"x\"",
        ),
        (Annotated[int, Field(gt=3)] | datetime.date, 2, None),
        (StrictInt | StrictBool, "5", 'x should be a whole number or true or false, not "5"'),
        (set[Any], [[1]], "x[0] should be a simple value, not an array"),
        (pathlib.Path, 5, "x should be a path, not 5"),
        (Json[list[int]], [1], "x should be text that holds JSON, not an array"),
    ],
    ids=str,
)
def test_all_kinds_that_are_possible_are_named(annotation: Any, value: object, text: str | None) -> None:
    told = said(annotation, value)
    if text is not None:
        assert told == text
    assert not re.search(r"should be (.*), not \1(?!\w)", told)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (Annotated[bytes, Field(min_length=3)], "aGk=", 'base64 of at least 3 bytes, not "aGk="'),
        (Annotated[bytes, Field(max_length=1)], "aGk=", 'base64 of at most 1 bytes, not "aGk="'),
        (PastDate, "2999-01-01", 'a date in the past, not "2999-01-01"'),
        (FutureDate, "2001-01-01", 'a date in the future, not "2001-01-01"'),
        (PastDatetime, "2999-01-01T09:00:00Z", 'a date and time in the past, not "2999-01-01T09:00:00Z"'),
        (FutureDatetime, "2001-01-01T09:00:00Z", 'a date and time in the future, not "2001-01-01T09:00:00Z"'),
        (HttpUrl, "ftp://a", "a URL that begins with 'http', 'https', not \"ftp://a\""),
        (
            Annotated[AnyUrl, UrlConstraints(max_length=9)],
            "http://a/b/c",
            'a URL of at most 9 characters, not "http://a/b/c"',
        ),
        (UUID4, str(uuid.UUID(int=1)), f'a UUID of version 4, not "{uuid.UUID(int=1)}"'),
        (Annotated[Decimal, Field(max_digits=2)], 123, "a number of at most 2 digits, not 123"),
        (
            Annotated[Decimal, Field(decimal_places=1)],
            "1.25",
            'a number of at most 1 decimal places, not "1.25"',
        ),
        (
            Annotated[Decimal, Field(max_digits=2, decimal_places=1)],
            "12",
            'a number of at most 1 digits before its decimal point, not "12"',
        ),
    ],
    ids=str,
)
def test_a_value_of_the_right_kind_is_told_what_is_wrong_with_it(
    annotation: Any, value: object, text: str
) -> None:
    assert said(annotation, value) == f"x should be {text}"


ANNOTATIONS: list[Any] = [
    int,
    float,
    bool,
    str,
    bytes,
    list[int],
    list[list[int]],
    set[int],
    set[Any],
    frozenset[str],
    tuple[int, str],
    tuple[int, ...],
    dict[str, int],
    dict[int, list[int]],
    Left,
    Left | Right,
    list[Left] | Left,
    StrictInt | StrictBool,
    Annotated[list[int], Strict(), Field(min_length=2)],
    Annotated[set[int], Strict()],
    Literal["a", 1],
    int | None,
    int | list[str] | dict[str, int],
    datetime.date | datetime.timedelta,
    Json[list[int]],
    collections.deque[int],
    Iterable[int],
    collections.Counter[str],
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-9, 9)
    | st.sampled_from(("", "a", "5", "[]", "{}")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("n", "at", "1")), inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.sampled_from(ANNOTATIONS), VALUES)
def test_no_error_ever_asks_for_what_was_sent(annotation: Any, value: object) -> None:
    def f(x): ...  # type: ignore[no-untyped-def]

    f.__annotations__ = {"x": annotation}
    try:
        Tool(f).arguments({"x": value})
    except InvalidArguments as error:
        for problem in str(error).removesuffix(". f takes x.").split("; "):
            wanted, _, echo = problem.partition(", not ")
            assert not echo or echo not in re.split(r"should be | or ", wanted), problem
