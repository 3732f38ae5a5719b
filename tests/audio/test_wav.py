"""WAV files of every kind in, and out."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import wave
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.audio import read_wav, wav_format, write_wav
from livetools.errors import ConfigError

RAMP = array("h", range(-3200, 3200, 2)).tobytes()  # 0.2 s at 16 kHz


def wav(
    sound: bytes, *, tag=1, channels=1, rate=16000, bits=16, size=None, extra=b"", magic=b"RIFF"
) -> bytes:
    align = channels * ((bits + 7) // 8)
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * align, align, bits) + extra
    size = len(sound) if size is None else size
    return (
        magic + struct.pack("<I", 0xFFFFFFFF) + b"WAVE"
        + b"LIST" + struct.pack("<I", 3) + b"abc\0"  # an odd chunk, padded
        + b"fmt " + struct.pack("<I", len(form)) + form
        + b"data" + struct.pack("<I", size) + sound
    )  # fmt: skip


def read(path, content: bytes, **options) -> bytes:
    path.write_bytes(content)
    return b"".join(read_wav(path, **options))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sound.wav"


def test_sixteen_bits_come_out_as_they_went_in(path):
    assert read(path, wav(RAMP)) == RAMP


def test_what_wave_writes_is_read_and_what_we_write_wave_reads(path):
    write_wav(path, RAMP, rate=16000)
    assert b"".join(read_wav(path)) == RAMP
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.readframes(9999)) == (16000, 1, RAMP)


def test_chunks_last_what_was_asked_and_the_last_one_is_shorter(path):
    path.write_bytes(wav(bytes(32000 + 100)))
    assert [len(chunk) for chunk in read_wav(path)] == [3200] * 10 + [100]
    assert [len(chunk) for chunk in read_wav(path, seconds=0.02)][:2] == [640, 640]


@pytest.mark.parametrize(
    ("samples", "bits", "tag"),
    [
        (bytes([0, 128, 255]), 8, 1),
        (struct.pack("<3i", -(2**31), 0, 2**31 - 1), 32, 1),
        (b"\0\0\x80\0\0\0\xff\xff\x7f", 24, 1),
        (struct.pack("<3f", -2.0, 0.0, 1.0), 32, 3),
        (struct.pack("<3d", -1.0, 0.0, float("inf")), 64, 3),
    ],
    ids=["8 bits", "32 bits", "24 bits", "floats", "doubles"],
)
def test_every_width_becomes_sixteen_bits_from_bottom_to_top(path, samples, bits, tag):
    low, zero, high = struct.unpack("<3h", read(path, wav(samples, bits=bits, tag=tag)))
    assert low in (-32768, -32767)
    assert zero == 0
    assert high in (32767, 32512)


def test_a_float_that_is_no_number_is_some_sample_and_no_error(path):
    assert len(read(path, wav(struct.pack("<2f", float("nan"), 0.0), bits=32, tag=3))) == 4


def test_the_extensible_header_of_ffmpeg_and_sox_is_read(path):
    extra = struct.pack("<HHI", 22, 24, 0) + struct.pack("<H", 1) + bytes(14)
    assert read(path, wav(b"\0\x01\x02\0\x03\x04", bits=24, tag=0xFFFE, extra=extra)) == b"\x01\x02\x03\x04"


def test_channels_are_mixed_to_their_mean(path):
    assert struct.unpack("<2h", read(path, wav(struct.pack("<4h", 100, 300, -7, 7), channels=2))) == (200, 0)


@pytest.mark.parametrize("size", [0, 0x7FFFF000, 0xFFFFFFFF])
def test_a_length_that_a_pipe_could_not_know_means_to_the_end_of_the_file(path, size):
    assert read(path, wav(RAMP, size=size)) == RAMP


def test_what_follows_the_sound_is_not_heard(path):
    assert read(path, wav(RAMP) + b"LIST\x04\0\0\0junk") == RAMP


def test_half_a_frame_at_the_end_is_left_out(path):
    assert read(path, wav(RAMP + b"\x01")) == RAMP
    assert read(path, wav(RAMP[:6], channels=2)) == read(path, wav(RAMP[:4], channels=2))


def test_the_format_is_told_with_its_length(path):
    path.write_bytes(wav(bytes(44100 * 6), channels=2, rate=44100, bits=24))
    found = wav_format(path)
    assert (found.rate, found.channels, found.width, found.floating) == (44100, 2, 3, False)
    assert found.seconds == 1.0


def test_another_rate_is_resampled(path):
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    assert len(read(path, wav(bytes(44100 * 2), rate=44100))) == pytest.approx(32000, abs=4)
    assert len(read(path, wav(RAMP), rate=8000)) == pytest.approx(len(RAMP) / 2, abs=4)


def test_whether_a_file_can_be_read_is_settled_before_the_first_chunk(path, monkeypatch):
    path.write_bytes(wav(RAMP, rate=22050))
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(ConfigError, match="22050 Hz, expected 16000 Hz: resampling needs soxr"):
        read_wav(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "does not begin as a WAV file does"),
        (b"ID3\x04 an mp3 file", "does not begin as a WAV file does"),
        (wav(RAMP, tag=0x55), "its sound is MP3, not PCM"),
        (wav(RAMP, tag=7, bits=8), "its sound is µ-law, not PCM"),
        (wav(RAMP, tag=999), "of format 999, not PCM"),
        (wav(RAMP, rate=0), "are not PCM"),
        (wav(RAMP, channels=0), "are not PCM"),
        (b"RIFF\0\0\0\0WAVEdata\0\0\0\0", "its sound comes before its format"),
        (wav(RAMP)[:44], "cannot be read"),
        (b"RIFF\0\0\0\0WAVEfmt \x02\0\0\0\x01\0", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_heard_says_why_and_how_to_make_one_that_can(path, content, says):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        read_wav(path)
    assert "sound.wav" in str(caught.value)
    assert "ffmpeg -i FILE" in str(caught.value)


def test_a_missing_file_is_the_error_that_open_gives(path):
    with pytest.raises(FileNotFoundError):
        read_wav(path)


@settings(derandomize=True, max_examples=150)
@given(content=st.binary(max_size=80), cut=st.integers(0, 60))
def test_no_content_of_a_file_raises_anything_but_a_config_error(tmp_path_factory, content, cut):
    path = tmp_path_factory.getbasetemp() / "odd.wav"
    path.write_bytes(wav(RAMP[:40], channels=2)[:cut] + content)
    try:
        found = wav_format(path)
        if found.rate == 16000:
            assert all(len(chunk) % 2 == 0 for chunk in read_wav(path))
    except ConfigError:
        pass


@pytest.mark.skipif(not shutil.which("espeak-ng"), reason="espeak-ng is not installed")
def test_what_espeak_says_is_heard_from_a_file_and_from_a_pipe(tmp_path):
    pytest.importorskip("soxr", reason="espeak-ng speaks at 22050 Hz: resampling needs soxr (extra [voice])")
    subprocess.run(["espeak-ng", "-w", tmp_path / "file.wav", "What is the weather in Oslo?"], check=True)
    piped = subprocess.run(
        ["espeak-ng", "--stdout", "What is the weather in Oslo?"], check=True, stdout=-1
    ).stdout
    (tmp_path / "pipe.wav").write_bytes(piped)
    from_file, from_pipe = (b"".join(read_wav(tmp_path / name)) for name in ("file.wav", "pipe.wav"))
    assert 1.0 < len(from_file) / 32000 < 3.0
    assert max(array("h", from_file)) > 3000
    assert from_file == from_pipe


def test_a_file_that_is_read_halfway_leaves_nothing_open(path):
    path.write_bytes(wav(bytes(64000)))
    sound = read_wav(path)
    assert len(next(sound)) == 3200
    del sound  # a file left open would be a ResourceWarning, and those are errors here
