"""Many telephones at once: sound is hardly delayed, nothing is lost, and nothing stays behind."""

from __future__ import annotations

import gc
import os
import tracemalloc

import anyio
import pytest
from support.footprint import Footprint
from support.phone_load import bridge

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # uvicorn's


async def quiet() -> Footprint:
    await anyio.sleep(0.5)  # closing handshakes of phones that have hung up
    return Footprint()


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_few_phones_lose_nothing_and_leave_nothing() -> None:
    tracemalloc.start()
    try:
        async with bridge() as ready:
            await ready.converse(2, 0.5)
            before = await quiet()
            measured = await ready.converse(4, 1.5)
            after = await quiet()
    finally:
        tracemalloc.stop()
    assert measured.lost == 0
    assert (after.tasks, after.files) == (before.tasks, before.files)
    assert after.size - before.size < 128 * 1024


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_twenty_phones_a_minute_long_are_delayed_by_less_than_20_ms() -> None:
    async with bridge() as ready:
        await ready.converse(20, 5.0)
        held = resident()
        measured = await ready.converse(20, 60.0)
        await anyio.sleep(0.5)
        grown = resident() - held
    print(measured, f"; {grown / 2**20:+.1f} MiB")
    assert measured.lost == 0
    assert max(measured.there[1], measured.back[1]) <= 20.0
    assert grown < 8 * 2**20


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_hundred_phones_lose_nothing() -> None:
    async with bridge() as ready:
        measured = await ready.converse(100, 30.0)
    print(measured)
    assert measured.lost == 0
