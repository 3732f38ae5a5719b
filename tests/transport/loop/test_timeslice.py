"""A task that always has more work lets others run, and not more often than it must."""

from __future__ import annotations

import time
from types import SimpleNamespace

import anyio
import pytest

import livetools
from livetools.testing import FakeLiveServer
from livetools.transport.loop.timeslice import SLICE, TimeSlice, passes
from livetools.transport.loop.wake import on_trio

pytestmark = pytest.mark.anyio


async def test_others_run_while_a_task_works_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, now = 0, 0.0
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr("livetools.transport.loop.timeslice.time", clock)

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(other)
        slice = TimeSlice()
        for _ in range(200):
            now += SLICE / 20
            await slice.share()
        group.cancel_scope.cancel()
    assert 9 <= turns <= 12


async def test_whoever_has_just_waited_keeps_its_slice() -> None:
    slice = TimeSlice()
    slice.rested()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await slice.share()  # nothing is awaited
    assert not scope.cancelled_caught


async def test_whoever_waited_meanwhile_without_saying_so_begins_another_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sound that is sent every 20 ms: the loop has gone on, and somebody's socket has read something."""
    now = 0.0
    monkeypatch.setattr("livetools.transport.loop.timeslice.time.monotonic", lambda: now)
    counted, slice = passes(), TimeSlice()
    slice.rested()
    for _ in range(3):
        now += 4 * SLICE
        counted.count += 1
        assert not slice.over() or on_trio()
    now += 4 * SLICE
    assert slice.over()  # nothing tells that anybody else has run


async def test_the_loop_s_passes_are_counted_where_a_connection_reads_something() -> None:
    async with FakeLiveServer() as server, livetools.connect("gemini-3.8-live", **server.options) as session:
        before = passes().count
        await session.ask("hello")
        assert passes().count > before or on_trio()


async def test_whoever_sends_sound_without_waiting_steps_aside_though_it_is_written_at_once() -> None:
    async with FakeLiveServer() as server, livetools.connect("gemini-3.8-live", **server.options) as session:
        others = 0

        async def other() -> None:
            nonlocal others
            while True:
                others += 1
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(other)
            ends = time.monotonic() + 30  # twenty slices on a quiet machine
            while others < 2 and time.monotonic() < ends:
                await session.send_audio(bytes(640))
            group.cancel_scope.cancel()
    assert others >= 2


async def test_work_without_an_end_can_be_cancelled() -> None:
    slice = TimeSlice()
    with anyio.fail_after(30), anyio.move_on_after(0.02) as scope:
        while True:
            await slice.share()
    assert scope.cancelled_caught
