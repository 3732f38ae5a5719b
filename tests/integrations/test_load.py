"""Many pages and many telephones at once: sound is hardly delayed, nothing is lost, and nothing stays behind."""

from __future__ import annotations

import tracemalloc

import pytest
from support.footprint import Footprint
from support.load import TALKERS, resident, serving_load

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("who", TALKERS)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # uvicorn's


async def test_a_few_lose_nothing_and_leave_nothing(who: str) -> None:
    tracemalloc.start()
    try:
        async with serving_load(who) as app:
            await app.converse(2, 0.5)
            before = Footprint()
            measured = await app.converse(5, 1.0)
            after = Footprint()
    finally:
        tracemalloc.stop()
    assert measured.lost == 0
    assert (after.tasks, after.files) == (before.tasks, before.files)
    assert after.size - before.size < 128 * 1024


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_twenty_are_delayed_by_less_than_20_ms_for_a_minute_and_memory_returns(who: str) -> None:
    async with serving_load(who) as app:
        await app.converse(20, 5.0)
        held = resident()
        measured = await app.converse(20, 60.0)
        grown = resident() - held
    print(measured, f"; {grown / 2**20:+.1f} MiB")
    assert measured.lost == 0
    assert max(measured.there[1], measured.back[1]) <= 20.0
    assert grown < 8 * 2**20


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_hundred_lose_nothing(who: str) -> None:
    async with serving_load(who) as app:
        measured = await app.converse(100, 30.0)
    print(measured)
    assert measured.lost == 0
