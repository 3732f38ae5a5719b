"""A conversation in a file: who left, who right, and each when it was heard."""

from __future__ import annotations

import json
import wave
from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from livetools import AudioChunk, Interrupted, connect
from livetools.audio import record
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio
pytest.importorskip("soxr", reason="recording needs soxr")

MODEL = "gemini-2.5-flash-native-audio-preview-12-2025"
SAID = b"\x00\x10" * 16_000  # a second of the caller's
ANSWER = b"\x00\x20" * 24_000  # a second of the model's


def sides(path: Path) -> tuple[array[int], array[int]]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 24_000)
        both = array("h", file.readframes(file.getnframes()))
    return both[0::2], both[1::2]


def spans(side: array[int]) -> list[tuple[float, float]]:
    """When it is loud: seconds."""
    loud = [abs(sample) > 2000 for sample in side]
    edges = [n for n in range(1, len(loud)) if loud[n] != loud[n - 1]]
    edges = [0, *edges] if loud and loud[0] else edges
    edges = [*edges, len(loud)] if len(edges) % 2 else edges
    return [
        (round(a / 24_000, 2), round(b / 24_000, 2)) for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]


async def answers(turn: Any) -> None:
    await turn.say("Rain.", ANSWER * 2)


@pytest.fixture
async def server() -> AsyncIterator[FakeLiveServer]:
    async with FakeLiveServer(answers) as server:
        yield server


async def test_the_caller_is_left_and_the_model_right_at_their_times(
    server: FakeLiveServer, tmp_path: Path
) -> None:
    path, clock = tmp_path / "call.wav", FakeClock(100.0)
    async with connect(MODEL, **server.options) as session:
        with record(session, path, clock=clock):
            for _ in range(10):
                clock.advance(0.1)
                await session.send_audio(SAID[:3200])
            clock.advance(1.0)
            await session.ask("?")  # its two seconds come at once
            clock.advance(5.0)
            await session.send_audio(SAID[:3200])
    left, right = sides(path)
    assert spans(left) == [(0.0, 1.0), (6.9, 7.0)]
    assert spans(right) == [(2.0, 4.0)]


async def test_what_was_interrupted_was_not_heard(server: FakeLiveServer, tmp_path: Path) -> None:
    path, clock = tmp_path / "call.wav", FakeClock()

    @server.model
    async def model(turn: Any) -> None:
        await turn.say("A story.", ANSWER * 2)
        await anyio.sleep(5)

    async with connect(MODEL, **server.options) as session:
        recorder = record(session, path, clock=clock)
        await session.send_text("?")
        heard = 0
        async for event in session:
            if isinstance(event, AudioChunk):
                heard += len(event.data)
                if heard >= 2 * len(ANSWER):
                    clock.advance(0.5)
                    await session.interrupt()
            if isinstance(event, Interrupted):
                break
        recorder.close()
    assert spans(sides(path)[1]) == [(0.0, 0.5)]


async def test_it_ends_with_the_session_and_the_transcript_stands_beside_it(
    server: FakeLiveServer, tmp_path: Path
) -> None:
    path = tmp_path / "call.wav"
    session = connect(MODEL, **server.options)
    record(session, path)  # before it is open, as an agent would
    async with session:
        await session.ask("Weather?")
    assert len(sides(path)[1]) >= 48_000
    told = [json.loads(line) for line in path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    assert told == session.transcript.contents
    assert "Weather?" in str(told)


async def test_an_async_block_will_do_and_afterwards_nothing_is_recorded(
    server: FakeLiveServer, tmp_path: Path
) -> None:
    path = tmp_path / "call.wav"
    async with connect(MODEL, **server.options) as session:
        async with record(session, path):
            await session.send_audio(SAID)
        size = path.stat().st_size
        await session.send_audio(SAID)
        await session.ask("?")
    assert path.stat().st_size == size
    assert len(sides(path)[0]) == pytest.approx(24_000, abs=10)


async def test_an_hour_is_not_kept_in_memory(server: FakeLiveServer, tmp_path: Path) -> None:
    path, clock = tmp_path / "call.wav", FakeClock()
    async with connect(MODEL, **server.options) as session:
        record(session, path, clock=clock)
        for _ in range(100):
            clock.advance(1.0)
            await session.send_audio(SAID)
        assert path.stat().st_size > 90 * 96_000, "and it can be read at any time"
        assert len(sides(path)[0]) > 90 * 24_000


async def test_a_disk_that_is_full_ends_the_recording_and_not_the_conversation(
    server: FakeLiveServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock()
    async with connect(MODEL, **server.options) as session:
        with record(session, "/dev/full" if Path("/dev/full").exists() else tmp_path, clock=clock):
            for _ in range(10):
                clock.advance(1.0)
                await session.send_audio(SAID)
            assert str(await session.ask("?")) == "Rain."
    assert "ends here" in caplog.text


async def test_a_place_that_cannot_be_written_is_told_at_once(server: FakeLiveServer, tmp_path: Path) -> None:
    async with connect(MODEL, **server.options) as session:
        with pytest.raises(OSError, match="missing"):
            record(session, tmp_path / "missing" / "call.wav")
