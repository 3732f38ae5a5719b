"""A handler run without a session."""

from __future__ import annotations

import threading
import time

import anyio
import pytest

from livetools.tools import Tool, ToolContext, ToolResult

pytestmark = pytest.mark.anyio


async def test_a_sync_tool_runs_in_another_thread_with_the_callers_context() -> None:
    import contextvars

    user = contextvars.ContextVar("user", default="nobody")
    user.set("Ada")

    def where() -> list[object]:
        return [threading.current_thread() is threading.main_thread(), user.get()]

    assert await Tool(where).call({}) == {"output": [False, "Ada"]}


async def test_a_slow_tool_is_cut_off_and_the_model_is_told() -> None:
    started: list[ToolContext] = []

    async def slow(context: ToolContext) -> None:
        started.append(context)
        await anyio.sleep_forever()

    assert await Tool(slow, timeout=0.01).call({}) == {"error": "timed out after 0.01 s"}
    assert started[0].cancelled


async def test_a_blocked_thread_is_left_to_itself_and_told() -> None:
    seen = threading.Event()

    def block(context: ToolContext) -> None:
        while not context.cancelled:
            time.sleep(0.001)
        seen.set()

    # Long enough for the thread to begin: one that has not is not begun any more.
    assert await Tool(block, timeout=0.5).call({}) == {"error": "timed out after 0.5 s"}
    assert seen.wait(60)


async def test_cancelling_the_call_cancels_the_tool() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("slow")

    with anyio.move_on_after(0.01):
        await Tool(slow).call({})
    assert ended == ["slow"]


async def test_a_sync_function_that_gives_an_awaitable_is_awaited() -> None:
    async def inner() -> int:
        return 3

    assert await Tool(lambda: inner(), name="f").call({}) == {"output": 3}


async def test_a_generator_that_raises_is_an_error() -> None:
    def broken():  # type: ignore[no-untyped-def]  # a generator
        yield 1
        raise RuntimeError("s3cret")

    assert await Tool(broken).call({}) == {"error": "broken failed"}


async def test_a_result_is_cut_at_its_limit_and_a_tool_result_unwrapped() -> None:
    def long() -> ToolResult:
        return ToolResult("x" * 500, scheduling="silent")

    assert (await Tool(long, max_result_bytes=80).call({}))["output"].endswith("of 500 characters]")
