"""Two sides of a conversation in one stereo WAV, each with the silences between what was said."""

from __future__ import annotations

import contextlib
import os
import struct
import wave
from array import array
from typing import BinaryIO

from livetools.log import get_logger
from livetools.session.running.clock import Clock

from .pcm import SAMPLE, Resampler, seconds_of
from .wav import StrPath

log = get_logger("livetools.audio")


#: What writing may raise: a disk that is full, four gigabytes.
UNWRITABLE = (OSError, ValueError, struct.error, wave.Error)
#: Seconds that are kept before they are written: what comes late still finds its place.
_SETTLED = 2.0


class StereoFile:
    """A stereo WAV under way: ``left`` and ``right`` take sound, ``settle`` writes what will not change any more.

    The file can be read at any time. If it can no longer be written, that is logged, and later sound is ignored. Raises
    ``OSError`` as ``open`` does.
    """

    def __init__(self, path: StrPath, rate: int, clock: Clock) -> None:
        self.left, self.right = Side(rate), Side(rate)
        self._path, self._rate, self._clock = os.fspath(path), rate, clock
        self._raw = open(self._path, "wb")  # noqa: SIM115  # _end closes it
        self._file: wave.Wave_write | None = _stereo(self._raw, rate)
        self._began = clock.now()
        self._written = 0  # samples of each side

    @property
    def is_open(self) -> bool:
        """Whether sound is still written."""
        return self._file is not None

    def now(self) -> float:
        """Seconds since it began."""
        return self._clock.now() - self._began

    def settle(self) -> None:
        """Write what has been heard for a while, a tenth of a second or more."""
        until = round((self.now() - _SETTLED) * self._rate)
        if self._file is None or until < self._written + self._rate // 10:
            return
        try:
            self._write(self._file, until)
        except UNWRITABLE as error:
            log.error("the recording %s ends here: %s", self._path, error)
            self._end()

    def close(self) -> None:
        """Write the rest, what is still to be played too. Idempotent."""
        if self._file is None:
            return
        try:
            self._write(self._file, max(self.left.finish(), self.right.finish()))
        except UNWRITABLE as error:
            log.error("the recording %s could not be ended: %s", self._path, error)
        self._end()

    def _end(self) -> None:
        file, self._file = self._file, None
        for closing in (file, self._raw):
            with contextlib.suppress(*UNWRITABLE):
                if closing is not None:
                    closing.close()

    def _write(self, file: wave.Wave_write, until: int) -> None:
        """Write both sides up to this sample."""
        count = until - self._written
        if count <= 0:
            return
        both = array("h", bytes(2 * SAMPLE * count))
        both[0::2], both[1::2] = self.left.take(count), self.right.take(count)
        file.writeframes(both.tobytes())
        self._written = until


class Side:
    """One side of the conversation: what is not written yet. Times are seconds since the beginning."""

    def __init__(self, rate: int) -> None:
        self.until = 0.0  # the end of what was put
        self._rate = rate
        self._begin = 0  # the sample that the first one of the sound is
        self._sound = bytearray()
        self._resample: Resampler | None = None

    def put(self, pcm: bytes, rate: int, at: float) -> None:
        """Sound that plays from ``at`` on."""
        if at > self.until or self._resample is None or self._resample.source != rate:
            self._flush()
            gap = round(at * self._rate) - self._begin - len(self._sound) // SAMPLE
            self._sound += bytes(max(0, gap) * SAMPLE)
            self._resample = Resampler(rate, self._rate)
        self._sound += self._resample(pcm)
        self.until = at + seconds_of(pcm, rate)

    def cut(self, at: float) -> None:
        """Cut off what would play after ``at``."""
        if at >= self.until:
            return
        self._flush()
        kept = max(0, round(at * self._rate) - self._begin)
        del self._sound[kept * SAMPLE :]
        self.until = at

    def take(self, count: int) -> array[int]:
        """The next ``count`` samples, with silence where nothing was said."""
        size = count * SAMPLE
        taken = bytes(self._sound[:size]).ljust(size, b"\0")
        del self._sound[:size]
        self._begin += count
        return array("h", taken)

    def finish(self) -> int:
        """The sample behind the last one."""
        self._flush()
        return self._begin + len(self._sound) // SAMPLE

    def _flush(self) -> None:
        if self._resample is not None:
            self._sound += self._resample(b"", last=True)
            self._resample = None
        self._sound = self._sound[: len(self._sound) - len(self._sound) % SAMPLE]


def _stereo(raw: BinaryIO, rate: int) -> wave.Wave_write:
    file = wave.open(raw, "wb")  # noqa: SIM115  # _end closes it
    file.setnchannels(2)
    file.setsampwidth(SAMPLE)
    file.setframerate(rate)
    return file
