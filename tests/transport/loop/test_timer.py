"""A session is woken when its machine wants to be, on either loop and by any clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import anyio
import pytest

from livetools.session.running.clock import Clock, SystemClock, make_timer
from livetools.testing import FakeClock
from livetools.transport.loop.timer import REST

pytestmark = pytest.mark.anyio


class OwnClock(SystemClock):
    """As a user's own, which the loop's timers know nothing of."""


@pytest.fixture(params=[SystemClock, OwnClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    make: Callable[[], Clock] = request.param
    return make()


async def test_it_rings_at_the_earliest_time_that_was_set_and_once(clock: Clock) -> None:
    rung: list[float] = []
    async with anyio.create_task_group() as group:
        timer = make_timer(clock, lambda: rung.append(clock.now()), group)
        began = clock.now()
        timer.set(began + 30)
        await anyio.sleep(0)
        timer.set(began + 0.02)
        timer.set(began + 10)
        with anyio.fail_after(30):
            while not rung:
                await anyio.sleep(0.001)
        timer.close()
        group.cancel_scope.cancel()
    assert len(rung) == 1
    assert rung[0] >= began + 0.02


async def test_it_rings_again_where_it_is_set_again(clock: Clock) -> None:
    rung = 0

    def ring() -> None:
        nonlocal rung
        rung += 1
        if rung < 3:
            timer.set(clock.now() + 0.001)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            timer = make_timer(clock, ring, group)
            timer.set(clock.now())
            while rung < 3:
                await anyio.sleep(0.001)
            timer.close()
            group.cancel_scope.cancel()


async def test_one_that_is_closed_rings_no_more(clock: Clock) -> None:
    rung: list[int] = []
    async with anyio.create_task_group() as group:
        timer = make_timer(clock, lambda: rung.append(1), group)
        timer.set(clock.now() + 0.01)
        await anyio.sleep(0)
        timer.close()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.03)
    assert not rung


async def test_a_clock_that_stands_still_is_waited_for() -> None:
    clock = FakeClock()
    rung: list[float] = []
    async with anyio.create_task_group() as group:
        timer = make_timer(clock, lambda: rung.append(clock.now()), group)
        timer.set(clock.now() + 30)
        await anyio.wait_all_tasks_blocked()
        assert not rung
        clock.advance(31)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert rung


async def test_what_may_be_done_at_any_time_rings_at_once(clock: Clock) -> None:
    rung = anyio.Event()
    async with anyio.create_task_group() as group:
        timer = make_timer(clock, rung.set, group)
        timer.set(-math.inf)
        with anyio.fail_after(30):
            await rung.wait()
        timer.close()
        group.cancel_scope.cancel()


@pytest.mark.parametrize("threads", [False, True])
async def test_one_that_rings_late_lets_the_loop_run_first(clock: Clock, threads: bool) -> None:
    seen: list[str] = []

    async def several_steps() -> None:
        for _ in range(8):
            await anyio.sleep(0)
        seen.append("the others")

    async with anyio.create_task_group() as group:
        timer = make_timer(clock, lambda: seen.append("the timer"), group, lambda: threads)
        timer.set(clock.now() + 0.01)
        await anyio.sleep(0)
        time.sleep(0.1)
        group.start_soon(several_steps)
        with anyio.fail_after(30):
            while len(seen) < 2:
                await anyio.sleep(0.001)
                timer.set(clock.now())  # what comes meanwhile does not make it ring earlier
        timer.close()
        group.cancel_scope.cancel()
    assert seen[:2] == ["the others", "the timer"]


async def test_one_that_is_set_for_a_time_that_has_passed_is_not_late(clock: Clock) -> None:
    rung = anyio.Event()
    async with anyio.create_task_group() as group:
        timer = make_timer(clock, rung.set, group)
        timer.set(clock.now() - 60)
        assert timer.due >= clock.now() - 1
        began = anyio.current_time()
        with anyio.fail_after(30):
            await rung.wait()
        assert anyio.current_time() - began < REST
        timer.close()
        group.cancel_scope.cancel()
