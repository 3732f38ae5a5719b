"""Daemon threads, and futures awaited on either loop."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import anyio
import pytest

from livetools.session.handlers.threads import DaemonThreads, result_of

pytestmark = pytest.mark.anyio


async def test_a_result_comes_back_to_the_loop() -> None:
    threads = DaemonThreads()
    assert await result_of(threads.submit(pow, 2, 10)) == 1024
    threads.shutdown()


async def test_what_a_function_raises_comes_back_too() -> None:
    threads = DaemonThreads()
    with pytest.raises(SystemExit):
        await result_of(threads.submit(sys.exit, 3))
    assert await result_of(threads.submit(pow, 2, 3)) == 8
    threads.shutdown()


async def test_threads_are_bounded_reused_and_counted() -> None:
    threads = DaemonThreads(limit=2)
    release, names = threading.Event(), set()

    def work() -> None:
        names.add(threading.current_thread())
        release.wait()

    futures = [threads.submit(work) for _ in range(5)]
    while len(names) < 2:
        await anyio.sleep(0.001)
    assert (threads.running, threads.waiting) == (2, 3)
    release.set()
    for future in futures:
        await result_of(future)
    assert len(names) == 2
    assert all(thread.daemon for thread in names)
    threads.shutdown()


async def test_what_no_thread_took_up_can_be_withdrawn_and_never_runs() -> None:
    threads = DaemonThreads(limit=1)
    release, ran = threading.Event(), []
    first = threads.submit(release.wait)
    second = threads.submit(ran.append, 1)
    assert second.cancel()
    release.set()
    assert await result_of(first)
    assert await result_of(threads.submit(int)) == 0
    assert ran == []
    threads.shutdown()


async def test_a_future_that_is_done_already_does_not_deadlock() -> None:
    future: Future[int] = Future()
    future.set_result(7)
    assert await result_of(future) == 7


async def test_any_executor_will_do() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert await result_of(executor.submit(pow, 3, 2)) == 9


def test_a_thread_that_never_returns_keeps_no_process_alive() -> None:
    program = (
        "import threading; from livetools.session.handlers.threads import DaemonThreads;"
        "DaemonThreads().submit(threading.Event().wait); print('end')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "end\n")
