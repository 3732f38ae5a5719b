"""Sync tools that call back into their loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import pytest
import trio

from livetools import ToolCancelled, tool

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


async def price() -> int:
    await anyio.lowlevel.checkpoint()
    return 12


def quote() -> list[object]:
    """Quote."""
    anyio.from_thread.check_cancelled()
    return [anyio.from_thread.run(price), anyio.from_thread.run_sync(partial(int, "13"))]


def quotes() -> Iterator[object]:
    """Quote step by step."""
    yield anyio.from_thread.run(price)
    yield anyio.from_thread.run_sync(partial(int, "13"))


async def answer(line: Any, name: str, id: str = "c1") -> Any:
    line.call({"name": name, "id": id, "args": {}})
    return (await line.responses(1))[0]["response"]


async def test_a_sync_tool_calls_back_into_the_loop(opened: Opened) -> None:
    async with opened([quote, quotes], model="gemini-3.1-flash-live-preview") as line:
        for n in range(3):  # a thread is used again
            assert await answer(line, "quote", f"c{n}") == {"output": [12, 13]}
        assert await answer(line, "quotes", "g1") == {"output": [12, 13]}


async def test_an_approval_and_an_undo_call_back_as_well(opened: Opened) -> None:
    undone = anyio.Event()
    started = anyio.Event()

    def undo(call: object, result: object) -> None:
        anyio.from_thread.run_sync(undone.set)

    @tool(approval=lambda args: anyio.from_thread.run(price) != 12, undo=undo)
    async def waits() -> None:
        """Wait."""
        started.set()
        await anyio.sleep_forever()

    async with opened([waits]) as line:
        line.call({"name": "waits", "id": "c1", "args": {}})
        await started.wait()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        with anyio.fail_after(30):
            await undone.wait()


async def test_a_cancelled_call_is_seen_by_check_cancelled(opened: Opened) -> None:
    began, go, seen = anyio.Event(), threading.Event(), anyio.Event()

    def slow() -> None:
        """Be slow."""
        anyio.from_thread.run_sync(began.set)
        go.wait(5)
        try:
            anyio.from_thread.check_cancelled()
        except BaseException:
            anyio.from_thread.run_sync(seen.set)
            raise

    async with opened([slow]) as line:
        line.call({"name": "slow", "id": "c1", "args": {}})
        await began.wait()
        line.server.send({"toolCallCancellation": {"ids": ["c1"]}})
        await line.until(ToolCancelled)
        go.set()
        with anyio.fail_after(30):
            await seen.wait()


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_on_trio_its_own_functions_work_too(opened: Opened) -> None:
    def quote() -> object:
        """Quote."""
        trio.from_thread.check_cancelled()
        return [trio.from_thread.run(price), trio.from_thread.run_sync(partial(int, "13"))]

    async with opened([quote]) as line:
        assert await answer(line, "quote") == {"output": [12, 13]}


async def test_outside_of_a_tool_the_threads_know_no_loop(opened: Opened) -> None:
    found: list[BaseException] = []

    def quote() -> None:
        """Quote."""

        def elsewhere() -> None:
            try:
                anyio.from_thread.run(price)
            except RuntimeError as error:
                found.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    async with opened([quote]) as line:
        assert await answer(line, "quote") == {"output": None}
    assert len(found) == 1
