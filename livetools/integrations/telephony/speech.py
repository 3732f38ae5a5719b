"""The model's speech for a caller: resampled, encoded, marked, and dropped when the model is cut off."""

from __future__ import annotations

from collections.abc import Iterator

from livetools.audio.pcm import Resampler
from livetools.session.running.clock import Clock

from .codec import Codec
from .contract import Message, Provider

#: Seconds of the shortest message, which is the least that Telnyx plays, and of the longest: Telnyx takes 30 s at most.
_LEAST, _MOST = 0.02, 10.0
#: Seconds that a provider has to play more than the sound lasts, before we believe that it has.
SLOW = 2.0


class Speech:
    """Makes the messages of one call's speech. Behind each piece goes a mark, which tells that it was heard."""

    def __init__(self, provider: Provider, codec: Codec, clock: Clock) -> None:
        self.plays_until = clock.now()  # by the clock, if the line is as fast as its sound
        self._provider, self._codec, self._clock = provider, codec, clock
        self._rate = provider.rate
        self._resampler: Resampler | None = None
        self._rest = b""  # less than can be played by itself
        self._marks: dict[str, float] = {}  # not back yet: the seconds of sound before each
        self._number = 0
        self._heard = 0.0  # seconds whose marks came back
        self._unmarked = 0.0  # seconds that were sent without a mark

    @property
    def heard(self) -> float:
        """Seconds of speech that were played to the caller: by the marks, or, where there are none, by the clock."""
        return self._heard + max(0.0, self._unmarked - self._to_play())

    @property
    def waiting(self) -> bool:
        """Whether something was sent that has not been heard yet."""
        return bool(self._marks) or (self._unmarked > 0 and self._to_play() > 0)

    @property
    def heard_by(self) -> float:
        """When all will have been heard, by the clock. With marks to come, a provider has ``SLOW`` more seconds."""
        return self.plays_until + (SLOW if self._marks else 0.0)

    def say(self, pcm: bytes, rate: int) -> Iterator[Message]:
        """The messages of a piece of speech, 16-bit mono PCM of ``rate`` Hz."""
        if self._resampler is None or self._resampler.source != rate:
            yield from self.pause()
            self._resampler = Resampler(rate, self._rate, prompt=True)
        self._rest += self._codec.encode(self._resampler(pcm))
        yield from self._messages(whole=False)

    def pause(self) -> Iterator[Message]:
        """The messages of what was held back: nothing follows for now."""
        if self._resampler is not None:
            self._rest += self._codec.encode(self._resampler(b"", last=True))
            self._resampler = None
        yield from self._messages(whole=True)

    def cut(self) -> Message | None:
        """The message that silences the line; what was not heard by now will not be. ``None``: it plays on."""
        self._resampler, self._rest = None, b""
        message = self._provider.clear()
        if message is not None:
            self._marks.clear()
            self._unmarked -= min(self._unmarked, self._to_play())
            self.plays_until = self._clock.now()
        return message

    def played(self, mark: str) -> None:
        """This mark came back. One from before an interruption counts for nothing: its sound was thrown away."""
        self._heard += self._marks.pop(mark, 0.0)

    def _to_play(self) -> float:
        """Seconds that are still to be heard, by the clock."""
        return max(0.0, self.plays_until - self._clock.now())

    def _bytes(self, seconds: float) -> int:
        return round(seconds * self._rate) * self._codec.width

    def _messages(self, whole: bool) -> Iterator[Message]:
        """What can be played by now. ``whole``: all of it, filled up with silence to what the provider takes."""
        one, exact = self._bytes(self._provider.chunk or _LEAST), self._provider.chunk is not None
        if whole and self._rest and (exact or len(self._rest) < one):
            self._rest += self._codec.silence * (-len(self._rest) % one // self._codec.width)
        step = one if exact else self._codec.width
        size = len(self._rest) // step * step if len(self._rest) >= one else 0
        sound, self._rest = self._rest[:size], self._rest[size:]
        most = self._bytes(_MOST) // step * step
        for at in range(0, len(sound), most):
            yield from self._piece(sound[at : at + most], one if exact else most)

    def _piece(self, sound: bytes, size: int) -> Iterator[Message]:
        """Messages of so many bytes each, and a mark behind them."""
        seconds = len(sound) / self._codec.width / self._rate
        self.plays_until = max(self.plays_until, self._clock.now()) + seconds
        for at in range(0, len(sound), size):
            if (message := self._provider.media(sound[at : at + size])) is not None:
                yield message
        self._number += 1
        name = f"livetools-{self._number}"
        mark = self._provider.mark(name)
        if mark is None:
            self._unmarked += seconds
        else:
            self._marks[name] = seconds
            yield mark
