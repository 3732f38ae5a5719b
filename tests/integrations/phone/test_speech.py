"""What the model says, as frames, and what of it was heard."""

from __future__ import annotations

import base64
import json

import pytest

from livetools.integrations.phone.codec import PCMA, PCMU
from livetools.integrations.phone.provider import Start
from livetools.integrations.phone.speech import Speech
from livetools.testing import FakeClock

SECOND = bytes(48_000)


def speech(codec=PCMU, clock=None) -> Speech:
    return Speech(Start({}, "streamSid", "MZ1", codec), clock or FakeClock())


def sounds(frames) -> list[bytes]:
    read = [json.loads(frame) for frame in frames]
    return [base64.b64decode(frame["media"]["payload"]) for frame in read if frame["event"] == "media"]


def marks(frames) -> list[str]:
    return [json.loads(frame)["mark"]["name"] for frame in frames if '"mark"' in frame]


def test_a_second_of_speech_is_a_second_of_the_line():
    line = speech()
    frames = [*line.say(SECOND, 24_000), *line.pause()]
    assert len(b"".join(sounds(frames))) == pytest.approx(8000, abs=160)  # filled up to 20 ms
    assert {json.loads(frame)["streamSid"] for frame in frames} == {"MZ1"}


def test_every_piece_is_followed_by_its_mark():
    line = speech()
    frames = list(line.say(SECOND, 24_000))
    assert [json.loads(frame)["event"] for frame in frames] == ["media", "mark"]


def test_pieces_last_20_ms_at_least_and_10_s_at_most():
    line = speech(PCMA)
    frames = [frame for _ in range(10) for frame in line.say(bytes(240), 24_000)]  # 5 ms each
    assert all(len(sound) >= 160 for sound in sounds(frames))
    last = sounds(line.pause())
    assert all(len(sound) >= 160 for sound in last)
    long = sounds([*line.say(SECOND * 25, 24_000), *line.pause()])
    assert max(map(len, long)) == 80_000


def test_what_is_held_back_for_the_filter_comes_at_the_pause():
    line = speech()
    list(line.say(SECOND, 24_000))
    (rest,) = sounds(line.pause())
    assert len(rest) == 160
    assert list(line.pause()) == []


def test_a_mark_that_comes_back_was_heard():
    line = speech()
    for name in marks([*line.say(SECOND, 24_000), *line.pause()]):
        assert line.waiting
        line.played(name)
    assert line.heard == pytest.approx(1.0, abs=0.03)
    assert not line.waiting
    line.played("another's")
    assert line.heard == pytest.approx(1.0, abs=0.03)


def test_marks_from_before_an_interruption_count_for_nothing():
    clock = FakeClock()
    line = speech(clock=clock)
    old = marks(line.say(SECOND, 24_000))
    assert json.loads(line.cut()) == {"event": "clear", "streamSid": "MZ1"}
    assert line.plays_until == clock.now()
    for name in old:
        line.played(name)
    assert line.heard == 0.0
    new = marks(line.say(SECOND, 24_000))
    assert not set(new) & set(old)


def test_it_plays_as_long_as_it_sounds_though_it_comes_faster():
    clock = FakeClock(10.0)
    line = speech(clock=clock)
    for _ in range(3):
        list(line.say(SECOND, 24_000))
    assert line.plays_until == pytest.approx(13.0, abs=0.03)


def test_another_rate_of_the_models_is_no_seam():
    line = speech()
    frames = [*line.say(SECOND, 24_000), *line.say(bytes(32_000), 16_000), *line.pause()]
    assert len(b"".join(sounds(frames))) == pytest.approx(16_000, abs=320)
