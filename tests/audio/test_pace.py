"""A file at the speed of speech."""

from __future__ import annotations

import anyio
import pytest
from support.waiting import everybody_waits

from livetools.audio import END_OF_SPEECH, pace
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

CHUNK = b"\x01\x02" * 2000  # an eighth of a second at 16 kHz: exact in binary, as the steps are


async def heard(clock: FakeClock, steps: list[float], **options) -> list[tuple[float, bytes]]:
    """What ``pace`` gives while the clock moves on by ``steps``, with the time of each chunk."""
    got: list[tuple[float, bytes]] = []

    async def listen() -> None:
        async for chunk in pace(clock=clock, **options):
            got.append((clock.now(), chunk))

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        for step in steps:
            await everybody_waits()
            clock.advance(step)
        await everybody_waits()
        group.cancel_scope.cancel()
    return got


async def test_a_chunk_comes_when_a_microphone_would_have_heard_it_whole():
    got = await heard(FakeClock(), [0.0625] * 7, pcm=[CHUNK] * 3, trailing=0)
    assert got == [(0.125, CHUNK), (0.25, CHUNK), (0.375, CHUNK)]


async def test_half_a_second_of_silence_follows_so_that_the_end_of_speech_is_heard():
    got = await heard(FakeClock(), [0.125] * 8, pcm=[CHUNK])
    assert b"".join(chunk for _, chunk in got) == CHUNK + bytes(16000)
    assert got[-1][0] == 0.125 + END_OF_SPEECH


async def test_a_short_delay_is_caught_up_with():
    got = await heard(FakeClock(), [0.125, 0.375, 0.125], pcm=[CHUNK] * 5, trailing=0)
    assert [time for time, _ in got] == [0.125, 0.5, 0.5, 0.5, 0.625]


async def test_after_a_long_pause_there_is_no_burst():
    got = await heard(FakeClock(), [0.125, 60.0, 0.125, 0.125, 0.125], pcm=[CHUNK] * 100, trailing=0)
    assert len(got) < 12


async def test_the_rate_sets_the_time():
    got = await heard(FakeClock(), [0.125, 0.125], pcm=[bytes(6000)], rate=24000, trailing=0)
    assert [time for time, _ in got] == [0.125]


async def test_cancelling_a_wait_loses_nothing():
    clock = FakeClock()
    paced = pace([CHUNK], trailing=0, clock=clock)
    with anyio.move_on_after(0):
        await anext(paced)
    clock.advance(0.125)
    assert await anext(paced) == CHUNK
    with pytest.raises(StopAsyncIteration):
        await anext(paced)
