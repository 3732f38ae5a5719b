"""Handlers that cancel in their first step, in each way that asyncio has, and what asyncio itself makes of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

Kind = Callable[[], Awaitable[object]]


def _me() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def a_timeout_of_zero() -> None:
    async with asyncio.timeout(0):
        await asyncio.sleep(60)


async def a_timeout_of_zero_around_a_turn_of_the_loop() -> None:
    async with asyncio.timeout(0):
        await asyncio.sleep(0)


async def a_timeout_that_expires_before_the_first_wait() -> None:
    async with asyncio.timeout(0.001):
        time.sleep(0.002)
        await asyncio.sleep(60)


async def a_timeout_that_is_caught() -> str:
    try:
        async with asyncio.timeout(0):
            await asyncio.sleep(60)
    except TimeoutError:
        await asyncio.sleep(0)
    return f"caught, {_me().cancelling()} left"


async def a_timeout_inside_a_timeout() -> None:
    async with asyncio.timeout(60):
        async with asyncio.timeout(0):
            await asyncio.sleep(60)


async def a_wait_for_of_zero() -> None:
    await asyncio.wait_for(asyncio.sleep(60), 0)


async def a_timeout_around_a_wait_that_is_over() -> str:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, "came")
    async with asyncio.timeout(60):
        return await future


async def a_group_that_fails() -> None:
    async def fails() -> None:
        raise KeyError("child")

    async with asyncio.TaskGroup() as group:
        group.create_task(fails())
        await asyncio.sleep(60)


async def a_group_whose_failure_is_caught() -> str:
    try:
        await a_group_that_fails()
    except* KeyError:
        await asyncio.sleep(0)
    return f"caught, {_me().cancelling()} left"


async def a_group_that_fails_in_its_body() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(60))
        raise KeyError("body")


async def an_anyio_scope_that_is_over() -> str:
    with anyio.move_on_after(0) as scope:
        await anyio.sleep(60)
    await asyncio.sleep(0)
    return f"{scope.cancelled_caught}, {_me().cancelling()} left"


async def a_cancellation_that_is_taken_back_before_it_waits() -> str:
    _me().cancel()
    _me().uncancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    return "went on"


async def a_cancellation_that_is_taken_back_before_it_ends() -> str:
    _me().cancel()
    _me().uncancel()
    return "went on"


async def one_of_two_cancellations_that_is_taken_back() -> None:
    _me().cancel()
    _me().cancel()
    _me().uncancel()
    await asyncio.sleep(60)


async def a_cancellation_that_is_caught_and_taken_back() -> str:
    _me().cancel()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        left = _me().uncancel()
    await asyncio.sleep(0)
    return f"caught, {left} left"


async def a_cancellation_that_is_left() -> None:
    _me().cancel()
    await asyncio.sleep(60)


KINDS: list[Kind] = [
    a_timeout_of_zero,
    a_timeout_of_zero_around_a_turn_of_the_loop,
    a_timeout_that_expires_before_the_first_wait,
    a_timeout_that_is_caught,
    a_timeout_inside_a_timeout,
    a_timeout_around_a_wait_that_is_over,
    a_wait_for_of_zero,
    a_group_that_fails,
    a_group_whose_failure_is_caught,
    a_group_that_fails_in_its_body,
    an_anyio_scope_that_is_over,
    a_cancellation_that_is_taken_back_before_it_waits,
    a_cancellation_that_is_taken_back_before_it_ends,
    one_of_two_cancellations_that_is_taken_back,
    a_cancellation_that_is_caught_and_taken_back,
    a_cancellation_that_is_left,
]


async def alone(kind: Kind) -> object:
    """How it ends in a task of its own: its value, or the class of what it raises."""
    seen: list[object] = []
    await asyncio.gather(noted(kind, seen), return_exceptions=True)
    return seen[0]


async def noted(kind: Kind, seen: list[object]) -> object:
    """Run it, and note how it ends."""
    try:
        value = await kind()
    except BaseException as error:
        seen.append(type(error))
        raise
    seen.append(value)
    return value
