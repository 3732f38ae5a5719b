"""Code of the user's that is cancelled, and left where it stands if it goes on all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.session.handlers.user_code import UserCode
from livetools.session.running import leaving
from livetools.transport.loop.wake import on_trio

pytestmark = pytest.mark.anyio


async def in_a_task(code: UserCode, coroutine: Coroutine[Any, Any, object]) -> object:
    """What it gives, in a task of its own, as code of the user's has one; this task is not cancelled with it."""
    gave: list[object] = []

    async def run() -> None:
        gave.append(await code.perform(coroutine))

    if on_trio():
        async with anyio.create_task_group() as group:
            group.start_soon(run)
    else:
        await asyncio.wait([asyncio.ensure_future(run())])
    return gave[0]


async def perform(code: UserCode, coroutine: Coroutine[Any, Any, object]) -> None:
    await code.perform(coroutine)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_on_asyncio_a_clean_up_may_wait_however_often_it_is_cancelled(anyio_backend: str) -> None:
    seen: list[str] = []

    async def books() -> None:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            code.cancel()
            await everybody_waits()
            seen.append("rolled back")
            raise

    code = UserCode()
    async with anyio.create_task_group() as group:
        group.start_soon(perform, code, books())
        await everybody_waits()
        code.cancel()
        code.cancel()
    assert seen == ["rolled back"]


async def test_one_that_is_ended_is_cancelled_until_it_ends() -> None:
    seen: list[str] = []

    async def stubborn() -> None:
        for word in ("once", "again"):
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                seen.append(word)

    code = UserCode()
    async with anyio.create_task_group() as group:
        group.start_soon(perform, code, stubborn())
        await everybody_waits()
        code.end()
    assert seen == ["once", "again"]


async def test_one_that_cancels_itself_and_does_not_wait_any_more_leaves_nothing_behind() -> None:
    async def last_act() -> str:
        code.cancel()
        return "done"

    code = UserCode()
    assert await in_a_task(code, last_act()) == "done"
    with anyio.fail_after(5):
        await everybody_waits()
    if not on_trio():
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


async def test_one_that_cancels_itself_is_cancelled_where_it_waits_next() -> None:
    async def waits() -> None:
        code.cancel()
        seen.append("ran on")
        await anyio.sleep_forever()

    seen: list[str] = []
    code = UserCode()
    assert await in_a_task(code, waits()) is None
    assert seen == ["ran on"]
    await everybody_waits()  # this task itself is not cancelled


async def test_one_that_was_cancelled_before_it_ran_begins_and_is_cancelled_where_it_waits() -> None:
    seen: list[str] = []

    async def waits() -> None:
        seen.append("began")
        await anyio.sleep_forever()

    code = UserCode()
    code.cancel()
    assert await in_a_task(code, waits()) is None
    assert seen == ["began"]


async def test_an_error_of_what_it_waits_for_is_raised_inside_and_its_own_outside() -> None:
    async def fails() -> None:
        with pytest.raises(TimeoutError), anyio.fail_after(0):
            await anyio.sleep_forever()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await UserCode().perform(fails())


async def test_one_that_swallows_each_cancellation_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "CANCELLED_END", 0.01)

    async def for_ever() -> None:
        while True:
            try:
                await anyio.sleep(0.001)
            except anyio.get_cancelled_exc_class():
                await anyio.lowlevel.cancel_shielded_checkpoint()

    code = UserCode()
    async with anyio.create_task_group() as group:
        group.start_soon(perform, code, for_ever())
        await everybody_waits()
        code.end()
