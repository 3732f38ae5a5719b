"""A tool that blocks the event loop is named, with the line it blocks in."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import livetools
from livetools.session.handlers import loop_sampler
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio


async def slow_weather(city: str) -> str:
    """Blocks at once."""
    time.sleep(0.6)
    return "rain"


async def late_weather(city: str) -> str:
    """Blocks after it has waited."""
    await anyio.sleep(0.01)
    time.sleep(0.6)
    return "rain"


async def weather_by_hour(city: str) -> AsyncIterator[str]:
    """Blocks between two yields."""
    yield "rain"
    time.sleep(0.6)
    yield "sun"


def weather_as_coroutine(city: str) -> Any:
    """A plain function whose coroutine blocks."""
    return slow_weather(city)


def sync_weather(city: str) -> str:
    """Blocks a thread, and nobody else."""
    time.sleep(0.6)
    return "rain"


async def patient_weather(city: str) -> str:
    """Waits, and blocks nobody."""
    await anyio.sleep(0.6)
    return "rain"


async def conversation(tool: Any, calls: int = 1) -> dict[str, int]:
    """The blocks that ``stats()`` counts after so many calls."""
    server = FakeLiveServer()

    @server.model
    async def model(turn: Turn) -> None:
        for _ in range(calls):
            await turn.call(tool.__name__, city="Oslo")
        await turn.say("It rains.")

    async with server:
        options: dict[str, Any] = server.options
        async with livetools.connect("gemini-3.8-live", tools=[tool], **options) as session:
            assert str(await session.ask("Weather?")) == "It rains."
            counted: dict[str, int] = session.stats()["loop_blocks"]
    return counted


@pytest.mark.parametrize("tool", [slow_weather, late_weather, weather_by_hour, weather_as_coroutine])
async def test_a_tool_that_blocks_the_loop_is_reported_with_the_line(
    tool: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "livetools.calls"):
        counted = await conversation(tool)
    assert counted == {tool.__name__: 1}
    (told,) = [r.getMessage() for r in caplog.records if r.name == "livetools.calls"]
    assert told.startswith(f"{tool.__name__} held the event loop for 0.")
    assert "test_loop_sampler.py, line " in told
    assert "Make it a plain function (def), which runs in a thread, or await in it" in told


async def test_a_tool_is_reported_once_and_counted_each_time(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "livetools.calls"):
        counted = await conversation(slow_weather, calls=2)
    assert counted == {"slow_weather": 2}
    assert caplog.text.count("held the event loop") == 1


@pytest.mark.parametrize("tool", [sync_weather, patient_weather])
async def test_a_tool_in_a_thread_or_one_that_awaits_is_not_blamed(
    tool: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert await conversation(tool) == {}
    assert "held the event loop" not in caplog.text


async def test_the_one_of_two_tools_that_blocks_is_named() -> None:
    server = FakeLiveServer()

    @server.model
    async def model(turn: Turn) -> None:
        await turn.calls(("patient_weather", {"city": "Oslo"}), ("late_weather", {"city": "Oslo"}))
        await turn.say("It rains.")

    async with server:
        options: dict[str, Any] = server.options
        tools = [patient_weather, late_weather]
        async with livetools.connect("gemini-3.8-live", tools=tools, **options) as session:
            await session.ask("Weather?")
            assert session.stats()["loop_blocks"] == {"late_weather": 1}


async def test_all_sessions_of_a_loop_share_one_sampler_which_ends_with_the_last() -> None:
    leave, leave_too = loop_sampler.sample_loop(), loop_sampler.sample_loop()
    assert len(loop_sampler._samplers) == 1
    leave()
    assert len(loop_sampler._samplers) == 1
    leave_too()
    assert not loop_sampler._samplers


def test_a_sampler_whose_loop_has_ended_looks_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(function: object) -> None:
        raise RuntimeError("Event loop is closed")

    sampler = loop_sampler.LoopSampler(gone)

    class Running:
        began, future = True, None

    def handle(self: object, job: object) -> None:
        sampler.look()

    monkeypatch.setattr(loop_sampler, "_HANDLE", handle.__code__)
    handle(None, Running())
    assert sampler._stop.is_set()
