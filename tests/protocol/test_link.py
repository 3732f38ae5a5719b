"""The table of the connection, proved: every pair of place and input, every order of inputs; and its arithmetic."""

from __future__ import annotations

from itertools import product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.driver import Driver, plan
from support.line import BEGINNINGS, POLICY, World
from support.search import search

from livetools.protocol.errors import ConfigError
from livetools.protocol.link import (
    CLOSING,
    LATEST,
    TABLE,
    UNSAID,
    USABLE,
    Link,
    LinkEffect,
    LinkEvent,
    LinkState,
    ReconnectPolicy,
)
from livetools.protocol.plan_types import CallPolicy, Plan

PLANS: dict[str, tuple[Plan, ReconnectPolicy | None]] = {
    "resumable": (plan(), POLICY),
    "by a handle": (plan(handle="old"), POLICY),
    "without handles": (plan(resumption=False), POLICY),
    "not to be resumed": (plan(), None),
    "by a handle, not to be resumed": (plan(handle="old"), None),
    "one dial": (plan(), ReconnectPolicy(attempts=8, jitter=0.0, budget=1)),
}
# Where an input has nothing to do: no socket to open, to end or to leave, no session, no move, nothing due.
IMPOSSIBLE = {
    LinkState.NEW: {LinkEvent.OPENED, LinkEvent.GONE, LinkEvent.DUE},
    LinkState.LIVE: {LinkEvent.OPENED, LinkEvent.DUE},
    LinkState.WAITING: {LinkEvent.OPENED, LinkEvent.GONE},
    LinkState.CLOSED: set(LinkEvent),
}


def link(
    line: LinkState = LinkState.NEW, policy: ReconnectPolicy | None = POLICY, chance: float = 0.5
) -> Link:
    one = Link(policy, lambda: chance, None)
    one.state = line
    return one


@pytest.mark.parametrize(("line", "on"), list(product(LinkState, LinkEvent)), ids=lambda v: v.name)
def test_every_pair_of_place_and_input_does_what_the_table_says(line: LinkState, on: LinkEvent) -> None:
    one = link(line)
    to, todo = TABLE.get((line, on), (line, ()))
    assert one.move(on) == todo
    assert one.state is (to or line)


def test_from_everywhere_but_the_end_a_close_ends_it() -> None:
    ends = {line for line in LinkState if LinkEffect.END in TABLE.get((line, LinkEvent.CLOSE), (None, ()))[1]}
    assert ends == set(LinkState) - {LinkState.CLOSED}


def test_wherever_a_socket_is_in_use_its_end_is_heard() -> None:
    in_use = set(LinkState) - {LinkState.NEW, LinkState.WAITING, LinkState.CLOSED}
    assert {line for line, on in TABLE if on is LinkEvent.GONE} == in_use


def test_wherever_something_is_awaited_there_is_a_deadline() -> None:
    awaiting = set(LinkState) - {LinkState.NEW, LinkState.LIVE, LinkState.CLOSED}
    assert {line for line, on in TABLE if on is LinkEvent.DUE} == awaiting


def test_what_hangs_on_a_socket_is_lost_wherever_that_socket_goes() -> None:
    """A server may call before it completes the setup, so that is a place to lose something as well."""
    losing = {pair for pair, (_, todo) in TABLE.items() if LinkEffect.LOSE in todo}
    going = {(line, LinkEvent.GONE) for line in [*USABLE, LinkState.SETUP, LinkState.SWAPPING]}
    late = {
        (LinkState.SETUP, LinkEvent.DUE),
        (LinkState.SWAPPING, LinkEvent.DUE),
        (LinkState.SWAPPING, LinkEvent.NEXT_GONE),
    }
    assert losing == going | late


def test_a_setup_is_sent_exactly_where_the_setup_begins() -> None:
    assert all((LinkEffect.SEND_SETUP in todo) == (to is LinkState.SETUP) for to, todo in TABLE.values())


def test_what_cannot_happen_is_not_in_the_table() -> None:
    assert not [(line, on) for line, ons in IMPOSSIBLE.items() for on in ons if (line, on) in TABLE]


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants(name: str) -> None:
    depth = 6 if name == "by a handle" else 5
    assert search(lambda: World(*PLANS[name]), World.INPUTS, depth, last=World.calm) > 100


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_after_longer_beginnings_keeps_the_invariants(name: str) -> None:
    depth = 3 if name == "resumable" else 2
    for beginning in BEGINNINGS:
        assert search(lambda: World(*PLANS[name]), World.INPUTS, depth, beginning, last=World.calm)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants_deeper(name: str) -> None:
    for beginning in BEGINNINGS:
        assert search(lambda: World(*PLANS[name]), World.INPUTS, 5, beginning, last=World.calm)


# The policy


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
    "field", [{"attempts": -1}, {"budget": -1}, {"initial": -0.1}, {"maximum": -1.0}, {"jitter": 1.1}]
)
def test_a_policy_that_makes_no_sense_is_refused(field: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        ReconnectPolicy(**field)  # type: ignore[arg-type]


def test_a_failed_attempt_counts_and_a_session_that_stood_begins_the_count_anew() -> None:
    one = link(policy=ReconnectPolicy(attempts=2, initial=1.0, jitter=0.0))
    assert [one.wait(0.0), one.wait(0.0), one.wait(0.0)] == [1.0, 2.0, None]
    one.began()
    assert one.wait(0.0) == 4.0, "but not the delay: a server that flaps is not dialled at once"
    one.proved()
    one.began()
    assert one.wait(0.0) == 1.0


def test_without_a_policy_or_past_its_budget_nothing_is_dialled_again() -> None:
    assert link(policy=None).wait(0.0) is None
    one = link(policy=ReconnectPolicy(budget=1))
    one.number(0.0, 10.0)
    assert one.may_dial()
    one.number(0.0, 10.0)
    assert not one.may_dial()
    assert one.wait(0.0) is None


def test_the_next_socket_is_not_dialled_before_the_last_one_may_be_closed() -> None:
    one = link(LinkState.SETUP)
    one.hung_up(5.0)
    assert one.wait(5.0, at_once=True) == CLOSING


# A planned move


@pytest.mark.parametrize(
    ("time_left", "latest"), [(50.0, 50 * LATEST), (None, UNSAID * LATEST), (0.0, 0.0), (-3.0, 0.0)]
)
def test_a_move_waits_for_its_share_of_the_time_left(time_left: float | None, latest: float) -> None:
    one = link(LinkState.LEAVING)
    one.plan_move(time_left, 100.0)
    assert one.due == 100.0 + latest


def test_without_any_time_left_the_move_begins_at_once() -> None:
    d = Driver(plan(CallPolicy("slow")), POLICY).live().call(("c1", "slow"))
    d.server({"goAway": {"timeLeft": "0s"}})
    assert d.later(0).dialled == [1, 2]


def test_a_second_go_away_never_gives_more_time_than_the_first() -> None:
    one = link(LinkState.LEAVING)
    one.plan_move(10.0, 0.0)
    one.plan_move(50.0, 1.0)
    assert one.leave_by == 10.0


def test_a_move_that_failed_is_tried_again_while_there_is_time() -> None:
    one = link(LinkState.LEAVING, ReconnectPolicy(initial=2.0, jitter=0.0))
    one.plan_move(50.0, 0.0)
    one.put_off(10.0)
    assert (one.not_before, one.due) == (12.0, 10 + LATEST * 40)
    one.put_off(49.5)
    assert one.due == 49.5 + 4.0


def test_a_move_of_our_own_accord_waits_for_quiet_without_a_deadline() -> None:
    one = link(LinkState.LEAVING)
    one.plan_move(inf, 0.0)
    one.put_off(1.0)
    assert one.due == inf
