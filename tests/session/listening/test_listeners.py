"""Somebody hears a conversation beside whoever iterates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from livetools import OutputTranscript, TurnComplete, connect
from livetools.session.listening.frame_tap import listen
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]


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


ERRORS = [RuntimeError("the pen is empty"), SystemExit(1)]


@pytest.mark.parametrize("error", ERRORS, ids=["an error", "an exit"])
@pytest.mark.parametrize("fails", ["event", "sound", "end"])
async def test_one_that_raises_is_logged_once_and_costs_nobody_anything(
    opened: Opened, fails: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    called: list[str] = []
    heard: list[Any] = []

    def note(kind: str) -> None:
        called.append(kind)
        if kind == fails:
            raise error

    async with opened() as line:
        listen(line.session, lambda event: note("event"), lambda *sound: note("sound"), lambda: note("end"))
        listen(line.session, heard.append, lambda *sound: heard.append(sound), lambda: heard.append("end"))
        for _ in range(2):
            await line.session.send_audio(b"\0\0")
            async with anyio.create_task_group() as group:
                group.start_soon(line.session.ask, "hi")
                await line.receive("clientContent")
                line.says("Well. ")
    assert called.count(fails) == 1
    assert called[-1] == "end"
    assert len([record for record in caplog.records if "listener" in record.getMessage()]) == 1
    assert heard.count((b"\0\0", 16000)) == heard.count(OutputTranscript("Well. ")) == 2
    assert heard[-1] == "end"


async def test_who_stops_takes_nobody_else_with_him(opened: Opened) -> None:
    told: list[Any] = []

    def silent(*sound: object) -> None:
        """Nothing."""

    async with opened() as line:
        listen(line.session, told.append, silent, silent)
        stop = listen(line.session, told.append, silent, silent)
        stop()
        line.says("Well.")
        await line.quiet()
    assert told.count(OutputTranscript("Well.")) == 1
