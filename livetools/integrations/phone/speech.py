"""The model's speech for a caller: resampled, encoded, marked, and dropped when the model is cut off."""

from __future__ import annotations

from collections.abc import Iterator

from livetools.audio.pcm import Resampler
from livetools.session.running.clock import Clock

from .codec import Codec
from .provider import Start

RATE = 8000  # Hz of telephones

#: Bytes of 20 ms of G.711, the least that Telnyx plays.
_LEAST = RATE // 50
#: Bytes of 10 s; Telnyx takes 30 s at most.
_MOST = RATE * 10


class Speech:
    """Makes the frames of one call's speech. Behind each piece goes a mark, which tells that it was heard."""

    def __init__(self, start: Start, clock: Clock) -> None:
        self.heard = 0.0  # seconds of speech that were played to the caller
        self.plays_until = clock.now()  # by the clock, if the line is as fast as its sound
        self._start, self._clock = start, clock
        self._codec: Codec = start.codec
        self._resampler: Resampler | None = None
        self._rest = b""  # less than can be played by itself
        self._marks: dict[str, float] = {}  # not back yet: the seconds of sound before each
        self._number = 0

    @property
    def waiting(self) -> bool:
        """Whether something was sent that has not been heard yet."""
        return bool(self._marks)

    def say(self, pcm: bytes, rate: int) -> Iterator[str]:
        """The frames of a piece of speech, 16-bit mono PCM of ``rate`` Hz."""
        if self._resampler is None or self._resampler.source != rate:
            yield from self.pause()
            self._resampler = Resampler(rate, RATE, prompt=True)
        self._rest += self._codec.encode(self._resampler(pcm))
        if len(self._rest) >= _LEAST:
            yield from self._frames()

    def pause(self) -> Iterator[str]:
        """The frames of what was held back: nothing follows for now."""
        if self._resampler is not None:
            self._rest += self._codec.encode(self._resampler(b"", last=True))
            self._resampler = None
        if self._rest:
            yield from self._frames()

    def cut(self) -> str:
        """The frame that silences the line. What was not heard by now will not be."""
        self._resampler, self._rest = None, b""
        self._marks.clear()
        self.plays_until = self._clock.now()
        return self._start.clear()

    def played(self, mark: str) -> None:
        """This mark came back. One from before an interruption counts for nothing: its sound was thrown away."""
        self.heard += self._marks.pop(mark, 0.0)

    def _frames(self) -> Iterator[str]:
        sound, self._rest = self._rest.ljust(_LEAST, self._codec.silence), b""
        for at in range(0, len(sound), _MOST):
            piece = sound[at : at + _MOST]
            self._number += 1
            name = f"livetools-{self._number}"
            seconds = len(piece) / RATE
            self._marks[name] = seconds
            self.plays_until = max(self.plays_until, self._clock.now()) + seconds
            yield self._start.media(piece)
            yield self._start.mark(name)
