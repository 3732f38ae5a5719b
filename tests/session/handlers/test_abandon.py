"""A coroutine of the user's that is cancelled, and left where it stands if it goes on all the same."""

from __future__ import annotations

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.session.handlers.abandon import Leavable
from livetools.session.running import leaving

pytestmark = pytest.mark.anyio


async def run(leavable: Leavable) -> None:
    await leavable


async def test_a_cancellation_reaches_it_each_time_it_waits() -> None:
    seen: list[str] = []

    async def stubborn() -> None:
        for word in ("once", "again"):
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                seen.append(word)

    leavable = Leavable(stubborn())
    async with anyio.create_task_group() as group:
        group.start_soon(run, leavable)
        await everybody_waits()
        leavable.cancel()
    assert seen == ["once", "again"]


async def test_one_that_was_cancelled_before_it_ran_begins_and_is_cancelled_where_it_waits() -> None:
    seen: list[str] = []

    async def waits() -> None:
        seen.append("began")
        await anyio.sleep_forever()

    leavable = Leavable(waits())
    leavable.cancel()
    await leavable
    assert seen == ["began"]


async def test_an_error_of_what_it_waits_for_is_raised_inside_and_its_own_outside() -> None:
    async def fails() -> None:
        with pytest.raises(TimeoutError), anyio.fail_after(0):
            await anyio.sleep_forever()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Leavable(fails())


async def test_one_that_swallows_each_cancellation_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "CANCELLED_END", 0.01)

    async def for_ever() -> None:
        while True:
            try:
                await anyio.sleep(0.001)
            except anyio.get_cancelled_exc_class():
                await anyio.lowlevel.cancel_shielded_checkpoint()

    leavable = Leavable(for_ever())
    async with anyio.create_task_group() as group:
        group.start_soon(run, leavable)
        await everybody_waits()
        leavable.end()
