"""A conversation in a file, as it was heard: the caller left, the model right."""

from __future__ import annotations

import contextlib
import os
import struct
import wave
from array import array
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self, TypeAlias

from livetools.events import AudioChunk, Event, Interrupted
from livetools.log import get_logger
from livetools.session.listening.tap import listen
from livetools.session.running.clock import Clock, SystemClock

from .pcm import INPUT_RATE, OUTPUT_RATE, SAMPLE, Resampler, seconds_of

if TYPE_CHECKING:
    from livetools.session.session import Session

log = get_logger("livetools.audio")

Path: TypeAlias = str | os.PathLike[str]

#: What writing may raise: a disk that is full, four gigabytes.
UNWRITABLE = (OSError, ValueError, struct.error, wave.Error)
#: Seconds that are kept before they are written: what comes late still finds its place.
_SETTLED = 2.0
#: Seconds by which a chunk may be late and still follow the one before it: a jitter is not a silence.
_JITTER = 0.25


def record(session: Session, path: Path, *, clock: Clock | None = None) -> Recorder:
    """Record ``session`` from now on: a stereo WAV of 24 kHz at ``path``, the caller left, the model right.

    The recording has the timing of the conversation: the caller's audio when it was sent, the model's when it plays,
    cut off where it was interrupted. The transcript is written beside it as ``.jsonl``: one content per line, with the
    function calls.

    It ends with the session, or earlier: ``with record(...):``, ``async with record(...):``, ``recorder.close()``. The
    file can be read at any time. If it can no longer be written (a full disk), that is logged, and the conversation
    goes on. Raises ``ConfigError`` without soxr, which input at other rates than 24 kHz needs, and ``OSError`` as
    ``open`` does.

    ::

        async with connect(MODEL) as session:
            with record(session, "call.wav"):
                await talk(session, microphone, speaker)
    """
    return Recorder(session, path, clock or SystemClock())


class Recorder:
    """A recording under way."""

    def __init__(self, session: Session, path: Path, clock: Clock) -> None:
        self._session, self._path, self._clock = session, os.fspath(path), clock
        self._raw = open(self._path, "wb")  # noqa: SIM115  # _end closes it
        self._file: wave.Wave_write | None = _stereo(self._raw)
        self._began = clock.now()
        self._written = 0  # samples of each side
        self._caller, self._model = _Side(), _Side()
        Resampler(INPUT_RATE, OUTPUT_RATE)  # raises now if it is missing, and not into the conversation
        self._stop = listen(session, self._event, self._sound, self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the recording: what is still to be played is written too, and the transcript. Idempotent."""
        if self._file is None:
            return
        try:
            self._write(self._file, max(self._caller.finish(), self._model.finish()))
            self._session.transcript.to_jsonl(os.path.splitext(self._path)[0] + ".jsonl")
        except UNWRITABLE as error:
            log.error("the recording %s could not be ended: %s", self._path, error)
        self._end()

    def _end(self) -> None:
        file, self._file = self._file, None
        self._stop()
        for closing in (file, self._raw):
            with contextlib.suppress(*UNWRITABLE):
                if closing is not None:
                    closing.close()

    def _sound(self, pcm: bytes, rate: int) -> None:
        """The caller's: it was spoken just before it is sent."""
        now = self._now()
        begins = now - seconds_of(pcm, rate)
        self._caller.put(pcm, rate, begins if begins > self._caller.until + _JITTER else self._caller.until)
        self._settle(now)

    def _event(self, event: Event) -> None:
        now = self._now()
        if isinstance(event, AudioChunk):
            self._model.put(event.data, event.rate, max(now, self._model.until))
        elif isinstance(event, Interrupted):
            self._model.cut(now)
        self._settle(now)

    def _now(self) -> float:
        return self._clock.now() - self._began

    def _settle(self, now: float) -> None:
        until = round((now - _SETTLED) * OUTPUT_RATE)
        if self._file is None or until < self._written + OUTPUT_RATE // 10:
            return
        try:
            self._write(self._file, until)
        except UNWRITABLE as error:
            log.error("the recording %s ends here: %s", self._path, error)
            self._end()

    def _write(self, file: wave.Wave_write, until: int) -> None:
        """Write both sides up to this sample."""
        count = until - self._written
        if count <= 0:
            return
        both = array("h", bytes(2 * SAMPLE * count))
        both[0::2], both[1::2] = self._caller.take(count), self._model.take(count)
        file.writeframes(both.tobytes())
        self._written = until


class _Side:
    """One side of the conversation: what is not written yet. Times are seconds since the beginning."""

    def __init__(self) -> None:
        self.until = 0.0  # the end of what was put
        self._begin = 0  # the sample that the first one of the sound is
        self._sound = bytearray()
        self._resample: Resampler | None = None

    def put(self, pcm: bytes, rate: int, at: float) -> None:
        """Sound that is heard from ``at`` on."""
        if at > self.until or self._resample is None or self._resample.source != rate:
            self._flush()
            gap = round(at * OUTPUT_RATE) - self._begin - len(self._sound) // SAMPLE
            self._sound += bytes(max(0, gap) * SAMPLE)
            self._resample = Resampler(rate, OUTPUT_RATE)
        self._sound += self._resample(pcm)
        self.until = at + seconds_of(pcm, rate)

    def cut(self, at: float) -> None:
        """Nothing that plays after ``at`` is heard."""
        if at >= self.until:
            return
        self._flush()
        kept = max(0, round(at * OUTPUT_RATE) - self._begin)
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


def _stereo(raw: BinaryIO) -> wave.Wave_write:
    file = wave.open(raw, "wb")  # noqa: SIM115  # _end closes it
    file.setnchannels(2)
    file.setsampwidth(SAMPLE)
    file.setframerate(OUTPUT_RATE)
    return file
