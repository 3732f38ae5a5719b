"""The error tree: drawn in the docstring as it is, and texts that say what happened and what to do."""

from __future__ import annotations

import re

import pytest

from livetools import errors
from livetools.errors import ConcurrencyError, ConfigError, LiveToolsError, SessionClosed

TREE = {name: error for name, error in vars(errors).items() if isinstance(error, type)}


def test_the_drawing_is_the_tree() -> None:
    parents = ["LiveToolsError"]
    drawn = {"LiveToolsError": "Exception"}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"^ {4}([│├└─ ]*)── (\w+)", line):
            depth = len(match[1]) // 4 + 1
            drawn[match[2]] = parents[depth - 1]
            parents[depth:] = [match[2]]
    assert drawn == {name: error.__bases__[0].__name__ for name, error in TREE.items()}


@pytest.mark.parametrize("name", TREE)
def test_every_error_is_caught_by_the_root_and_says_what_it_is(name: str) -> None:
    assert issubclass(TREE[name], LiveToolsError)
    assert TREE[name].__doc__


def test_two_of_them_are_what_python_calls_them_too() -> None:
    assert issubclass(ConfigError, ValueError)
    assert issubclass(ConcurrencyError, RuntimeError)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((1006,), "the connection was closed with 1006"),
        ((1011, "Internal error."), "the connection was closed with 1011: Internal error"),
        ((1008, "no", "setup"), "the connection was closed with 1008 during setup: no"),
        (
            (1007, "Bad key.", "setup", False, "Check it"),
            "the connection was closed with 1007 during setup: Bad key. Check it",
        ),
        ((503, "", "connect"), "the service answered with HTTP 503 during connect"),
    ],
)
def test_a_closed_session_says_how_when_why_and_what_next(
    args: tuple[int | str | bool, ...], text: str
) -> None:
    error = SessionClosed(*args)  # type: ignore[arg-type]
    assert str(error).rstrip(".") == text
    assert error.code == args[0]
