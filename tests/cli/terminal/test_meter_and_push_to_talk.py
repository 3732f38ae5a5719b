"""What a microphone hears, muted until a key is pressed, and shown by a meter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import pytest

from livetools.audio.activity_detection import Activity
from livetools.cli.terminal.meter_and_push_to_talk import PushToTalk, level, meter, metered, while_pressed

pytestmark = pytest.mark.anyio

LOUD, SILENT = b"\x00\x40" * 160, bytes(320)


async def microphone(talk: PushToTalk, keys: Iterable[str]) -> AsyncIterator[bytes]:
    """A loud piece after each key; ``""`` is none."""
    for key in keys:
        talk.press(key)
        yield LOUD


async def heard(keys: Iterable[str], marks: bool) -> list[object]:
    talk = PushToTalk()
    return [piece async for piece in while_pressed(microphone(talk, keys), [].append, 80, talk, marks)]


async def test_nothing_is_heard_before_a_key_and_marks_stand_around_what_is() -> None:
    keys = ["", " ", "", " ", "", " "]
    assert await heard(keys, True) == [
        Activity.START, LOUD, LOUD, Activity.END, Activity.START, LOUD,
    ]  # fmt: skip


async def test_without_marks_silence_of_the_same_length_takes_the_place_of_what_is_not_said() -> None:
    assert await heard(["", " ", "", " "], False) == [SILENT, LOUD, LOUD, SILENT]


async def test_only_the_space_bar_counts() -> None:
    assert await heard(["x", "\n", "q"], True) == []


async def test_the_meter_sees_what_passes_and_changes_nothing() -> None:
    shown: list[str] = []
    talk = PushToTalk()
    passed = [pcm async for pcm in metered(microphone(talk, ["", ""]), shown.append, 80)]
    assert passed == [LOUD, LOUD]
    assert shown == ["[##################--]"] * 2


def test_a_level_is_in_decibels_below_full_scale() -> None:
    assert level(b"\xff\x7f" * 100) == pytest.approx(0, abs=0.01)
    assert level(b"\xff\x3f" * 100) == pytest.approx(-6, abs=0.05)
    assert level(bytes(100)) < -100
    assert level(b"") < -100


@pytest.mark.parametrize("width", [12, 20, 40, 80, 200])
@pytest.mark.parametrize("decibels", [-200.0, -60.0, -30.0, 0.0, 3.0])
def test_a_meter_is_ascii_and_fits_the_terminal(width: int, decibels: float) -> None:
    for speaks in (None, False, True):
        line = meter(decibels, width, speaks)
        assert line.isascii()
        assert len(line) < max(width, 20)
        assert line.endswith("]")


def test_a_microphone_that_is_off_shows_nothing() -> None:
    assert "#" not in meter(0.0, 80, False)
    assert "#" * 20 in meter(0.0, 80, True)


async def test_sound_that_is_shown_as_heard_is_sent_though_the_key_is_pressed_again_meanwhile() -> None:
    talk = PushToTalk()

    def show(line: str) -> None:
        if "#" in line:
            talk.press(" ")  # as soon as the user sees it

    sent = [piece async for piece in while_pressed(microphone(talk, [" ", ""]), show, 80, talk, True)]
    assert sent == [Activity.START, LOUD, Activity.END]
