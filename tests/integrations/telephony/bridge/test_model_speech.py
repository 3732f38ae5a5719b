"""What the model says, as frames, and what of it was heard."""

from __future__ import annotations

import base64
import json

import pytest

from livetools.integrations.telephony import Provider
from livetools.integrations.telephony.bridge.model_speech import ModelSpeech
from livetools.integrations.telephony.providers.built_in import Twilio
from livetools.integrations.telephony.sound.codec import L16, PCMA, PCMU, codec_of
from livetools.testing import FakeClock

SECOND = bytes(48_000)


class Plain(Provider):
    """A provider whose messages are the sound itself, without marks, and which plays all that it gets."""

    encoding, rate = "L16", 16000

    def media(self, sound):
        return sound


class Strict(Plain):
    """It takes one length, and can drop what it has."""

    chunk = 0.02

    def clear(self):
        return "clear"


def speech(codec=PCMU, clock=None) -> ModelSpeech:
    provider = Twilio()
    provider.stream, provider.encoding = "MZ1", codec.name
    return ModelSpeech(provider, codec, clock or FakeClock())


def plain(provider, clock=None) -> ModelSpeech:
    return ModelSpeech(provider, codec_of(provider.encoding, provider.rate), clock or FakeClock())


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


@pytest.mark.parametrize("rate", [8000, 16000, 24000])
def test_plain_sound_is_as_long_at_every_rate(rate):
    provider = Plain()
    provider.rate = rate
    line = plain(provider)
    sound = b"".join([*line.say(SECOND, 24_000), *line.pause()])
    assert len(sound) == pytest.approx(rate * L16.width, abs=rate * L16.width / 25)


def test_where_one_length_is_taken_every_message_has_it():
    line = plain(Strict())
    sent = [message for n in (3, 480, 999, 4801) for message in line.say(bytes(2 * n), 24_000)]
    rest = list(line.pause())
    assert sent
    assert {len(message) for message in sent + rest} == {640}
    assert list(line.pause()) == []


def test_without_marks_what_was_heard_goes_by_the_clock():
    clock = FakeClock()
    line = plain(Strict(), clock)
    list(line.say(SECOND, 24_000))
    list(line.pause())
    assert line.waiting
    assert line.heard == 0.0
    clock.advance(0.4)
    assert line.heard == pytest.approx(0.4)
    assert line.cut() == "clear"
    clock.advance(10)
    assert line.heard == pytest.approx(0.4), "the rest was dropped"
    assert not line.waiting
    assert [*line.say(SECOND, 24_000), *line.pause()]
    clock.advance(10)
    assert line.heard == pytest.approx(1.4, abs=0.03)


def test_what_cannot_be_dropped_is_played_and_heard():
    clock = FakeClock()
    line = plain(Plain(), clock)
    list(line.say(SECOND, 24_000))
    assert line.cut() is None
    assert line.waiting
    clock.advance(2)
    assert line.heard == pytest.approx(1.0, abs=0.06)


def test_a_provider_with_marks_has_a_little_longer_than_its_sound():
    clock = FakeClock()
    marked, unmarked = speech(clock=clock), plain(Plain(), clock)
    for line in (marked, unmarked):
        list(line.say(SECOND, 24_000))
    assert marked.heard_by == marked.plays_until + 2.0
    assert unmarked.heard_by == unmarked.plays_until
