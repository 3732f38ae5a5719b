"""A task that always has more work lets others run, and not more often than it must."""

from __future__ import annotations

import time

import anyio
import pytest

from livetools.session.timeslice import SLICE, TimeSlice

pytestmark = pytest.mark.anyio


async def test_others_run_while_a_task_works_without_waiting() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(other)
        slice = TimeSlice()
        ends = time.monotonic() + 10 * SLICE
        shares = 0
        while time.monotonic() < ends:
            await slice.share()
            shares += 1
        group.cancel_scope.cancel()
    assert 2 <= turns <= 11
    assert shares > 5 * turns


async def test_whoever_has_just_waited_keeps_its_slice() -> None:
    slice = TimeSlice()
    slice.rested()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await slice.share()  # nothing is awaited
    assert not scope.cancelled_caught


async def test_work_without_an_end_can_be_cancelled() -> None:
    slice = TimeSlice()
    with anyio.fail_after(5), anyio.move_on_after(0.02) as scope:
        while True:
            await slice.share()
    assert scope.cancelled_caught
