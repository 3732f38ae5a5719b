"""Speech begins and ends where the energy says so, with the setup's patience."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools.testing.messages.output import tone
from livetools.testing.settings.vad import Edge, EnergyDetector

SPEECH = tone(1.0, rate=16000)
SILENCE = bytes(32000)


def quiet(pcm, by):
    import array

    return array.array("h", (sample // by for sample in array.array("h", pcm))).tobytes()


def edges(config, *pieces):
    detector = EnergyDetector(config)
    return [edge for piece in pieces for edge in detector.feed(piece, 16000)]


def test_a_word_between_two_silences_has_a_beginning_and_an_end():
    assert edges({}, SILENCE, SPEECH, SILENCE) == [Edge("start", 1.0), Edge("end", 2.0)]


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 24000, 44100, 48000])
def test_the_times_are_right_at_every_rate(rate):
    speech, silence = tone(1.0, rate=rate), bytes(2 * rate)
    detector = EnergyDetector({})
    found = [edge for piece in (silence, speech, silence) for edge in detector.feed(piece, rate)]
    assert [(edge.kind, edge.offset) for edge in found] == [
        ("start", pytest.approx(1.0, abs=0.03)),
        ("end", pytest.approx(2.0, abs=0.03)),
    ]


def test_silence_is_never_speech():
    assert edges({}, SILENCE, SILENCE, SILENCE) == []


@pytest.mark.parametrize(("duration", "found"), [(200, 2), (1200, 1)])
def test_the_end_waits_for_as_much_silence_as_the_setup_says(duration, found):
    assert len(edges({"silenceDurationMs": duration}, SPEECH, SILENCE)) == found


def test_a_click_is_shorter_than_the_prefix_that_speech_must_have():
    click = SPEECH[: 16000 * 2 // 10]
    assert edges({"prefixPaddingMs": 300}, click, SILENCE) == []
    assert len(edges({"prefixPaddingMs": 40}, click, SILENCE)) == 2


def test_low_sensitivity_does_not_hear_what_high_hears():
    whisper = quiet(SPEECH, 3)
    assert edges({"startOfSpeechSensitivity": "START_SENSITIVITY_HIGH"}, whisper)
    assert not edges({"startOfSpeechSensitivity": "START_SENSITIVITY_LOW"}, whisper)


def test_low_sensitivity_at_the_end_is_patient():
    pause = SILENCE[: 16000 * 2 * 6 // 10]
    assert len(edges({"endOfSpeechSensitivity": "END_SENSITIVITY_HIGH"}, SPEECH, pause, SPEECH)) == 3
    assert len(edges({"endOfSpeechSensitivity": "END_SENSITIVITY_LOW"}, SPEECH, pause, SPEECH)) == 1


@given(st.lists(st.integers(1, 3000), max_size=30))
def test_however_the_stream_is_cut_the_edges_are_the_same(sizes):
    stream, pieces, start = SILENCE + SPEECH + SILENCE, [], 0
    for size in sizes:
        pieces.append(stream[start : start + size * 2])
        start += size * 2
    assert edges({}, *pieces, stream[start:]) == edges({}, stream)
