"""A conversation in a file, as it was heard: the caller left, the model right."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Self

from livetools.events import AudioChunk, Event, Interrupted
from livetools.log import get_logger
from livetools.session.listening.frame_tap import listen
from livetools.session.running.clock import Clock, SystemClock

from .pcm import INPUT_RATE, OUTPUT_RATE, Resampler, seconds_of
from .stereo_wav import UNWRITABLE, StereoFile
from .wav import StrPath

if TYPE_CHECKING:
    from livetools.session.session import Session

log = get_logger("livetools.audio")

#: Seconds by which a chunk may be late and still follow the one before it: a jitter is not a silence.
_JITTER = 0.25


def record(session: Session, path: StrPath, *, clock: Clock | None = None) -> Recorder:
    """Record ``session`` from now on: a stereo WAV of 24 kHz at ``path``, the caller left, the model right.

    The recording has the timing of the conversation: the caller's audio when it was sent, the model's when it plays,
    cut off where it was interrupted. The transcript is written beside it as ``.jsonl``: one content per line, with the
    function calls.

    It ends with the session, or earlier: ``with record(...):``, ``async with record(...):``, ``recorder.close()``. The
    file can be read at any time. If it can no longer be written (a full disk), that is logged, and the conversation
    continues. Raises ``ConfigError`` without soxr, which input at other rates than 24 kHz needs, and ``OSError`` as
    ``open`` does.

    ::

        async with connect(MODEL) as session:
            with record(session, "call.wav"):
                await talk(session, microphone, speaker)
    """
    return Recorder(session, path, clock or SystemClock())


class Recorder:
    """A recording under way."""

    def __init__(self, session: Session, path: StrPath, clock: Clock) -> None:
        self._session, self._path = session, os.fspath(path)
        self._file = StereoFile(path, OUTPUT_RATE, clock)
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
        if not self._file.is_open:
            return
        self._file.close()
        try:
            self._session.transcript.to_jsonl(os.path.splitext(self._path)[0] + ".jsonl")
        except UNWRITABLE as error:
            log.error("the transcript of the recording %s could not be written: %s", self._path, error)
        self._stop()

    def _sound(self, pcm: bytes, rate: int) -> None:
        """The caller's: it was spoken just before it is sent."""
        caller, begins = self._file.left, self._file.now() - seconds_of(pcm, rate)
        caller.put(pcm, rate, begins if begins > caller.until + _JITTER else caller.until)
        self._settle()

    def _event(self, event: Event) -> None:
        now, model = self._file.now(), self._file.right
        if isinstance(event, AudioChunk):
            model.put(event.data, event.rate, max(now, model.until))
        elif isinstance(event, Interrupted):
            model.cut(now)
        self._settle()

    def _settle(self) -> None:
        self._file.settle()
        if not self._file.is_open:
            self._stop()
