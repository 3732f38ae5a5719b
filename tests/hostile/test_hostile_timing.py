"""Cancelled, broken off, closed and left at the worst moment: nothing hangs, nothing leaks, nothing is torn."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from livetools import ToolFinished, connect, tool
from livetools.testing.memory import MemoryTransport
from livetools.transport.contract import Gone

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


async def test_a_stream_that_is_broken_off_lets_the_next_question_be_asked(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def model() -> None:
            for words in ("one", "two"):
                while "clientContent" not in await line.server.receive():
                    pass
                line.server.send({"serverContent": {"outputTranscription": {"text": words}}})
                line.server.send({"serverContent": {"outputTranscription": {"text": " and more"}}})
                line.server.send({"serverContent": {"turnComplete": True}})

        group.start_soon(model)
        async for word in line.session.stream("first"):
            assert word == "one"
            break
        with anyio.fail_after(30):
            assert str(await line.session.ask("second")) == "two and more"


@tool
async def echo(text: str = "") -> str:
    """Say it again."""
    await anyio.lowlevel.checkpoint()
    return text


async def converse(transport: MemoryTransport) -> None:
    """Complete every setup; call a tool for each user turn, and answer once it has answered."""
    calls = itertools.count()
    while True:
        server = await transport.accept()
        with contextlib.suppress(Gone):
            await server.receive()
            server.send({"setupComplete": {}})
            while frame := await server.receive():
                if "clientContent" in frame:
                    call = {"name": "echo", "id": f"c{next(calls)}", "args": {"text": "x"}}
                    server.send({"toolCall": {"functionCalls": [call]}})
                if "toolResponse" in frame:
                    server.send(
                        {"serverContent": {"modelTurn": {"parts": [{"text": "said"}]}, "turnComplete": True}}
                    )


async def after(steps: int, scope: anyio.CancelScope) -> None:
    for _ in range(steps):
        await anyio.lowlevel.checkpoint()
    scope.cancel()


@pytest.mark.parametrize("completes", [True, False])
async def test_a_life_that_is_cancelled_at_any_step_leaves_nothing_behind(completes: bool) -> None:
    for steps in range(40):
        transport = MemoryTransport()
        async with anyio.create_task_group() as group:
            group.start_soon(converse if completes else transport.accept, *([transport] if completes else []))
            with anyio.fail_after(30), anyio.CancelScope() as scope:
                group.start_soon(after, steps, scope)
                async with connect(
                    "gemini-3.8-live", tools=[echo], transport=transport, base_url="ws://localhost"
                ) as session:
                    assert str(await session.ask("hi")) == "said"
                    await session.send_text("and again")
                    async for event in session:
                        if isinstance(event, ToolFinished):
                            break
                    await session.aclose()
            group.cancel_scope.cancel()


async def test_a_question_that_is_given_up_at_any_step_spoils_nothing_for_the_next() -> None:
    for steps in range(25):
        transport = MemoryTransport()
        async with anyio.create_task_group() as group:
            group.start_soon(converse, transport)
            async with connect(
                "gemini-3.8-live", tools=[echo], transport=transport, base_url="ws://localhost"
            ) as session:
                with anyio.CancelScope() as scope:
                    group.start_soon(after, steps, scope)
                    await session.ask("one")
                with anyio.fail_after(30):
                    assert str(await session.ask("two")) == "said"
            group.cancel_scope.cancel()


PRELUDE = """
import asyncio, anyio, logging, threading
import livetools
from livetools import tool
from livetools.testing import FakeLiveServer

@tool
def blocked():
    threading.Event().wait()

@tool
async def waits():
    await anyio.sleep_forever()

@tool
async def interrupts():
    raise KeyboardInterrupt

async def opened(*calls):
    server = await FakeLiveServer().__aenter__()
    @server.model
    async def model(turn):
        for call in calls:
            await turn.start_call(call)
    session = livetools.connect("gemini-3.8-live", tools=[blocked, waits, interrupts], **server.options)
    await session.__aenter__()
    await session.send_text("hi")
    started = 0
    async for event in session:
        started += isinstance(event, livetools.ToolStarted)
        if started == len(calls):
            return server, session
"""

PROGRAMS = {
    "a loop that is closed": """
loop = asyncio.new_event_loop()
kept = loop.run_until_complete(opened("blocked", "waits"))
loop.close()
""",
    "a run that ends": 'asyncio.run(opened("blocked", "waits"))',
    "a tool that raises Ctrl-C": """
async def main():
    server, session = await opened("interrupts")
    async for event in session:
        pass
try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
""",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_that_never_leaves_its_session_ends_all_the_same(kind: str) -> None:
    program = [sys.executable, "-c", PRELUDE + PROGRAMS[kind]]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr or kind == "a tool that raises Ctrl-C"
