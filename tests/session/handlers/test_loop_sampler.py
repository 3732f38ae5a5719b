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


class Time:
    """The clocks of a process."""

    def __init__(self) -> None:
        self.passed = self.used = 0.0

    def monotonic(self) -> float:
        return self.passed

    def process_time(self) -> float:
        return self.used

    def go_on(self, passed: float, used: float = 0.0) -> None:
        self.passed += passed
        self.used += used


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> tuple[loop_sampler.Stops, Time]:
    clocks = Time()
    monkeypatch.setattr(loop_sampler, "time", clocks)
    return loop_sampler.Stops(), clocks


def test_a_process_that_looks_late_and_has_used_no_processor_was_stopped(stops: Any) -> None:
    stop, clocks = stops
    for _ in range(5):
        clocks.go_on(loop_sampler.INTERVAL + 0.01, used=0.02)
        stop.look()
    assert stop.seconds() == 0
    clocks.go_on(8.0, used=0.01)
    assert stop.seconds() == pytest.approx(8 - loop_sampler.INTERVAL)  # before the thread has woken up
    stop.look()
    clocks.go_on(loop_sampler.INTERVAL)
    stop.look()
    assert stop.seconds() == pytest.approx(8 - loop_sampler.INTERVAL)


def test_a_process_that_computes_so_that_no_other_thread_runs_was_not_stopped(stops: Any) -> None:
    stop, clocks = stops
    clocks.go_on(3.0, used=2.9)
    assert stop.seconds() == 0
    stop.look()
    assert stop.seconds() == 0


async def test_a_tool_is_not_blamed_for_a_time_in_which_the_process_did_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stopped(loop_sampler.Stops):
        """As where the process is stopped whenever a tool blocks."""

        def seconds(self) -> float:
            return time.monotonic()

    monkeypatch.setattr(loop_sampler, "Stops", Stopped)
    assert await conversation(slow_weather) == {}
