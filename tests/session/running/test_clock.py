"""The system's clock."""

from __future__ import annotations

import math

import anyio
import pytest

from livetools.session.running.clock import SystemClock

pytestmark = pytest.mark.anyio


async def test_it_sleeps_until_the_time_and_not_at_all_until_a_past_one() -> None:
    clock = SystemClock()
    began = clock.now()
    with anyio.fail_after(30):
        await clock.sleep_until(began - 1)
        await clock.sleep_until(-math.inf)  # at once: a move that may begin whenever it is quiet
    await clock.sleep_until(began + 0.01)
    assert clock.now() >= began + 0.01


async def test_infinity_is_slept_for_ever() -> None:
    with anyio.move_on_after(0.01) as scope:
        await SystemClock().sleep_until(math.inf)
    assert scope.cancelled_caught
