"""Speech that waits to be heard, and that an interruption throws away.

The model speaks faster than anybody can listen: a reply of a minute arrives within seconds. So there is always
speech that was received and not heard yet, and when the user cuts in, that is what must go, at once.
"""

from __future__ import annotations

import threading
from typing import Protocol

from livetools.session.running.clock import Clock, SystemClock

from .pcm import OUTPUT_RATE, SAMPLE, Resampler, bytes_of


class Output(Protocol):
    """Where speech goes: :class:`~livetools.audio.Speaker`, :class:`~livetools.audio.FileSpeaker`, yours."""

    def write(self, pcm: bytes, rate: int = OUTPUT_RATE) -> None:
        """Play 16-bit mono PCM of ``rate`` Hz after what was written before. Never waits."""

    def flush(self) -> float:
        """Throw away what is not played yet: the seconds of it."""

    async def drained(self) -> None:
        """Wait until everything has been heard. Cancelling loses nothing."""


class Playback:
    """The queue between who receives speech (``write``, ``flush``) and who plays it (``take``).

    ``rate`` is what ``take`` gives, in Hz; writes of another rate are resampled (soxr). It holds ``limit``
    seconds at most: past that the oldest go, counted in ``dropped``. ``write``, ``flush`` and ``drained``
    belong to one thread, ``take`` to any other, such as a sound card's.

    ::

        playback = Playback()
        playback.write(silence(1.0, OUTPUT_RATE))
        print(len(playback.take(12_000)), "bytes are played,", playback.flush(), "seconds thrown away")
    """

    def __init__(self, rate: int = OUTPUT_RATE, *, limit: float = 600.0, clock: Clock | None = None) -> None:
        self.rate = rate
        self.dropped = 0.0  # seconds that went past the limit
        self._limit = bytes_of(limit, rate)
        self._clock = clock or SystemClock()
        self._waiting = bytearray()
        self._taken = 0  # bytes
        self._resampler: Resampler | None = None
        self._lock = threading.Lock()

    @property
    def waiting(self) -> float:
        """Seconds that were written and are not played yet."""
        return len(self._waiting) // SAMPLE / self.rate

    @property
    def played(self) -> float:
        """Seconds that were played: what the user can have heard."""
        return self._taken / SAMPLE / self.rate

    def write(self, pcm: bytes, rate: int | None = None) -> None:
        """Append 16-bit mono PCM of ``rate`` Hz (default: the playback's own).

        A chunk may be cut in the middle of a sample, so long as the next one brings the rest.
        """
        pcm = self._at_own_rate(pcm, rate or self.rate)
        with self._lock:
            self._waiting += pcm
            excess = len(self._waiting) - self._limit
            if excess > 0:
                excess += excess % SAMPLE
                del self._waiting[:excess]
                self.dropped += excess / SAMPLE / self.rate

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes, or what there is: nothing is made up. In whole samples."""
        with self._lock:
            size = min(size, len(self._waiting))
            size -= size % SAMPLE
            pcm = bytes(self._waiting[:size])
            del self._waiting[:size]
            self._taken += size
        return pcm

    def flush(self) -> float:
        """Drop the audio that waits. Returns its length in seconds. Audio that was taken can no longer be dropped."""
        self._resampler = None  # it holds the last milliseconds of what is thrown away
        with self._lock:
            thrown = self.waiting
            self._waiting.clear()
        return thrown

    async def drained(self) -> None:
        """Wait until everything has been taken (without end, if nobody takes it). Cancelling loses nothing."""
        self.finish()
        while waiting := self.waiting:
            await self._clock.sleep_until(self._clock.now() + waiting)

    def finish(self) -> None:
        """Nothing follows for now: the last milliseconds, which resampling holds back, are to be played too."""
        if self._resampler is not None:
            rest, self._resampler = self._resampler(b"", last=True), None
            self.write(rest)

    def _at_own_rate(self, pcm: bytes, rate: int) -> bytes:
        if rate == self.rate:
            return pcm
        if self._resampler is None or self._resampler.source != rate:
            self._resampler = Resampler(rate, self.rate, prompt=True)
        return self._resampler(pcm)
