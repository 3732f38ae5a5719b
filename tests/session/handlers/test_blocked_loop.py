"""A blocked loop is told from a dead server and from a stopped process, and the tool that blocked it is named."""

from __future__ import annotations

import gc
import logging
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

import livetools
from livetools.errors import ConnectFailed
from livetools.protocol.calls.driver_actions import Close
from livetools.session.handlers import blocked_loop
from livetools.session.handlers.blocked_loop import BlockedLoop, Stops, watch_loop
from livetools.testing import FakeLiveServer, Turn

pytestmark = pytest.mark.anyio


#: Seconds that would be reported of a tool that blocks the loop.
LONG = blocked_loop.BLOCKED + 2 * blocked_loop.INTERVAL
#: Looks that are as long: between two of them lies a whole interval, however late the second is.
LOOKS = 1 + int(LONG / blocked_loop.INTERVAL)

looks: list[float] = []  # at the loop, in this test


@pytest.fixture(autouse=True)
def count_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``block`` know of each look of the thread that watches the loop."""
    look = BlockedLoop.look

    def and_count(watch: BlockedLoop) -> None:
        look(watch)
        looks.append(time.monotonic())

    monkeypatch.setattr(BlockedLoop, "look", and_count)
    looks.clear()


def block() -> None:
    """Block this thread until the loop has been looked at so often that a block is known, on a busy machine too."""
    enough, give_up = len(looks) + LOOKS, time.monotonic() + 30
    while len(looks) < enough and time.monotonic() < give_up:
        time.sleep(0.01)


async def slow_weather(city: str) -> str:
    """Blocks at once."""
    block()
    return "rain"


async def late_weather(city: str) -> str:
    """Blocks after it has waited."""
    await anyio.sleep(0.01)
    block()
    return "rain"


async def weather_by_hour(city: str) -> AsyncIterator[str]:
    """Blocks between two yields."""
    yield "rain"
    block()
    yield "sun"


def weather_as_coroutine(city: str) -> Any:
    """A plain function whose coroutine blocks."""
    return slow_weather(city)


def sync_weather(city: str) -> str:
    """Blocks a thread, and nobody else."""
    time.sleep(LONG)
    return "rain"


async def patient_weather(city: str) -> str:
    """Waits, and blocks nobody."""
    await anyio.sleep(LONG)
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
    assert re.match(rf"{tool.__name__} held the event loop for \d+\.\d s or more, at ", told)
    assert "test_blocked_loop.py, line " in told
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


class SlowText:
    """A result that takes long to put into words."""

    def model_dump(self, **options: object) -> str:
        time.sleep(LONG)
        return "rain"


async def large_weather(city: str) -> Any:
    """Blocks nobody; its result does."""
    return SlowText()


async def large_weather_by_hour(city: str) -> AsyncIterator[Any]:
    """Blocks nobody; what it yields does."""
    yield SlowText()


@pytest.mark.parametrize("tool", [large_weather, large_weather_by_hour])
async def test_a_tool_is_not_blamed_for_the_time_that_a_large_result_takes(
    tool: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert await conversation(tool) == {}
    assert "held the event loop" not in caplog.text


async def test_all_sessions_of_a_loop_share_one_watch_which_ends_with_the_last() -> None:
    first, second = watch_loop(), watch_loop()
    assert first is second
    first.leave()
    assert watch_loop() is first
    first.leave()
    first.leave()
    third = watch_loop()
    third.leave()
    assert third is not first


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


class Loop:
    """A loop in this thread. ``turn``: it runs what it was asked to."""

    def __init__(self) -> None:
        self.asked: list[Callable[[], None]] = []
        self.over = False

    def run_sync_soon(self, function: Callable[[], None]) -> None:
        if self.over:
            raise RuntimeError("the loop has ended")
        self.asked.append(function)

    def turn(self) -> None:
        asked, self.asked = self.asked, []
        for function in asked:
            function()


class Bench:
    """A loop that is looked at, as long as the clock is moved by hand. ``tool``: it runs a tool meanwhile."""

    def __init__(self, clocks: Time) -> None:
        self.clocks, self.loop = clocks, Loop()
        self.watch = BlockedLoop(self.loop)
        self.blocks: dict[str, int] = {}
        tool = SimpleNamespace(name="crunch")
        self.job = SimpleNamespace(began=True, future=None, tool=tool)

    def runs(self, seconds: float, tool: bool = False) -> None:
        """The loop's thread runs something without a turn of the loop."""
        for _ in range(round(seconds / blocked_loop.INTERVAL)):
            self.clocks.go_on(blocked_loop.INTERVAL, used=blocked_loop.INTERVAL)
            handle(self, self.job, self.watch.look) if tool else self.watch.look()


def handle(self: object, job: object, look: Callable[[], None]) -> None:
    """As ``ToolRunner._handle``: what lies on the stack while a tool runs."""
    look()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    clocks = Time()
    monkeypatch.setattr(blocked_loop, "time", clocks)
    monkeypatch.setattr(blocked_loop, "_HANDLE", handle.__code__)
    return Bench(clocks)


def test_a_loop_that_turns_is_asked_once_a_second_and_explains_nothing(bench: Bench) -> None:
    for _ in range(30):
        bench.runs(0.1)
        assert len(bench.loop.asked) <= 1
        bench.loop.turn()
    assert bench.watch.explain(Close(1006)) == Close(1006)


def test_a_block_by_a_tool_is_told_with_its_name_and_explains_a_broken_line(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.runs(3.0, tool=True)
    bench.loop.turn()
    assert bench.blocks == {"crunch": 1}
    assert "crunch held the event loop for 2.9 s or more, at " in caplog.text
    note = "the event loop of this program was blocked for 2.9 s or more while crunch ran"
    assert bench.watch.explain(Close(1006)).note == note
    assert bench.watch.explain(Close(1011, "keepalive ping timeout")).note == note
    for close in (
        Close(1008, "no such model"),
        Close(1000),
        Close(1006, by_us=True),
        Close(error=ConnectFailed("x")),
    ):
        assert bench.watch.explain(close) == close
    bench.clocks.go_on(blocked_loop.RECENT + 1, used=blocked_loop.RECENT)
    bench.watch.look()
    bench.loop.turn()
    assert "crunch" not in bench.watch.explain(Close(1006)).note


def test_a_block_that_ends_with_the_line_is_explained_before_the_loop_has_answered(bench: Bench) -> None:
    bench.runs(3.0, tool=True)
    assert "while crunch ran" in bench.watch.explain(Close(1006)).note
    bench.loop.turn()
    assert bench.blocks == {"crunch": 1}


def test_a_block_behind_a_tool_is_told_and_the_tool_is_not_blamed(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.runs(0.1, tool=True)
    bench.runs(3.0)
    bench.loop.turn()
    assert not bench.blocks
    assert (
        "the event loop of this program was blocked for 3.0 s or more; async tools must not block"
        in caplog.text
    )
    assert "crunch" not in caplog.text


def test_a_block_in_which_no_other_thread_ran_is_told_and_nobody_is_blamed(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.clocks.go_on(5.0, used=5.0)
    handle(bench, bench.job, bench.watch.look)
    bench.loop.turn()
    assert not bench.blocks
    assert "the event loop of this program was blocked for 3.9 s or more;" in caplog.text


@pytest.mark.parametrize("seen", [False, True])
def test_a_process_that_did_not_run_is_told_as_that_and_no_tool_is_blamed(
    bench: Bench, seen: bool, caplog: pytest.LogCaptureFixture
) -> None:
    bench.runs(0.1, tool=seen)
    bench.clocks.go_on(8.0)
    bench.runs(1.0)
    bench.loop.turn()
    assert not bench.blocks
    assert "this process did not run for 8.0 s: it was stopped, suspended or throttled" in caplog.text
    assert "crunch" not in caplog.text
    assert "did not run" in bench.watch.explain(Close(1006)).note


def test_a_line_that_breaks_with_a_stop_is_explained_before_anybody_has_looked(bench: Bench) -> None:
    bench.clocks.go_on(8.0)
    assert "did not run for 7.9 s" in bench.watch.explain(Close(1006)).note


def test_the_collector_rests_while_frames_of_the_loop_are_looked_at_where_it_could_free_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    collects: list[bool] = []
    handler = blocked_loop._handler

    def looked(frame: Any) -> Any:
        collects.append(gc.isenabled())
        return handler(frame)

    monkeypatch.setattr(blocked_loop, "_handler", looked)
    bench.watch.look()
    assert collects == [sys.version_info >= (3, 12)]
    assert gc.isenabled()


def test_a_loop_that_has_ended_is_not_looked_at_any_more(bench: Bench) -> None:
    bench.loop.over = True
    bench.runs(0.1, tool=True)
    bench.watch.run()  # which returns


@pytest.fixture
def stops(bench: Bench) -> tuple[Stops, Time]:
    return Stops(), bench.clocks


def test_a_process_that_looks_late_and_has_used_no_processor_was_stopped(stops: Any) -> None:
    stop, clocks = stops
    for _ in range(5):
        clocks.go_on(blocked_loop.INTERVAL + 0.01, used=0.02)
        stop.look()
    assert stop.seconds() == 0
    clocks.go_on(8.0, used=0.01)
    assert stop.seconds() == pytest.approx(8 - blocked_loop.INTERVAL)  # before the thread has woken up
    stop.look()
    clocks.go_on(blocked_loop.INTERVAL)
    stop.look()
    assert stop.seconds() == pytest.approx(8 - blocked_loop.INTERVAL)


def test_a_process_that_computes_so_that_no_other_thread_runs_was_not_stopped(stops: Any) -> None:
    stop, clocks = stops
    clocks.go_on(3.0, used=2.9)
    assert stop.seconds() == 0
    stop.look()
    assert stop.seconds() == 0


async def test_a_tool_is_not_blamed_for_a_time_in_which_the_process_did_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stopped(blocked_loop.Stops):
        """As where the process is stopped whenever a tool blocks."""

        def seconds(self) -> float:
            return time.monotonic()

    monkeypatch.setattr(blocked_loop, "Stops", Stopped)
    assert await conversation(slow_weather) == {}
