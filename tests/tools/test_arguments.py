"""What is wrong with a call, in words for a model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from livetools.protocol.errors import ToolError
from livetools.tools.arguments import InvalidArguments, explain


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
