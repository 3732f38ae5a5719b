"""A long conversation by voice, in accelerated time: what a session holds does not grow."""

from __future__ import annotations

import gc
import os
import tracemalloc

import anyio
import pytest
from support.footprint import Footprint
from support.virtual import VirtualClock, run

import livetools
from livetools import AudioChunk, Reconnected
from livetools.testing import FakeLiveServer, Turn

WARM = 10.0  # seconds
CHUNK = 0.2


async def soak(seconds: float) -> tuple[Footprint, Footprint]:
    """Ten seconds to warm up, then this long: both talk without a pause, and a goAway comes every nine minutes."""
    clock = VirtualClock()
    server = FakeLiveServer(clock=clock)
    server.pace = 1.0
    voice = bytes(2 * 24000 * 10)

    @server.model
    async def model(turn: Turn) -> None:
        await turn.say("So it goes on. ", audio=voice)

    heard = moves = 0

    async def listen() -> None:
        nonlocal heard, moves
        async for event in session:
            if isinstance(event, AudioChunk):
                heard += len(event.data)
            moves += isinstance(event, Reconnected)

    async def speak() -> None:
        while True:
            await session.send_audio(bytes(int(2 * 16000 * CHUNK)))
            await anyio.sleep(CHUNK)

    async def converse(until: float) -> None:
        while clock.now() < until:
            await session.ask("Go on.")
            server.frames.clear()

    async with server, livetools.connect("gemini-3.8-live", clock=clock, **server.options) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            group.start_soon(speak)
            await converse(WARM)
            before = Footprint()
            await converse(WARM + seconds)
            after = Footprint()
            group.cancel_scope.cancel()
    assert heard > 0.9 * 2 * 24000 * seconds
    assert moves >= seconds // 600
    return before, after


def check(backend: str, seconds: float, growth: int) -> None:
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tracemalloc.start()
    try:
        before, after = run(backend, soak, seconds)
    finally:
        tracemalloc.stop()
    assert after.size - before.size < growth
    assert after.tasks == before.tasks
    assert after.files == before.files
    gc.collect()
    assert files == 0 or len(os.listdir("/proc/self/fd")) == files


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_half_a_minute_of_sound_both_ways_leaves_nothing_behind(backend: str) -> None:
    check(backend, 20.0, 256 * 1024)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_hour_of_sound_both_ways_leaves_less_than_a_mebibyte(backend: str) -> None:
    check(backend, 3600.0, 1024 * 1024)
