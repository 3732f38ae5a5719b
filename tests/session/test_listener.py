"""Somebody hears a conversation beside whoever iterates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from livetools import TurnComplete, connect
from livetools.session.tap import listen
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("when", ["before it is open", "while it is open"])
async def test_events_sound_and_the_end_are_told(when: str) -> None:
    told: list[Any] = []
    async with FakeLiveServer() as server:
        session = connect("gemini-3.8-live", **server.options)
        stops: list[Callable[[], None]] = []

        def begin() -> None:
            told_sound = lambda pcm, rate: told.append((len(pcm), rate))  # noqa: E731
            stops.append(listen(session, told.append, told_sound, lambda: told.append("end")))

        if when == "before it is open":
            begin()
        async with session:
            if when == "while it is open":
                begin()
            await session.send_audio(b"\0\0\0", rate=16000)  # a sample and a half
            await session.ask("hello")
    assert (2, 16000) in told
    assert any(isinstance(each, TurnComplete) for each in told)
    assert told[-1] == "end"
    assert told.count("end") == 1


async def test_who_stops_hears_nothing_more() -> None:
    told: list[Any] = []
    async with FakeLiveServer() as server:
        async with connect("gemini-3.8-live", **server.options) as session:
            stop = listen(session, told.append, lambda *sound: told.append(sound), lambda: told.append("end"))
            stop()
            stop()
            await session.send_audio(b"\0\0")
            await session.ask("hello")
    assert told == []
