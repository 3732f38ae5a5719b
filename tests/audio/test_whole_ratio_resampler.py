"""Resampling for live sound: true to what is heard, and prompt."""

from __future__ import annotations

import math
from array import array

import pytest

from livetools.audio.pcm import Resampler, seconds_of

pytest.importorskip("soxr", reason="resampling needs soxr and numpy")

RATES = [(8000, 16000), (24000, 8000), (16000, 8000), (48000, 16000), (8000, 24000)]


def sine(frequency: float, rate: int, seconds: float = 0.5) -> bytes:
    step = 2 * math.pi * frequency / rate
    return array("h", (round(10000 * math.sin(step * n)) for n in range(round(seconds * rate)))).tobytes()


def loudness(pcm: bytes) -> float:
    samples = array("h", pcm)[1000:-1000]
    return math.sqrt(sum(s * s for s in samples) / len(samples))


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_tone_is_the_same_tone_at_the_same_time(source: int, target: int) -> None:
    made = array("h", Resampler(source, target, prompt=True)(sine(440, source), last=True))
    true = array("h", sine(440, target))
    assert len(made) == len(true)
    assert max(abs(a - b) for a, b in zip(made[200:-200], true[200:-200], strict=True)) < 60  # of 10000


@pytest.mark.parametrize(("source", "target"), RATES)
def test_where_a_piece_is_cut_makes_no_difference(source: int, target: int) -> None:
    sound = sine(440, source)
    whole = Resampler(source, target, prompt=True)(sound, last=True)
    piecewise = Resampler(source, target, prompt=True)
    sizes = [1, 3, 777, 320, 2, 5000]  # odd: half samples
    pieces, at = [], 0
    while at < len(sound):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(piecewise(sound[at : at + size]))
        at += size
    assert b"".join([*pieces, piecewise(b"", last=True)]) == whole


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_sample_comes_out_two_milliseconds_after_it_went_in(source: int, target: int) -> None:
    resample, given, made = Resampler(source, target, prompt=True), 0.0, 0.0
    for _ in range(50):
        piece = bytes(source // 50 * 2)
        given += seconds_of(piece, source)
        made += seconds_of(resample(piece), target)
        assert given - made < 0.0025


def test_what_the_lower_rate_cannot_hold_is_not_heard_as_something_else() -> None:
    assert loudness(Resampler(24000, 8000, prompt=True)(sine(6000, 24000), last=True)) < 10000 / 2**0.5 / 300


def test_the_loudest_sound_does_not_wrap_around() -> None:
    square = array("h", [32767] * 40 + [-32768] * 40) * 50
    made = array("h", Resampler(8000, 16000, prompt=True)(square.tobytes(), last=True))
    assert all((a > 0) == (b > 0) for a, b in zip(made[40:160:2], square[20:80], strict=True))


def test_rates_that_are_no_multiples_are_soxrs() -> None:
    made = Resampler(22050, 8000, prompt=True)(sine(440, 22050), last=True)
    assert seconds_of(made, 8000) == pytest.approx(0.5, abs=0.001)
