"""Sound in chunks cut anywhere, and in whatever buffer it comes."""

from __future__ import annotations

import array
import itertools
import math
import sys
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from livetools.errors import ConfigError, LocalProtocolError
from livetools.protocol.input.audio_format import SAMPLE, Samples, pcm_bytes, same_rate, sample_rate


@given(sound=st.binary(max_size=60), cuts=st.lists(st.integers(0, 60), max_size=8))
def test_however_it_is_cut_whole_samples_come_out_and_none_is_lost(sound: bytes, cuts: list[int]) -> None:
    samples, edges = Samples(), [0, *sorted(cuts), len(sound)]
    pieces = [samples.whole(sound[a:b]) for a, b in itertools.pairwise(edges)]
    assert all(len(piece) % SAMPLE == 0 for piece in pieces)
    assert b"".join(pieces) == sound[: len(sound) // SAMPLE * SAMPLE]


def test_a_clean_cut_forgets_the_odd_byte() -> None:
    samples = Samples()
    assert samples.whole(b"abc") == b"ab"
    samples.clear()
    assert samples.whole(b"de") == b"de"


WIRE = b"\x01\x02\xff\x7f"


@pytest.mark.parametrize(
    "sound",
    [
        WIRE,
        bytearray(WIRE),
        memoryview(WIRE),
        memoryview(b"\x01-\x02-\xff-\x7f-")[::2],
        numpy.frombuffer(WIRE, "<i2"),
        numpy.frombuffer(WIRE, "<i2").astype(">i2"),
        numpy.frombuffer(WIRE, "<i2").reshape(-1, 1),
        numpy.frombuffer(WIRE, "<i2").reshape(1, -1),
        numpy.repeat(numpy.frombuffer(WIRE, "<i2"), 2)[::2],
        numpy.frombuffer(WIRE, "uint8"),
        pytest.param(
            array.array("h", [0x0201, 0x7FFF]),
            marks=pytest.mark.skipif(sys.byteorder == "big", reason="order"),
        ),
    ],
    ids=lambda sound: f"{type(sound).__name__} {getattr(sound, 'dtype', '')}",
)
def test_bytes_and_16_bit_arrays_are_sent_as_the_wire_wants_them(sound: Any) -> None:
    assert pcm_bytes(sound) == WIRE


def test_a_buffer_may_be_used_again_once_it_was_given() -> None:
    buffer = bytearray(WIRE)
    sent = pcm_bytes(buffer)
    buffer[0] = 9
    assert sent == WIRE


@pytest.mark.parametrize(
    ("sound", "says"),
    [
        (numpy.zeros(4, "float32"), "int16"),
        (numpy.zeros(4, "float64"), "16-bit integers"),
        (numpy.zeros(4, "int32"), "16-bit integers"),
        (numpy.zeros(4, "uint16"), "16-bit integers"),
        (numpy.zeros((4, 2), "int16"), "4×2: one channel"),
        (array.array("f", [0.5]), "16-bit integers"),
        ("sound", "is a str"),
        ([1, 2], "is a list"),
        (None, "is a NoneType"),
        (5, "is a int"),
    ],
)
def test_what_the_service_would_hear_as_noise_is_refused(sound: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        pcm_bytes(sound)


def test_a_rate_is_a_whole_number_of_hertz() -> None:
    assert sample_rate(16000) == 16000
    assert type(sample_rate(numpy.int64(8000))) is int


@pytest.mark.parametrize("rate", [0, -16000, 16000.0, "16000", True, None, math.nan, 16, 10**9])
def test_what_is_not_a_rate_is_refused(rate: Any) -> None:
    with pytest.raises(ConfigError, match="a whole number of Hz"):
        sample_rate(rate)


def test_the_rate_of_the_first_sound_holds_for_all_that_follows() -> None:
    assert same_rate(48000, 0) == same_rate(48000, 48000) == 48000
    with pytest.raises(LocalProtocolError, match="16000 Hz after audio at 48000 Hz"):
        same_rate(16000, 48000)
