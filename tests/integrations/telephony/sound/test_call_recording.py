"""Both sides of a call in one file: each sound stands where it was heard."""

from __future__ import annotations

import stat
import sys
import wave
from array import array
from pathlib import Path

import pytest

from livetools.integrations.telephony.sound.call_recording import CallRecording, begun
from livetools.testing import FakeClock

RATE = 8000
FRAME = 0.02
LOUD, QUIET = b"\x00\x20" * 160, bytes(320)


def sides(path: Path) -> tuple[array[int], array[int]]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, RATE)
        both = array("h", file.readframes(file.getnframes()))
    return both[0::2], both[1::2]


def spans(side: array[int]) -> list[tuple[float, float]]:
    """When it is loud: seconds."""
    edges = [n for n, (a, b) in enumerate(zip([0, *side], [*side, 0], strict=True)) if bool(a) != bool(b)]
    return [(round(a / RATE, 2), round(b / RATE, 2)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


class Line:
    """A caller who is heard all the time, 20 ms after 20 ms."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.recording = CallRecording(path, RATE, self.clock)

    def hears(self, seconds: float, frame: bytes = QUIET) -> None:
        for _ in range(round(seconds / FRAME)):
            self.clock.advance(FRAME)
            self.recording.caller(frame)

    def hears_at_once(self, seconds: float, frame: bytes) -> None:
        for _ in range(round(seconds / FRAME)):
            self.recording.caller(frame)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path / "call.wav")


def closed(line: Line) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    line.recording.close()
    left, right = sides(line.recording.path)
    return spans(left), spans(right)


def test_a_question_and_its_answer_stand_where_they_were_heard(line: Line) -> None:
    line.hears(1)
    line.hears(0.5, LOUD)
    line.hears(0.3)
    line.recording.agent(LOUD * 25, line.clock.now())  # half a second, sent at once
    line.recording.agent(LOUD * 25, line.clock.now() + 0.5)
    line.hears(2)
    assert closed(line) == ([(1.0, 1.5)], [(1.8, 2.8)])


def test_what_was_cut_off_and_what_had_not_been_played_at_the_end_was_not_heard(line: Line) -> None:
    line.hears(1)
    line.recording.agent(LOUD * 250, line.clock.now())
    line.hears(0.7)
    line.recording.cut()
    line.hears(0.3)
    line.recording.agent(LOUD * 250, line.clock.now())
    line.hears(0.5)
    assert closed(line) == ([], [(1.0, 1.7), (2.0, 2.5)])


def test_sound_that_was_held_up_and_came_at_once_moves_nothing_that_follows(line: Line) -> None:
    line.hears(1)
    line.clock.advance(0.8)  # nothing comes
    line.hears_at_once(0.8, LOUD)
    line.hears(1)
    line.hears(0.5, LOUD)
    assert closed(line)[0] == [(1.0, 1.8), (2.8, 3.3)]


def test_after_a_gap_that_was_filled_and_came_nevertheless_silence_is_left_out(line: Line) -> None:
    line.hears(1)
    line.clock.advance(3)
    line.hears_at_once(3, LOUD)  # from 4 to 7 in the file, though it was spoken from 1 to 4
    line.hears(4)
    line.hears(0.5, LOUD)
    said = closed(line)[0][-1]
    assert said == pytest.approx((8.0, 8.5), abs=0.15)


def test_a_caller_who_is_not_heard_for_long_leaves_a_gap(line: Line) -> None:
    line.hears(1)
    line.clock.advance(3)
    line.hears(0.5, LOUD)
    assert closed(line)[0] == [(4.0, 4.5)]


def test_the_file_grows_while_the_call_lasts(line: Line) -> None:
    line.hears(60, LOUD)
    assert line.recording.path.stat().st_size > 55 * RATE * 4
    line.recording.close()


def test_each_call_has_a_file_of_its_own_in_the_folder_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "calls"
    names = []
    for stream in ("MZ1", "MZ1", "../../etc/passwd\0"):
        recording = begun(folder, stream, RATE, FakeClock())
        assert recording is not None
        recording.close()
        names.append(recording.path)
    assert [path.name for path in names] == ["MZ1.wav", "MZ1-2.wav", "------etc-passwd-.wav"]
    assert {path.parent for path in names} == {folder}
    if sys.platform != "win32":
        assert {stat.S_IMODE(path.stat().st_mode) for path in names} == {0o600}


def test_a_folder_that_cannot_be_written_is_logged_and_the_call_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    assert begun(tmp_path / "file" / "calls", "MZ1", RATE, FakeClock()) is None
    assert "a call is not recorded" in caplog.text
