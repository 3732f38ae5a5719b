"""A blocked loop is told from a dead server."""

from __future__ import annotations

import logging
import time

import anyio
import pytest

from livetools.errors import ConnectFailed
from livetools.protocol.calls.actions import Close
from livetools.session.handlers.loop_lag import LagMonitor, watch_loop

pytestmark = pytest.mark.anyio


async def blocked(names: list[str]) -> LagMonitor:
    monitor = LagMonitor(beat=0.01, late=0.05)
    monitor.watch(lambda: names)
    async with anyio.create_task_group() as group:
        group.start_soon(monitor.run)
        await anyio.wait_all_tasks_blocked()
        time.sleep(0.1)
        await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    return monitor


async def test_a_block_is_told_with_the_tools_that_ran(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "livetools.session"):
        monitor = await blocked(["crunch"])
    assert "s or more while crunch ran" in caplog.text
    assert "while crunch ran" in monitor.explain(Close(1006)).note


async def test_what_a_block_cannot_explain_is_left_as_it_is() -> None:
    monitor = await blocked([])
    for close in (
        Close(1008, "no such model"),
        Close(1000),
        Close(1006, by_us=True),
        Close(error=ConnectFailed("x")),
    ):
        assert monitor.explain(close) == close
    assert "was blocked" in monitor.explain(Close(1011, "keepalive ping timeout")).note


async def test_a_loop_that_turns_is_not_blamed() -> None:
    monitor = LagMonitor(beat=0.01, late=5)
    async with anyio.create_task_group() as group:
        group.start_soon(monitor.run)
        await anyio.sleep(0.03)
        group.cancel_scope.cancel()
    assert monitor.explain(Close(1006)) == Close(1006)


async def test_one_beats_for_all_sessions_of_a_loop_and_for_none(
    monkeypatch: pytest.MonkeyPatch, anyio_backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        "livetools.session.handlers.loop_lag.LagMonitor.__init__.__defaults__", (0.01, 0.05, float)
    )
    sessions = [lambda: ["crunch"], lambda: ["grind"]]
    async with anyio.create_task_group() as group:
        monitors = [watch_loop(group, running) for running in sessions]
        await anyio.wait_all_tasks_blocked()
        time.sleep(0.1)
        await anyio.sleep(0.03)
        for monitor, running in zip(monitors, sessions, strict=True):
            monitor.leave(running)
        group.cancel_scope.cancel()
    told = [r.getMessage() for r in caplog.records]
    if anyio_backend == "trio":
        assert len(told) == 2
    else:
        assert monitors[0] is monitors[1]
        assert len(told) == 1
        assert "crunch, grind" in told[0]
        assert monitors[0].idle


async def test_a_process_that_did_not_run_is_told_as_that_and_no_tool_is_blamed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stopped = 0.0
    monitor = LagMonitor(beat=0.01, late=0.05, stopped=lambda: stopped)
    monitor.watch(lambda: ["crunch"])
    async with anyio.create_task_group() as group:
        group.start_soon(monitor.run)
        await anyio.wait_all_tasks_blocked()
        time.sleep(0.1)
        stopped = 0.1
        await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    assert "this process did not run for 0.1 s: it was stopped, suspended or throttled" in caplog.text
    assert "crunch" not in caplog.text
    assert "did not run" in monitor.explain(Close(1006)).note
