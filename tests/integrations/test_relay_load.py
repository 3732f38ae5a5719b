"""Many pages at once: sound is hardly delayed, nothing is lost, and nothing stays behind."""

from __future__ import annotations

import gc
import os
import tracemalloc

import anyio
import pytest
from support.footprint import Footprint
from support.load import converse, model, served

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # uvicorn's


async def quiet() -> Footprint:
    await anyio.sleep(0.3)  # closing handshakes of sockets whose pages are gone
    return Footprint()


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_few_pages_lose_nothing_and_leave_nothing() -> None:
    tracemalloc.start()
    try:
        async with model() as port, served(port) as url:
            await converse(url, 2, 0.5)
            before = await quiet()
            measured = await converse(url, 5, 2.0)
            after = await quiet()
    finally:
        tracemalloc.stop()
    assert measured.lost == 0
    assert measured.chunks >= 5 * 2.0 / 0.04 * 0.8
    assert (after.tasks, after.files) == (before.tasks, before.files)
    assert after.size - before.size < 128 * 1024


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_twenty_pages_a_minute_long_are_delayed_by_less_than_20_ms() -> None:
    async with model() as port, served(port) as url:
        await converse(url, 20, 5.0)
        held = resident()
        measured = await converse(url, 20, 60.0)
        await anyio.sleep(0.3)
        grown = resident() - held
    print(measured, f"; {grown / 2**20:+.1f} MiB")
    assert measured.lost == 0
    assert max(measured.there[1], measured.back[1]) <= 20.0
    assert grown < 8 * 2**20


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_hundred_pages_lose_nothing() -> None:
    async with model() as port, served(port) as url:
        measured = await converse(url, 100, 30.0)
    print(measured)
    assert measured.lost == 0
