"""However a coroutine takes its cancellation, its call ends once, its slot is free, and nothing of it stays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from support.waiting import everybody_waits

from livetools import ToolCancelled, tool
from livetools.session.running import leaving

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

Opened = Callable[..., Any]
Body = Callable[[], Any]


async def waits() -> None:
    await asyncio.sleep(3600)


async def waits_turn_by_turn() -> None:
    while True:
        await asyncio.sleep(0)


async def waits_in_a_timeout() -> None:
    async with asyncio.timeout(3600):
        await asyncio.sleep(3600)


async def waits_in_an_anyio_scope() -> None:
    with anyio.fail_after(3600):
        await anyio.sleep_forever()


async def waits_in_a_shield_of_asyncio() -> None:
    await asyncio.shield(asyncio.sleep(0))
    await asyncio.sleep(3600)


async def waits_in_a_shielded_scope() -> None:
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()


async def waits_for_a_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(3600))


async def waits_for_an_anyio_group() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        await anyio.sleep_forever()


async def waits_for_a_task() -> None:
    await asyncio.create_task(asyncio.sleep(3600))


async def gathers() -> None:
    await asyncio.gather(*(asyncio.sleep(3600) for _ in range(3)))


async def returns_when_it_is_cancelled() -> str:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        return "all the same"
    return ""


async def fails_when_it_is_cancelled() -> None:
    try:
        await asyncio.sleep(3600)
    finally:
        raise LookupError


async def cleans_up_slowly() -> None:
    try:
        await asyncio.sleep(3600)
    finally:
        for _ in range(5):
            await asyncio.sleep(0)


async def cleans_up_in_groups_and_timeouts() -> None:
    try:
        await asyncio.sleep(3600)
    finally:
        async with asyncio.timeout(3600), asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        with anyio.fail_after(3600):
            await anyio.lowlevel.checkpoint()


async def takes_its_cancellation_back() -> None:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()


async def yields() -> AsyncIterator[int]:
    try:
        while True:
            yield 1
            await asyncio.sleep(0)
    finally:
        await asyncio.sleep(0)


BODIES: list[Body] = [
    waits,
    waits_turn_by_turn,
    waits_in_a_timeout,
    waits_in_an_anyio_scope,
    waits_in_a_shield_of_asyncio,
    waits_in_a_shielded_scope,
    waits_for_a_group,
    waits_for_an_anyio_group,
    waits_for_a_task,
    gathers,
    returns_when_it_is_cancelled,
    fails_when_it_is_cancelled,
    cleans_up_slowly,
    cleans_up_in_groups_and_timeouts,
    takes_its_cancellation_back,
    yields,
]


async def quick() -> str:
    return "quick"


@contextlib.asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Neither a task, nor an error that nobody has handled."""
    told: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(str(context)))
    before = asyncio.all_tasks()
    yield
    await everybody_waits()
    loop.set_exception_handler(None)
    assert told == []
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("body", BODIES)
async def test_a_call_that_is_taken_back_frees_its_slot_at_whatever_step_of_its_handler(
    opened: Opened, body: Body
) -> None:
    async with nothing_left(), opened([body, quick], max_concurrency=1) as line:
        for turns in (0, 1, 2, 5):
            line.call({"name": body.__name__, "id": f"c{turns}", "args": {}})
            for _ in range(turns):
                await asyncio.sleep(0)
            line.server.send({"toolCallCancellation": {"ids": [f"c{turns}"]}})
            await line.until(ToolCancelled)
            line.call({"name": "quick", "id": f"q{turns}", "args": {}})
            answers = await line.responses(1)
            while answers[-1]["id"] != f"q{turns}":  # the yields before it
                answers = await line.responses(1)
            await line.quiet()
            assert line.session.stats()["handlers"] == 0


@pytest.mark.parametrize("body", BODIES)
async def test_a_call_whose_time_is_up_is_answered_and_frees_its_slot(opened: Opened, body: Body) -> None:
    slow = tool(body, timeout=0.1)  # of real time: some of them never let a loop have nothing to do
    async with nothing_left(), opened([slow, quick], max_concurrency=1) as line:
        line.call({"name": body.__name__, "id": "c1", "args": {}}, {"name": "quick", "id": "q1", "args": {}})
        answers = {}
        while answers.keys() != {"c1", "q1"}:
            answers.update({r["id"]: r["response"] for r in await line.responses(1)})
        assert "timed out" in str(answers["c1"]) or body is yields
        assert answers["q1"] == {"output": "quick"}


@pytest.mark.parametrize("body", BODIES)
async def test_a_session_that_is_left_ends_every_handler_without_waiting_for_the_bounds(
    opened: Opened, body: Body
) -> None:
    with anyio.fail_after(leaving.HANDLERS_END):
        for turns in (0, 1, 2, 5):
            async with nothing_left(), opened([body]) as line:
                line.call({"name": body.__name__, "id": "c1", "args": {}})
                for _ in range(turns):
                    await asyncio.sleep(0)
