"""WAV files in, as the Live API wants to hear them, and out.

The reader is our own because ``wave`` of Python 3.11 knows neither ``WAVE_FORMAT_EXTENSIBLE`` (what ffmpeg and
sox write for 24 bits) nor floats, and because what comes through a pipe has a length of 0 or 0xFFFFFFFF in its
header. The writer is ``wave``.
"""

from __future__ import annotations

import io
import os
import struct
import wave
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from livetools.errors import ConfigError

from .pcm import INPUT_RATE, OUTPUT_RATE, SAMPLE, Resampler, bytes_of, chunks

StrPath: TypeAlias = str | os.PathLike[str]

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_NAMES = {2: "ADPCM", 6: "A-law", 7: "µ-law", 0x11: "IMA ADPCM", 0x50: "MPEG", 0x55: "MP3"}
_SIGNED = bytes(value ^ 0x80 for value in range(256))  # 8-bit WAV is unsigned, every other width is signed
_BLOCK = 0.1  # seconds read at a time


@dataclass(frozen=True, slots=True)
class WavFormat:
    """What a WAV file holds: ``width`` bytes a sample, its sound ``size`` bytes from ``offset`` on."""

    rate: int
    channels: int
    width: int
    floating: bool
    offset: int
    size: int

    @property
    def seconds(self) -> float:
        """How long it sounds."""
        return self.size / (self.rate * self.channels * self.width)


def wav_format(path: StrPath | bytes) -> WavFormat:
    """The format of a file, or of the bytes of one. Raises :class:`ConfigError` when it is not a WAV file or holds no
    PCM, and ``OSError``."""
    with _opened(path) as file:
        try:
            return _header(file, file.seek(0, os.SEEK_END))
        except (ValueError, struct.error) as error:
            name = "the sound" if isinstance(path, bytes) else os.fspath(path)
            raise ConfigError(
                f"{name} cannot be read: {error}. It should be a WAV file of plain PCM; "
                "ffmpeg -i FILE -ar 16000 -ac 1 out.wav makes one of nearly anything."
            ) from error


def read_wav(path: StrPath | bytes, *, rate: int = INPUT_RATE, seconds: float = 0.1) -> Iterator[bytes]:
    """A WAV file, or the bytes of one, as 16-bit mono PCM of ``rate`` Hz, in chunks of ``seconds`` (the last may be
    shorter).

    PCM of 8, 16, 24 and 32 bits and floats, any number of channels (their mean is taken), any rate
    (another one than ``rate`` needs soxr). The service advises chunks of 20 to 100 ms. The file is read as the
    chunks are taken; whether it can be is settled here.

    Raises :class:`ConfigError` when the file is not a PCM WAV, or soxr is missing; ``OSError`` as ``open`` does.

    ::

        write_wav(FOLDER / "question.wav", silence(0.25, INPUT_RATE), rate=INPUT_RATE)
        print([len(pcm) for pcm in read_wav(FOLDER / "question.wav")])  # [3200, 3200, 1600]
    """
    found = wav_format(path)
    resample = Resampler(found.rate, rate)
    return chunks(_pieces(path, found, resample), max(SAMPLE, bytes_of(seconds, rate)))


def write_wav(path: StrPath, pcm: bytes, *, rate: int = OUTPUT_RATE) -> None:
    """Write 16-bit mono PCM of ``rate`` Hz to a WAV file. Raises ``OSError`` as ``open`` does.

    ::

        write_wav(FOLDER / "pause.wav", silence(1.5, OUTPUT_RATE))
        print(wav_format(FOLDER / "pause.wav").seconds)  # 1.5
    """
    with open_wav(path, rate) as file:
        file.writeframes(pcm)


def open_wav(path: StrPath, rate: int) -> wave.Wave_write:
    """A WAV file to write 16-bit mono frames to."""
    file = wave.open(os.fspath(path), "wb")  # noqa: SIM115 - the caller's to close
    file.setnchannels(1)
    file.setsampwidth(SAMPLE)
    file.setframerate(rate)
    return file


def _opened(path: StrPath | bytes) -> BinaryIO:
    return io.BytesIO(path) if isinstance(path, bytes) else open(path, "rb")


def _header(file: BinaryIO, total: int) -> WavFormat:
    file.seek(0)
    magic = file.read(12)
    if magic[:4] not in (b"RIFF", b"RF64") or magic[8:] != b"WAVE":
        raise ValueError("it does not begin as a WAV file does")
    form: tuple[int, int, int, bool] | None = None
    while len(head := file.read(8)) == 8:
        kind, size = struct.unpack("<4sI", head)
        if kind == b"data":
            if form is None:
                raise ValueError("its sound comes before its format")
            left = total - file.tell()
            # A length of 0 was never filled in, one beyond the end is a pipe's: the sound ends with the file.
            return WavFormat(*form, file.tell(), min(size, left) if size else left)
        body = file.read(size + size % 2)
        if kind == b"fmt ":
            form = _form(body)
    raise ValueError("it holds no sound")


def _form(body: bytes) -> tuple[int, int, int, bool]:
    """Rate, channels, bytes a sample, floating."""
    tag, channels, rate, _, align, _ = struct.unpack("<HHIIHH", body[:16])
    if tag == _EXTENSIBLE:
        (tag,) = struct.unpack("<H", body[24:26])
    if tag not in (_PCM, _FLOAT):
        raise ValueError(f"its sound is {_NAMES.get(tag, f'of format {tag}')}, not PCM")
    width = align // channels if channels else 0
    if not rate or width not in ((4, 8) if tag == _FLOAT else (1, 2, 3, 4)):
        raise ValueError(f"{channels} channels of {width} bytes at {rate} Hz are not PCM that can be read")
    return rate, channels, width, tag == _FLOAT


def _pieces(path: StrPath | bytes, form: WavFormat, resample: Resampler) -> Iterator[bytes]:
    frame = form.channels * form.width
    left = form.size - form.size % frame
    with _opened(path) as file:
        file.seek(form.offset)
        while block := file.read(min(left, max(1, int(form.rate * _BLOCK)) * frame)):
            left -= len(block)
            yield resample(
                _mono(_sixteen_bits(block[: len(block) - len(block) % frame], form), form.channels)
            )
    yield resample(b"", last=True)


def _sixteen_bits(raw: bytes, form: WavFormat) -> array[int]:
    """Samples of any width as 16-bit ones; the low bits are cut off."""
    if form.floating:
        floats = array("f" if form.width == 4 else "d", raw)
        return array("h", (int(max(-1.0, min(1.0, value)) * 32767) for value in floats))
    if form.width == SAMPLE:
        return array("h", raw)
    samples = bytearray(len(raw) // form.width * SAMPLE)
    if form.width == 1:
        samples[1::2] = raw.translate(_SIGNED)
    else:
        samples[0::2] = raw[form.width - 2 :: form.width]
        samples[1::2] = raw[form.width - 1 :: form.width]
    return array("h", bytes(samples))


def _mono(samples: array[int], channels: int) -> bytes:
    if channels == 1:
        return samples.tobytes()
    lanes = [samples[lane::channels] for lane in range(channels)]
    return array("h", (sum(frame) // channels for frame in zip(*lanes, strict=True))).tobytes()
