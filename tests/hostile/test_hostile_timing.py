"""Cancelled, broken off, closed and left at the worst moment: nothing hangs, nothing leaks, nothing is torn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


async def test_a_stream_that_is_broken_off_lets_the_next_question_be_asked(opened: Opened) -> None:
    async with opened() as line, anyio.create_task_group() as group:

        async def model() -> None:
            for words in ("one", "two"):
                while "clientContent" not in await line.server.receive():
                    pass
                line.server.send({"serverContent": {"outputTranscription": {"text": words}}})
                line.server.send({"serverContent": {"outputTranscription": {"text": " and more"}}})
                line.server.send({"serverContent": {"turnComplete": True}})

        group.start_soon(model)
        async for word in line.session.stream("first"):
            assert word == "one"
            break
        with anyio.fail_after(10):
            assert str(await line.session.ask("second")) == "two and more"
