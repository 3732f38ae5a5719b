"""The clock that a test holds in its hand."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio


async def test_it_stands_still_until_it_is_moved():
    clock = FakeClock(start=5.0)
    assert clock.now() == 5.0
    clock.advance(2.5)
    assert clock.now() == 7.5


async def test_sleepers_wake_in_the_order_of_their_times_and_not_before():
    clock, woken = FakeClock(), []

    async def sleeper(t):
        await clock.sleep_until(t)
        woken.append(t)

    async with anyio.create_task_group() as group:
        for t in (3.0, 1.0, 2.0):
            group.start_soon(sleeper, t)
        await anyio.wait_all_tasks_blocked()
        clock.advance(0.9)
        await anyio.wait_all_tasks_blocked()
        assert woken == []
        clock.advance(1.1)
        await anyio.wait_all_tasks_blocked()
        assert sorted(woken) == [1.0, 2.0]
        clock.advance(1.0)
    assert sorted(woken) == [1.0, 2.0, 3.0]


async def test_a_time_that_has_passed_is_not_slept_for():
    clock = FakeClock()
    await clock.sleep_until(0.0)
    await clock.sleep_until(-1.0)
    await checkpoint()


async def test_a_cancelled_sleeper_is_forgotten():
    clock = FakeClock()
    with anyio.move_on_after(0):
        await clock.sleep_until(1.0)
    assert clock.sleepers == 0


@pytest.mark.parametrize("seconds", [-1, float("nan")])
async def test_time_does_not_run_backwards(seconds):
    with pytest.raises(ValueError, match="backwards"):
        FakeClock().advance(seconds)
