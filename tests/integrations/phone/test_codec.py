"""G.711 by the two laws."""

from __future__ import annotations

import subprocess
import sys
from array import array

import pytest

from livetools.integrations.phone.codec import CODECS, PCMA, PCMU, Codec


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


def test_a_codec_is_found_by_each_providers_name() -> None:
    assert CODECS["audio/x-mulaw"] is CODECS["PCMU"] is PCMU
    assert CODECS["PCMA"] is PCMA


def test_its_import_warns_nobody() -> None:
    program = "import livetools.integrations.phone.codec"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
