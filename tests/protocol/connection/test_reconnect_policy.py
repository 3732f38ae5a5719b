"""How often is dialled again, and how long each dial waits."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.errors import ConfigError
from livetools.protocol.connection.reconnect_policy import Attempts, ReconnectPolicy


def attempts(policy: ReconnectPolicy | None) -> Attempts:
    return Attempts(policy, lambda: 0.5)


def test_each_attempt_waits_twice_as_long_up_to_the_maximum() -> None:
    policy = ReconnectPolicy(initial=0.25, maximum=3.0, jitter=0.0)
    assert [policy.delay(n, 0.5) for n in range(1, 7)] == [0.25, 0.5, 1.0, 2.0, 3.0, 3.0]


@given(attempt=st.integers(1, 10_000), chance=st.floats(0, 1, exclude_max=True), jitter=st.floats(0, 1))
@settings(derandomize=True, max_examples=50)
def test_a_delay_stays_within_its_jitter_whatever_the_attempt(
    attempt: int, chance: float, jitter: float
) -> None:
    policy = ReconnectPolicy(initial=0.5, maximum=8.0, jitter=jitter)
    plain = min(8.0, 0.5 * 2.0 ** min(attempt - 1, 10))
    assert plain * (1 - jitter) <= policy.delay(attempt, chance) <= plain * (1 + jitter)


@pytest.mark.parametrize(
    "field",
    [
        {"attempts": -1},
        {"budget": -1},
        {"initial": -0.1},
        {"maximum": -1.0},
        {"jitter": 1.1},
        {"initial": float("nan")},
        {"attempts": "8"},
        {"budget": True},
        {"maximum": None},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(field: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(field))):
        ReconnectPolicy(**field)  # type: ignore[arg-type]


def test_a_failed_attempt_counts_and_a_session_that_stood_begins_the_count_anew() -> None:
    one = attempts(ReconnectPolicy(attempts=2, initial=1.0, jitter=0.0))
    assert [one.retry_delay(), one.may_dial(), one.retry_delay(), one.may_dial()] == [1.0, True, 2.0, False]
    one.stood()
    assert one.may_dial()
    assert one.retry_delay() == 4.0, "but not the delay: a server that flaps is not dialled at once"
    one.proved()
    assert one.retry_delay() == 1.0


def test_a_stale_handle_is_dialled_without_at_once_but_not_for_ever() -> None:
    one = attempts(ReconnectPolicy(initial=1.0, jitter=0.0))
    assert [one.retry_delay(at_once=True) for _ in range(3)] == [0.0, 0.0, 4.0]


def test_without_a_policy_or_past_its_budget_nothing_is_dialled_again() -> None:
    assert not attempts(None).may_dial()
    one = attempts(ReconnectPolicy(budget=1))
    assert (one.dial(), one.may_dial()) == (1, True)
    assert (one.dial(), one.may_dial()) == (2, False)


def test_a_service_that_leaves_one_connection_after_another_is_dialled_less_and_less_often() -> None:
    one = attempts(ReconnectPolicy(initial=1.0, jitter=0.0))
    assert [one.go_away_delay(link, 50.0) for link in (1, 1, 2, 2, 3)] == [0.0, 0.0, 1.0, 0.0, 2.0]
    one.proved()
    assert one.go_away_delay(4, 50.0) == 0.0


def test_a_move_that_the_user_wants_is_none_of_the_services() -> None:
    one = attempts(ReconnectPolicy(initial=1.0, jitter=0.0))
    assert [
        one.go_away_delay(1, inf),
        one.go_away_delay(2, inf),
        one.go_away_delay(3, None),
        one.go_away_delay(4, None),
    ] == [0, 0, 0, 1]
