"""A coroutine whose first step is taken in the name of a task that waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import pytest

from livetools.session.handlers.eager import EagerCoroutine

pytestmark = pytest.mark.anyio
VARIABLE: ContextVar[int] = ContextVar("variable", default=0)


@pytest.fixture
def anyio_backend() -> str:
    """Trio has no task that another may speak for."""
    return "asyncio"


class Host:
    """A task that waits, and awaits what it is given."""

    def __init__(self) -> None:
        self.given: asyncio.Future[EagerCoroutine] = asyncio.get_running_loop().create_future()
        self.scope = anyio.CancelScope()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        with self.scope:
            await (await self.given)

    def begin(self, coroutine: Coroutine[Any, Any, None]) -> bool:
        eager = EagerCoroutine(coroutine, copy_context())
        done = eager.begin(self.task)
        if not done:
            self.given.set_result(eager)
        return done


@asynccontextmanager
async def waiting() -> AsyncIterator[Host]:
    host = Host()
    await asyncio.sleep(0)
    try:
        yield host
    finally:
        host.task.cancel()
        await asyncio.wait([host.task])


async def test_what_never_waits_is_done_at_once_in_the_name_of_the_other_task() -> None:
    seen = []

    async def quick() -> None:
        seen.append(asyncio.current_task())
        VARIABLE.set(1)

    async with waiting() as host:
        me = asyncio.current_task()
        assert host.begin(quick())
        assert seen == [host.task]
        assert asyncio.current_task() is me
        assert VARIABLE.get() == 0


async def test_what_waits_goes_on_in_that_task_and_in_its_own_context() -> None:
    seen = []

    async def slow() -> None:
        token = VARIABLE.set(1)
        async with asyncio.timeout(5), anyio.create_task_group() as group:
            group.start_soon(asyncio.sleep, 0)
            with anyio.fail_after(30):
                for _ in range(3):
                    await asyncio.sleep(0)
                    seen.append((asyncio.current_task(), VARIABLE.get()))
        VARIABLE.reset(token)
        seen.append((asyncio.current_task(), VARIABLE.get()))

    async with waiting() as host:
        assert not host.begin(slow())
        await host.task
        assert seen == [(host.task, 1)] * 3 + [(host.task, 0)]


async def test_errors_of_what_it_waits_for_and_its_own_are_raised_where_it_stands() -> None:
    failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    seen = []

    async def patient() -> None:
        try:
            await failing
        except KeyError as error:
            seen.append(error)
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async with waiting() as host:
        host.begin(patient())
        await asyncio.sleep(0)
        failing.set_exception(key := KeyError("k"))
        with pytest.raises(ZeroDivisionError):
            await host.task
        assert seen == [key]


async def test_an_error_of_the_first_step_is_raised_in_the_task() -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    async with waiting() as host:
        assert not host.begin(fails())
        with pytest.raises(ZeroDivisionError):
            await host.task


@pytest.mark.parametrize("waits_for_a_task", [False, True])
async def test_a_cancellation_between_the_first_step_and_the_second_reaches_what_is_waited_for(
    waits_for_a_task: bool,
) -> None:
    """A coroutine that only had the error thrown in would leave its child running."""
    child = asyncio.create_task(asyncio.sleep(60))
    seen: list[str] = []

    async def parent() -> None:
        try:
            await (child if waits_for_a_task else asyncio.sleep(0))
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    eager = EagerCoroutine(parent(), copy_context())
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        try:
            await woken
        except asyncio.CancelledError as error:
            eager.cancel(error)
        await eager

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    assert not eager.begin(task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]
    assert child.cancelled() is waits_for_a_task
    child.cancel()
