"""What is run up to where it first waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from livetools.attach.first_step import FirstStep

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_what_does_not_wait_is_done_and_has_its_value() -> None:
    async def three() -> int:
        return 3

    step = FirstStep(three())
    assert (step.waits, step.value) == (False, 3)


async def test_what_waits_goes_on_when_it_is_awaited() -> None:
    order: list[str] = []

    async def waits() -> int:
        order.append("first")
        await asyncio.sleep(0)
        order.append("second")
        await asyncio.sleep(0)
        return 3

    step = FirstStep(waits())
    assert step.waits
    order.append("between")
    assert await step == 3
    assert order == ["first", "between", "second"]


async def test_what_the_first_step_raises_is_raised_at_once_and_what_a_later_one_raises_by_awaiting_it() -> (
    None
):
    async def fails(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        raise KeyError(turns)

    with pytest.raises(KeyError):
        FirstStep(fails(0))
    for turns in (1, 2):
        step = FirstStep(fails(turns))
        with pytest.raises(KeyError):
            await step


async def test_a_cancellation_is_raised_where_it_waits_and_may_be_outlived() -> None:
    cleaned = 0

    async def waits(stubborn: bool) -> int:
        nonlocal cleaned
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            cleaned += 1
            if not stubborn:
                raise
        return 3

    async def awaits(stubborn: bool) -> int:
        return await FirstStep(waits(stubborn))

    for stubborn in (False, True):
        task = asyncio.create_task(awaits(stubborn))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() is not stubborn
    assert cleaned == 2
    assert task.result() == 3


async def test_one_that_ends_when_it_is_cancelled_gives_its_value() -> None:
    async def waits() -> int:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return 3
        return 0

    async def awaits() -> int:
        return await FirstStep(waits())

    task = asyncio.create_task(awaits())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == 3


async def test_the_next_of_an_async_generator_is_one_too() -> None:
    async def numbers() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(0)
        yield 2

    generator = numbers()
    first, second = FirstStep(anext(generator)), FirstStep(anext(generator))
    assert (first.waits, first.value, second.waits) == (False, 1, True)
    assert await second == 2
    with pytest.raises(StopAsyncIteration):
        FirstStep(anext(generator))
