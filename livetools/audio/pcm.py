"""The format of sound in this package: 16-bit little-endian mono PCM, in bytes, at a rate in Hz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from livetools.errors import ConfigError
from livetools.protocol.input.audio_format import SAMPLE as SAMPLE
from livetools.protocol.input.audio_format import Samples
from livetools.setup.install_hints import install

from .whole_ratio_resampler import WholeRatio

if TYPE_CHECKING:
    import soxr

INPUT_RATE = 16000  # Hz: what the Live API hears natively
OUTPUT_RATE = 24000  # Hz: what it speaks


def seconds_of(pcm: bytes, rate: int) -> float:
    """How long ``pcm`` sounds."""
    return len(pcm) / SAMPLE / rate


def bytes_of(seconds: float, rate: int) -> int:
    """The bytes of that many seconds, in whole samples."""
    return int(seconds * rate) * SAMPLE


def silence(seconds: float, rate: int = INPUT_RATE) -> bytes:
    """Zeros that last ``seconds``."""
    return bytes(bytes_of(seconds, rate))


def chunks(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in chunks of ``size``; the last one may be shorter."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        while len(waiting) >= size:
            yield bytes(waiting[:size])
            del waiting[:size]
    if waiting:
        yield bytes(waiting)


class Resampler:
    """PCM from one rate to another, piece by piece, without a seam between the pieces.

    Pieces may be cut in the middle of a sample. With two equal rates it hands on what it gets; otherwise it
    needs soxr, and raises :class:`ConfigError` without it.

    ``prompt``: for live sound. Where one rate is a multiple of the other, a sample comes out two milliseconds after it
    went in; soxr holds some back for 30 to 120 ms.
    """

    def __init__(self, source: int, target: int, *, prompt: bool = False) -> None:
        self.source = source
        self._samples = Samples()
        self._stream = None if source == target else _soxr(source, target)
        multiple = max(source, target) % min(source, target) == 0
        self._prompt = (
            WholeRatio(source, target) if self._stream is not None and prompt and multiple else None
        )

    def __call__(self, pcm: bytes, *, last: bool = False) -> bytes:
        """What can be said of ``pcm`` by now; with ``last`` the rest as well, and nothing may follow."""
        if self._stream is None:
            return pcm
        import numpy

        samples = numpy.frombuffer(self._samples.whole(pcm), dtype=numpy.dtype("<i2"))
        if self._prompt is not None:
            return bytes(self._prompt(samples, last).tobytes())
        return bytes(self._stream.resample_chunk(samples, last=last).tobytes())


def _soxr(source: int, target: int) -> soxr.ResampleStream:
    try:
        import soxr
    except ImportError as error:
        raise ConfigError(
            f"Sound of {source} Hz, expected {target} Hz: resampling needs soxr. "
            f"Install it ({install('voice')}, or the extra telephony), or bring sound of {target} Hz."
        ) from error
    return soxr.ResampleStream(source, target, 1, dtype="int16")
