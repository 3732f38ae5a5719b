"""G.711 by the two laws, and plain PCM."""

from __future__ import annotations

import subprocess
import sys
from array import array

import pytest

from livetools import ConfigError
from livetools.integrations.telephony.sound.codec import L16, PCMA, PCMU, Codec, codec_of


@pytest.mark.parametrize(
    ("codec", "pairs"),
    [
        (PCMU, {0xFF: 0, 0x00: -32124, 0x80: 32124, 0xF0: 120, 0x7F: 0}),
        (PCMA, {0xD5: 8, 0x55: -8, 0x2A: -32256, 0xAA: 32256}),
    ],
    ids=["mu", "a"],
)
def test_bytes_mean_what_the_standard_says(codec: Codec, pairs: dict[int, int]) -> None:
    for byte, sample in pairs.items():
        assert array("h", codec.decode(bytes([byte]))).tolist() == [sample]


@pytest.mark.parametrize("codec", [PCMU, PCMA])
def test_every_byte_survives_both_ways_and_silence_is_silent(codec: Codec) -> None:
    for byte in range(256):
        pcm = codec.decode(bytes([byte]))
        assert codec.decode(codec.encode(pcm)) == pcm
    assert codec.encode(bytes(4)) == codec.silence * 2


def test_plain_sound_goes_both_ways_as_it_is() -> None:
    pcm = array("h", range(-8000, 8000)).tobytes()
    assert L16.decode(pcm) == L16.encode(pcm) == pcm
    assert (L16.width, PCMU.width, PCMA.width) == (2, 1, 1)


@pytest.mark.parametrize(
    ("encoding", "rate", "codec"),
    [("PCMU", 8000, PCMU), ("PCMA", 8000, PCMA), *(("L16", rate, L16) for rate in (8000, 16000, 24000))],
)
def test_a_codec_is_found_by_its_name(encoding: str, rate: int, codec: Codec) -> None:
    assert codec_of(encoding, rate) is codec


@pytest.mark.parametrize(
    ("encoding", "rate"),
    [
        ("opus", 8000), ("pcmu", 8000), (None, 8000), (["PCMU"], 8000), ("\ud800", 8000), ("x\ny" * 40, 8000),
        ("PCMU", 16000), ("PCMA", 0), ("L16", 44100), ("L16", None), ("L16", "16000\n"), ("L16", True),
    ],
)  # fmt: skip
def test_another_codec_is_an_error_in_one_line_of_ascii(encoding: object, rate: object) -> None:
    with pytest.raises(ConfigError, match="expected") as error:
        codec_of(encoding, rate)
    assert str(error.value).isascii()
    assert str(error.value).isprintable()


def test_its_import_warns_nobody() -> None:
    program = "import livetools.integrations.telephony.sound.codec"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
