"""Time that passed while nothing ran: what was to happen in it is seen before any deadline is judged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any

import anyio
import pytest
from support.virtual import block

import livetools
from livetools import NoAnswer, ToolStarted, tool
from livetools.testing import FakeClock

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

Opened = Callable[..., Any]
HOUR = 3600.0


def call(name: str) -> dict[str, Any]:
    return {"name": name, "id": "c1", "args": {}}


# -- a loop that is blocked while tools end


@tool(timeout=0.2)
async def waits() -> str:
    """Waits."""
    await anyio.sleep(0.02)
    await anyio.sleep(0)
    return "DONE"


@tool(timeout=0.2)
def in_a_thread() -> str:
    """Waits in a thread."""
    time.sleep(0.02)
    return "DONE"


@tool(timeout=0.2)
async def in_a_group() -> AsyncIterator[str]:
    """Waits for two others."""
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0.02)
        group.start_soon(anyio.sleep, 0.01)
    yield "DONE"


@pytest.mark.parametrize("ended", [waits, in_a_thread, in_a_group], ids=lambda each: each.__name__)
@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-3.1-flash-live-preview"])
async def test_a_tool_that_ended_in_time_has_not_timed_out(opened: Opened, ended: Any, model: str) -> None:
    async with opened([ended], model=model) as line:
        line.call(call(ended.__name__))
        await line.until(ToolStarted)
        block(0.4)
        (response, *_) = await line.responses(1)
    assert "DONE" in str(response["response"])


async def test_a_tool_that_goes_on_behind_it_has_timed_out(opened: Opened) -> None:
    @tool(timeout=0.2)
    async def endless() -> str:
        """Waits for ever."""
        await anyio.sleep_forever()
        return ""

    async with opened([endless]) as line:
        line.call(call("endless"))
        await line.until(ToolStarted)
        block(0.4)
        (response,) = await line.responses(1)
    assert response["response"] == {"error": "timed out after 0.2 s"}


async def test_an_ask_whose_words_came_in_time_has_them(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def answer() -> None:
            await line.receive()
            line.says("in time")
            block(0.4)

        group.start_soon(answer)
        assert str(await line.session.ask("Well?", timeout=0.2)) == "in time"


async def test_an_ask_whose_words_did_not_come_is_over_in_time(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def say_nothing() -> None:
            await line.receive()
            block(0.4)

        group.start_soon(say_nothing)
        began = anyio.current_time()
        with pytest.raises(TimeoutError):
            await line.session.ask("Well?", timeout=0.2)
        assert anyio.current_time() - began < 5
        line.says("late")
        with pytest.raises(TimeoutError):
            await line.session.ask("And now?", timeout=0.01)


# -- a clock that jumps


@pytest.mark.parametrize("threaded", [False, True])
async def test_a_tool_that_ends_as_the_clock_jumps_has_not_timed_out(
    opened: Opened, threaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, go, told = FakeClock(), threading.Event(), threading.Event()
    over = anyio.Event()
    set_result = Future.set_result

    def and_tell(future: Future[Any], result: object) -> None:
        set_result(future, result)
        told.set()

    monkeypatch.setattr(Future, "set_result", and_tell)

    async def work() -> str:
        """Waits."""
        await over.wait()
        return "DONE"

    def work_in_a_thread() -> str:
        """Waits."""
        go.wait(10)
        return "DONE"

    async with opened([work_in_a_thread if threaded else work], clock=clock) as line:
        line.call(call("work_in_a_thread" if threaded else "work"))
        await line.until(ToolStarted)
        await line.quiet()
        go.set()
        over.set()
        assert not threaded or told.wait(60)  # the thread's result lies before the loop, which is blocked
        clock.advance(HOUR)
        (response,) = await line.responses(1)
    assert response["response"] == {"output": "DONE"}


async def test_an_approval_that_is_given_as_the_clock_jumps_counts(opened: Opened) -> None:
    clock = FakeClock()

    @tool(approval=True)
    async def pay() -> str:
        """Pays."""
        return "PAID"

    async with opened([pay], model="gemini-3.1-flash-live-preview", clock=clock) as line:
        line.call(call("pay"))
        asked = await line.until(livetools.ApprovalRequested)
        async with anyio.create_task_group() as group:
            group.start_soon(line.session.approve, asked.call)
            clock.advance(HOUR)
        (response,) = await line.responses(1)
    assert response["response"] == {"output": "PAID"}


@pytest.mark.parametrize("came", [True, False])
async def test_words_that_lie_in_the_socket_as_the_clock_jumps_are_an_answer(
    opened: Opened, came: bool
) -> None:
    clock = FakeClock()
    async with opened(clock=clock) as line, anyio.create_task_group() as group:

        async def answer() -> None:
            await line.receive()
            await line.quiet()
            if came:
                line.says("in time")
            clock.advance(HOUR)

        group.start_soon(answer)
        if came:
            assert str(await line.session.ask("Well?")) == "in time"
        else:
            with pytest.raises(NoAnswer):
                await line.session.ask("Well?")


async def test_a_setup_that_was_completed_as_the_clock_jumps_stands(opened: Opened) -> None:
    clock = FakeClock()
    async with opened(clock=clock, reconnect=livetools.ReconnectPolicy(initial=0)) as line:
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        await line.until(livetools.HandleUpdate)
        line.server.drop()
        clock.advance(HOUR)
        await line.until(livetools.Reconnected)
        assert line.session.stats()["dials"] == 2


# -- a process that is stopped

CHILD = """
import asyncio, logging, sys, livetools
from livetools.testing import FakeLiveServer

async def model(turn):
    response = await turn.call("work")
    print("TOLD", response, flush=True)
    await turn.say("Well.")

async def work() -> str:
    "Works."
    print("READY", flush=True)
    await asyncio.sleep(0.3)
    return "DONE"

async def main():
    logging.basicConfig(stream=sys.stdout)
    async with FakeLiveServer(model) as server:
        options = server.options | {"tool_timeout": 1.0, "stall_timeout": 1.5}
        async with livetools.connect("gemini-3.1-flash-live-preview", tools=[work], **options) as session:
            print("REPLY", await session.ask("Go."), flush=True)
            await asyncio.sleep(0.3)
            print("BLOCKS", session.stats()["loop_blocks"], flush=True)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
@pytest.mark.parametrize("seconds", [2.0, 7.0])
def test_a_process_that_was_stopped_goes_on_as_if_nothing_had_happened(seconds: float) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert child.stdout is not None
        while child.stdout.readline().strip() != "READY":
            assert child.poll() is None
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(child.pid, signal.SIGCONT)
        told = child.communicate(timeout=60)[0]
    finally:
        child.kill()
        child.wait()
    assert "TOLD {'output': 'DONE'}" in told
    assert "REPLY Well." in told
    assert "BLOCKS {}" in told
    assert "blocked" not in told
