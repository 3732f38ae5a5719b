"""The sound for a caller who waits: when it begins, and what ends it."""

from __future__ import annotations

import wave
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from livetools import AudioChunk, Call, ConfigError, Interrupted, ToolFinished, ToolStarted, TurnComplete
from livetools.integrations.telephony import Provider
from livetools.integrations.telephony.bridge.hold import Hold, sound_of
from livetools.integrations.telephony.bridge.model_speech import ModelSpeech
from livetools.integrations.telephony.sound.codec import L16, PCMU
from livetools.testing import FakeClock

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

SOUND = b"\x01\x00" * 1600  # a tenth of a second
CALL = Call("1", "search", {})
DONE = ToolFinished(CALL, {"output": "x"}, None, 1.0)
SPOKEN = AudioChunk(b"\x00\x10" * 4800, 24000)  # a fifth of a second
TURN_ENDS = TurnComplete(None, None, False)


class Plain(Provider):
    encoding, rate = "L16", 16000

    def media(self, sound: bytes) -> bytes:
        return sound

    def mark(self, name: str) -> str:
        return name

    def clear(self) -> str:
        return "clear"


class Line:
    """A line whose messages are kept, and a clock that moves by twentieths of a second."""

    def __init__(self, provider: Provider | None = None) -> None:
        self.clock = FakeClock()
        self.speech = ModelSpeech(provider or Plain(), L16, self.clock)
        self.hold = Hold(SOUND, self.speech, self.clock)
        self.sent: list[Any] = []

    async def write(self, messages: Iterable[Any]) -> None:
        self.sent += [message for message in messages if message is not None]

    async def shows(self, *events: Any) -> None:
        for event in events:
            await self.write(self.hold.take(event))
            if isinstance(event, AudioChunk):
                await self.write(self.speech.say(event.data, event.rate))
            elif isinstance(event, TurnComplete):
                await self.write(self.speech.pause())

    async def waits(self, seconds: float) -> None:
        for _ in range(round(seconds * 20)):
            await anyio.wait_all_tasks_blocked()
            self.clock.advance(0.05)
        await anyio.wait_all_tasks_blocked()

    @property
    def held(self) -> float:
        """Seconds of the sound that were sent."""
        return sum(len(m) for m in self.sent if isinstance(m, bytes) and m[:2] == SOUND[:2]) / 32000


async def play(line: Line, *steps: Any) -> None:
    """Events, seconds of waiting, and looks at the line, one after another."""
    async with anyio.create_task_group() as group:
        group.start_soon(line.hold.play, line.write)
        for step in steps:
            if callable(step):
                step()
            else:
                await (line.waits(step) if isinstance(step, float) else line.shows(step))
        group.cancel_scope.cancel()


async def test_it_begins_when_a_call_is_open_for_a_second_and_a_half_and_the_answer_clears_it() -> None:
    line = Line()
    await play(line, ToolStarted(CALL), 1.4)
    assert line.sent == []
    line = Line()
    await play(line, ToolStarted(CALL), 2.5, DONE, SPOKEN)
    assert line.held == pytest.approx(1.2, abs=0.21), "a little ahead of what was heard"
    assert line.sent.index("clear") == len(line.sent) - 3, "and then the answer, and its mark"


async def test_a_call_that_is_answered_in_time_is_followed_by_no_sound() -> None:
    line = Line()
    await play(line, ToolStarted(CALL), 1.0, DONE, 3.0, SPOKEN, TURN_ENDS, 5.0)
    assert line.held == 0
    assert "clear" not in line.sent


async def test_it_waits_until_what_was_said_before_has_been_heard() -> None:
    line = Line()
    long = AudioChunk(SPOKEN.data * 20, 24000)  # four seconds
    held: list[float] = []
    await play(line, long, ToolStarted(CALL), 3.8, lambda: held.append(line.held), 1.0)
    assert held == [0]
    assert line.held > 0


async def test_it_is_heard_again_after_words_that_are_no_answer_but_not_after_the_end_of_their_turn() -> None:
    line = Line()
    held: list[float] = []
    note = lambda: held.append(line.held)  # noqa: E731
    await play(line, ToolStarted(CALL), 2.0, SPOKEN, note, 1.0, note, 2.0)
    assert held[0] == held[1] < line.held
    line = Line()
    await play(line, ToolStarted(CALL), SPOKEN, TURN_ENDS, 10.0)
    assert line.held == 0


async def test_the_end_of_a_turn_that_had_no_words_leaves_it_playing() -> None:
    line = Line()
    await play(line, ToolStarted(CALL), TURN_ENDS, 3.0)
    assert line.held > 1


async def test_an_answer_that_is_silent_ends_it_after_five_seconds() -> None:
    line = Line()
    await play(line, ToolStarted(CALL), 2.0, DONE, 20.0)
    assert line.held == pytest.approx(5.5, abs=0.5)
    assert line.sent[-1] == "clear"


async def test_an_interruption_ends_it() -> None:
    line = Line()
    held: list[float] = []
    await play(line, ToolStarted(CALL), 2.0, Interrupted(), lambda: held.append(line.held), 3.0)
    assert line.sent[-1] == "clear"
    assert held == [line.held]


async def test_of_two_calls_the_last_one_that_is_open_keeps_it_playing() -> None:
    other = Call("2", "search", {})
    line = Line()
    await play(line, ToolStarted(CALL), ToolStarted(other), 2.0, DONE, 8.0)
    assert line.held > 8


async def test_it_does_not_count_as_heard_with_marks_or_without() -> None:
    class Unmarked(Plain):
        def mark(self, name: str) -> str | None:
            return None

    for provider in (Plain(), Unmarked()):
        line = Line(provider)
        await play(line, SPOKEN, TURN_ENDS, 1.0, ToolStarted(CALL), 4.0, DONE, SPOKEN, TURN_ENDS, 1.0)
        for mark in [message for message in line.sent if str(message).startswith("livetools")]:
            line.speech.played(mark)
        assert line.speech.heard == pytest.approx(0.4, abs=0.02)


def test_the_sound_is_a_file_its_bytes_or_the_one_that_is_made_here(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "wait.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(SOUND)
    content = (tmp_path / "wait.wav").read_bytes()
    assert sound_of(tmp_path / "wait.wav", L16, 16000) == sound_of(content, L16, 16000) == SOUND
    assert len(sound_of(content, PCMU, 8000)) == 800
    assert len(sound_of(True, PCMU, 8000)) == 16000
    assert sound_of(False, PCMU, 8000) == b""


def test_what_is_no_sound_is_told() -> None:
    with pytest.raises(ConfigError, match="the sound cannot be read"):
        sound_of(b"no WAV", PCMU, 8000)
    empty = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
    with pytest.raises(ConfigError, match="hold_sound is empty"):
        sound_of(empty, PCMU, 8000)
