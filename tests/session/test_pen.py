"""The pen: who writes, and what a line that has ended does not take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from livetools import HandleUpdate, ToolLost, ToolStarted

pytestmark = pytest.mark.anyio


async def test_what_came_before_the_end_is_read_though_a_send_met_the_end_first(
    opened: Callable[..., Any],
) -> None:
    async def tool() -> str:
        """A tool."""
        return "done"

    async with opened([tool]) as line:
        line.call({"name": "tool", "id": "c1"})
        line.server.send({"sessionResumptionUpdate": {"newHandle": "h1", "resumable": True}})
        line.server.close(1011, "Internal error")
        await line.session.end_audio()
        for kind in (ToolStarted, HandleUpdate, ToolLost):
            await line.until(kind)
        assert line.session.handle == "h1"
