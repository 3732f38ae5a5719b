"""When calls expire."""

from __future__ import annotations

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.events import Call
from livetools.protocol.calls.call_states import CallState, Record
from livetools.protocol.calls.deadlines import Deadlines
from livetools.setup.plan_fields import CallPolicy


def records(count: int) -> dict[int, Record]:
    return {n: Record(n, Call(str(n), "tool"), CallPolicy("tool"), 1, 0.0) for n in range(1, count + 1)}


def test_the_earliest_is_next_and_what_was_moved_or_is_over_has_no_deadline() -> None:
    held = records(3)
    deadlines = Deadlines(held)
    assert deadlines.next() == inf
    for run, at in ((1, 5.0), (2, 3.0), (3, 4.0)):
        deadlines.set(held[run], at)
    assert deadlines.next() == 3.0
    deadlines.set(held[2], inf)
    held[3].state = CallState.PAID
    assert deadlines.next() == 5.0
    assert list(deadlines.expired(4.9)) == []
    assert [r.run for r in deadlines.expired(5.0)] == [1]
    assert deadlines.next() == inf


def test_calls_that_share_a_run_share_its_deadline() -> None:
    held = records(2)
    held[1].followers = [held[2]]
    Deadlines(held).set(held[1], 7.0)
    assert held[2].deadline == 7.0


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.floats(0, 100) | st.just(inf)), max_size=30), st.floats(0, 100)
)
def test_whatever_was_set_last_holds(settings: list[tuple[int, float]], now: float) -> None:
    held = records(5)
    deadlines = Deadlines(held)
    for run, at in settings:
        deadlines.set(held[run], at)
    last = dict(settings)
    expired = []
    for record in deadlines.expired(now):
        record.state = CallState.READY
        expired.append(record.run)
    assert sorted(expired) == sorted(run for run, at in last.items() if at <= now)
    assert deadlines.next() == min((at for at in last.values() if at > now), default=inf)
