"""Which calls share one run."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.events import Call
from livetools.protocol.calls.call_states import CallState, Phase, Record
from livetools.protocol.calls.duplicates import Leaders, end, forget, join, leave
from livetools.setup.plan_fields import CallPolicy


def record(run: int, args: dict[str, Any], name: str = "tool") -> Record:
    made = Record(run, Call(str(run), name, args), CallPolicy(name, join=True), 1, 0.0)
    made.phase = Phase.HANDLER
    return made


def test_a_call_follows_an_equal_one_that_is_served() -> None:
    shared: Leaders = {}
    first, same = (
        record(1, {"a": [1, {"b": None}], "c": True}),
        record(2, {"c": True, "a": [1.0, {"b": None}]}),
    )
    assert join(shared, first) is None
    assert join(shared, same) is first
    assert (same.phase, same.leader, first.shared) == (Phase.LEADER, first, [first, same])
    assert join(shared, record(3, {"a": [1, {"b": None}], "c": 1})) is None, "1 is not true"
    assert join(shared, record(4, {"a": [1, {"b": None}], "c": True}, "other")) is None


def test_nobody_joins_what_is_over() -> None:
    shared: Leaders = {}
    first, second = record(1, {}), record(2, {})
    join(shared, first)
    first.state = CallState.VOID
    assert join(shared, second) is None
    forget(shared, first)
    assert join(shared, record(3, {})) is second, "another's end does not end this"
    forget(shared, second)
    assert join(shared, record(4, {})) is None


def test_the_last_who_leaves_a_run_that_its_leader_has_left_is_told_of_it() -> None:
    shared: Leaders = {}
    first, second, third = record(1, {}), record(2, {}), record(3, {})
    for one in (first, second, third):
        join(shared, one)
    assert leave(second) is first
    first.state = CallState.VOID
    assert first.wanted, "the third shares it"
    assert leave(third) is first
    assert not first.wanted
    assert leave(third) is third, "once"


def test_who_is_on_his_own_has_nobody_to_leave() -> None:
    shared: Leaders = {}
    first, second = record(1, {}), record(2, {})
    join(shared, first)
    join(shared, second)
    assert end(shared, first) == [second]
    assert leave(second) is second


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_equal_arguments_are_found_whatever_they_hold(args: dict[str, Any]) -> None:
    shared: Leaders = {}
    first = record(1, args)
    join(shared, first)
    assert join(shared, record(2, dict(reversed(args.items())))) is first
    assert join(shared, record(3, {**args, "one more than there": 1})) is None
