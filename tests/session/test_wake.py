"""The cheapest way to wake a task, on either loop and from any thread."""

from __future__ import annotations

import threading

import anyio
import pytest

from livetools.session.wake import make_wake, on_trio, poster

pytestmark = pytest.mark.anyio


async def test_the_loop_is_known(anyio_backend: str) -> None:
    assert on_trio() == (anyio_backend == "trio")


async def test_a_wake_that_came_before_the_wait_is_not_lost() -> None:
    wake = make_wake()
    wake.set()
    wake.set()
    with anyio.fail_after(1):
        await wake.wait()
    with anyio.move_on_after(0.01) as scope:
        await wake.wait()
    assert scope.cancelled_caught


async def test_a_wake_after_a_cancelled_wait_reaches_the_next() -> None:
    wake = make_wake()
    with anyio.move_on_after(0.001):
        await wake.wait()
    wake.set()
    with anyio.fail_after(1):
        await wake.wait()


async def test_a_waiting_task_is_woken_by_another_thread() -> None:
    wake = make_wake()
    post = poster()
    threading.Thread(target=post, args=(wake.set,)).start()
    with anyio.fail_after(5):
        await wake.wait()


async def test_a_post_from_the_loops_own_thread_runs_at_once() -> None:
    ran: list[int] = []
    poster()(lambda: ran.append(1))
    assert ran == [1]
