"""Sound as bytes, and from one rate to another."""

from __future__ import annotations

import math
import subprocess
import sys
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools import audio
from livetools.audio.pcm import Resampler, bytes_of, chunks, seconds_of, silence
from livetools.errors import ConfigError


def sine(frequency: float, rate: int, seconds: float) -> bytes:
    step = 2 * math.pi * frequency / rate
    return array("h", (int(10000 * math.sin(step * n)) for n in range(int(seconds * rate)))).tobytes()


def test_a_second_of_16_khz_is_32000_bytes():
    assert seconds_of(bytes(32000), 16000) == 1.0
    assert bytes_of(1.0, 16000) == 32000
    assert silence(0.1) == bytes(3200)


def test_bytes_are_whole_samples_whatever_the_seconds():
    assert bytes_of(0.00001, 16000) == 0
    assert bytes_of(0.0001, 24000) % 2 == 0


@settings(derandomize=True, max_examples=60)
@given(pieces=st.lists(st.binary(max_size=50)), size=st.integers(1, 20))
def test_chunks_hold_the_same_bytes_and_all_but_the_last_are_whole(pieces, size):
    cut = list(chunks(pieces, size))
    assert b"".join(cut) == b"".join(pieces)
    assert all(len(chunk) == size for chunk in cut[:-1])
    assert all(cut)


def test_equal_rates_need_nothing_and_change_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "soxr", None)
    assert Resampler(16000, 16000)(b"\x01\x02\x03") == b"\x01\x02\x03"


def test_without_soxr_the_error_says_which_rates_and_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(
        ConfigError, match=r"44100 Hz, expected 16000 Hz.*pip install 'PATH/TO/CLONE\[voice\]'"
    ):
        Resampler(44100, 16000)


def test_resampling_keeps_length_and_loudness():
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    heard = Resampler(44100, 16000)(sine(440, 44100, 1.0), last=True)
    assert seconds_of(heard, 16000) == pytest.approx(1.0, abs=0.001)
    middle = array("h", heard)[4000:12000]
    loudness = math.sqrt(sum(value * value for value in middle) / len(middle))
    assert loudness == pytest.approx(10000 / math.sqrt(2), rel=0.01)


def test_where_a_piece_is_cut_makes_no_difference():
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    sound = sine(440, 24000, 0.3)
    whole = array("h", Resampler(24000, 16000)(sound, last=True))
    piecewise = Resampler(24000, 16000)
    cut = [piecewise(sound[start : start + 777]) for start in range(0, len(sound), 777)]  # odd: half samples
    joined = array("h", b"".join([*cut, piecewise(b"", last=True)]))
    assert len(joined) == len(whole)
    assert max(abs(a - b) for a, b in zip(joined, whole, strict=True)) < 10  # soxr dithers


def test_nothing_heavy_is_imported_before_it_is_used():
    heavy = {"numpy", "soxr", "sounddevice", "google.genai", "websockets", "rich"}
    program = f"import sys, livetools.audio; sys.exit(str({heavy} & set(sys.modules) or ''))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr.strip() == ""


def test_the_door_of_the_room_is_exactly_its_list():
    assert sorted(audio.__all__) == sorted(set(audio.__all__))
    assert all(hasattr(audio, name) for name in audio.__all__)
