"""The cheapest way to wake a task, on either loop and from any thread."""

from __future__ import annotations

import asyncio
import threading
from contextvars import Context

import anyio
import pytest

from livetools.transport.loop.wake import (
    make_wake,
    name_loop,
    on_trio,
    poster,
    this_loop,
)

pytestmark = pytest.mark.anyio


async def test_the_loop_is_known(anyio_backend: str) -> None:
    assert on_trio() == (anyio_backend == "trio")


async def test_a_wake_that_came_before_the_wait_is_not_lost() -> None:
    wake = make_wake()
    wake.set()
    wake.set()
    with anyio.fail_after(30):
        await wake.wait()
    with anyio.move_on_after(0.01) as scope:
        await wake.wait()
    assert scope.cancelled_caught


async def test_a_wake_that_somebody_waited_for_is_taken() -> None:
    wake = make_wake()

    async def wait() -> None:
        await wake.wait()

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        wake.set()
    with anyio.move_on_after(0.01) as scope:
        await wake.wait()
    assert scope.cancelled_caught


async def test_a_wake_after_a_cancelled_wait_reaches_the_next() -> None:
    wake = make_wake()
    with anyio.move_on_after(0.001):
        await wake.wait()
    wake.set()
    with anyio.fail_after(30):
        await wake.wait()


async def test_a_waiting_task_is_woken_by_another_thread() -> None:
    wake = make_wake()
    post = poster()
    threading.Thread(target=post, args=(wake.set,)).start()
    with anyio.fail_after(30):
        await wake.wait()


async def test_a_post_from_the_loops_own_thread_runs_at_once() -> None:
    ran: list[int] = []
    poster()(lambda: ran.append(1))
    assert ran == [1]


async def test_the_loop_that_runs_is_told_from_another() -> None:
    here = this_loop()
    assert here is not None
    assert here is this_loop()
    elsewhere: list[object] = []
    thread = threading.Thread(target=lambda: elsewhere.append(this_loop()))
    thread.start()
    thread.join()
    assert elsewhere == [None]


def test_anyio_finds_the_loop_in_a_callback_that_names_it() -> None:
    """Under ``asyncio.run``: ``anyio.run`` has named the loop for everything that runs in it."""

    async def main() -> anyio.CancelScope:
        made: asyncio.Future[anyio.CancelScope] = asyncio.get_running_loop().create_future()

        def callback() -> None:
            name_loop()
            made.set_result(anyio.CancelScope())

        asyncio.get_running_loop().call_soon(callback)
        return await made

    assert not Context().run(asyncio.run, main()).cancel_called
