"""What machine and shell say to each other."""

from __future__ import annotations

from typing import get_args

import pytest

from livetools.protocol.calls.driver_actions import Action, Close, Outcome


@pytest.mark.parametrize("kind", get_args(Action))
def test_an_action_is_frozen(kind: type) -> None:
    names = kind.__match_args__  # type: ignore[attr-defined]
    made = kind(*range(len(names)))
    with pytest.raises(AttributeError):
        setattr(made, names[0], 7)
    assert made == kind(*range(len(names)))


def test_a_close_says_by_default_that_the_line_broke() -> None:
    assert Close() == Close(1006, "", by_us=False)


def test_closes_are_told_apart_by_what_was_said_not_by_the_error_object() -> None:
    assert Close(1006, error=OSError("a")) == Close(1006, error=OSError("b"))
    assert Close(1006, by_us=True) != Close(1006)


def test_an_outcome_is_a_response_and_says_nothing_more_unless_told() -> None:
    outcome = Outcome({"output": 1})
    assert (outcome.error, outcome.scheduling, outcome.ends_session, outcome.parts) == (None, None, False, ())
