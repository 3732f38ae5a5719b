"""The first to end ends the others."""

from __future__ import annotations

import anyio
import pytest

from livetools.transport.loop.race import race

pytestmark = pytest.mark.anyio


async def test_the_first_to_return_ends_the_others():
    ended = []

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("forever")

    await race(forever, anyio.lowlevel.checkpoint, forever)
    assert ended == ["forever", "forever"]


async def test_an_error_ends_the_others_and_is_raised_bare():
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await race(anyio.sleep_forever, fail)


async def test_a_cancellation_from_outside_ends_all():
    with anyio.move_on_after(0.01) as scope:
        await race(anyio.sleep_forever, anyio.sleep_forever)
    assert scope.cancelled_caught
