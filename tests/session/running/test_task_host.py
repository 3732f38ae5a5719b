"""The host keeps tasks out of the user's task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

import anyio
import pytest
from anyio.abc import TaskGroup

from livetools.session.running.task_host import Host

pytestmark = pytest.mark.anyio


async def serve(group: TaskGroup, ready: Callable[[], None]) -> None:
    ready()
    await anyio.sleep_forever()


async def test_start_returns_when_main_is_ready() -> None:
    steps: list[str] = []

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        await anyio.lowlevel.checkpoint()
        steps.append("ready")
        ready()
        await anyio.sleep_forever()

    host = Host()
    await host.start(main)
    assert steps == ["ready"]
    await host.stop()


async def test_an_error_before_ready_is_raised_bare_by_start() -> None:
    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        raise ValueError("no port")

    with pytest.raises(ValueError, match="no port"):
        await Host().start(main)


async def test_an_error_of_a_child_is_raised_bare_once_by_stop() -> None:
    async def child() -> None:
        raise ValueError("child")

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        ready()
        group.start_soon(child)
        await anyio.sleep_forever()

    host = Host()
    await host.start(main)
    await anyio.lowlevel.checkpoint()
    with pytest.raises(ValueError, match="child"):
        await host.stop(grace=1)
    await host.stop()


async def test_the_end_of_main_ends_the_group() -> None:
    ended = anyio.Event()

    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        group.start_soon(child)
        await anyio.lowlevel.checkpoint()
        ready()

    host = Host()
    await host.start(main)
    with anyio.fail_after(30):
        await ended.wait()
    await host.stop()


async def test_stop_lets_main_end_by_itself_within_the_grace() -> None:
    leave = anyio.Event()
    left: list[str] = []

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        ready()
        await leave.wait()
        await anyio.lowlevel.checkpoint()
        left.append("by itself")

    host = Host()
    await host.start(main)
    leave.set()
    await host.stop(grace=5)
    assert left == ["by itself"]


async def test_stop_is_idempotent_and_harmless_before_start() -> None:
    host = Host()
    await host.stop()
    await host.start(serve)
    await host.stop()
    await host.stop()


async def test_the_tasks_survive_a_cancellation_of_the_user() -> None:
    ticks = 0

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        nonlocal ticks
        ready()
        while True:
            await anyio.lowlevel.checkpoint()
            ticks += 1

    host = Host()
    with anyio.CancelScope() as scope:
        await host.start(main)
        try:
            scope.cancel()
            await anyio.sleep_forever()
        finally:
            seen = ticks
            with anyio.CancelScope(shield=True):
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
            assert ticks > seen
            await host.stop()
    assert scope.cancelled_caught


async def test_cancelling_start_stops_what_was_started() -> None:
    ended: list[str] = []

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("main")

    with anyio.move_on_after(0.01) as scope:
        await Host().start(main)
    assert scope.cancelled_caught
    assert ended == ["main"]


async def test_tasks_see_the_context_variables_of_the_opener() -> None:
    word: ContextVar[str] = ContextVar("word")
    seen: list[str] = []

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        seen.append(word.get())
        ready()

    word.set("opener")
    host = Host()
    await host.start(main)
    await host.stop()
    assert seen == ["opener"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_asyncio_hosts_stop_in_any_order_and_in_any_task(anyio_backend: str) -> None:
    first, second = Host(), Host()
    await first.start(serve)
    await asyncio.create_task(second.start(serve))
    await first.stop()
    await asyncio.create_task(second.stop())


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_cancelled_inside_stop_still_waits_for_the_end(anyio_backend: str) -> None:
    ended: list[str] = []

    async def main(group: TaskGroup, ready: Callable[[], None]) -> None:
        ready()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("main")

    host = Host()
    await host.start(main)
    stopping = asyncio.create_task(host.stop(grace=60))
    await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert ended == ["main"]


def test_a_host_whose_loop_is_over_is_stopped_in_another_one() -> None:
    host = Host()
    asyncio.run(host.start(serve))  # the loop ends its tasks when it is left
    asyncio.run(host.stop(grace=1))
