"""The model's speech for a caller: resampled, encoded, marked, and dropped when the model is cut off."""

from __future__ import annotations

from collections.abc import Iterator

from livetools.audio.pcm import Resampler
from livetools.integrations.telephony.providers.provider import Provider, RawMessage
from livetools.integrations.telephony.sound.call_recording import CallRecording
from livetools.integrations.telephony.sound.codec import Codec
from livetools.integrations.telephony.sound.tones import checked_keys, keypad
from livetools.session.running.clock import Clock

#: Seconds of the shortest message, which is the least that Telnyx plays, and of the longest: Telnyx takes 30 s at most.
_LEAST, _MOST = 0.02, 10.0
#: Seconds that a provider has to play more than the sound lasts, before we believe that it has.
_SLOW = 2.0


class ModelSpeech:
    """Makes the messages of everything that a caller hears. A mark follows each piece of speech: it tells that it was
    heard. The tones of keys have a mark too, the hold sound has none, and neither counts as heard."""

    def __init__(
        self, provider: Provider, codec: Codec, clock: Clock, recording: CallRecording | None = None
    ) -> None:
        self.plays_until = clock.now()  # by the clock, if the line is as fast as its sound
        self._provider, self._codec, self._clock, self._recording = provider, codec, clock, recording
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
        """When all will have been heard, by the clock. With marks to come, a provider has ``_SLOW`` more seconds."""
        return self.plays_until + (_SLOW if self._marks else 0.0)

    def say(self, pcm: bytes, rate: int) -> Iterator[RawMessage]:
        """The messages of a piece of speech, 16-bit mono PCM of ``rate`` Hz."""
        if self._resampler is None or self._resampler.source != rate:
            yield from self.pause()
            self._resampler = Resampler(rate, self._rate, prompt=True)
        self._rest += self._codec.encode(self._resampler(pcm))
        yield from self._messages(whole=False)

    def pause(self) -> Iterator[RawMessage]:
        """The messages of what was held back: nothing follows for now."""
        if self._resampler is not None:
            self._rest += self._codec.encode(self._resampler(b"", last=True))
            self._resampler = None
        yield from self._messages(whole=True)

    def cut(self) -> RawMessage | None:
        """The message that silences the line; what was not heard by now will not be. ``None``: it plays on."""
        self._resampler, self._rest = None, b""
        left = self._to_play()
        message = self.drop()
        if message is not None:
            self._marks.clear()
            self._unmarked -= min(self._unmarked, left)
        return message

    def press(self, keys: str) -> Iterator[RawMessage]:
        """The messages that press keys at the other end, behind what was said: the provider's own, or the tones."""
        checked_keys(keys)
        yield from self.pause()
        message = self._provider.keys(keys)
        if message is not None:
            yield message
            return
        yield from self._send(self._filled(self._codec.encode(keypad(keys, self._rate))))
        yield from self._mark(0.0)

    def hold(self, sound: bytes) -> Iterator[RawMessage]:
        """The messages of a piece of the sound for one who waits, in the encoding of the line."""
        if not self._to_play():
            self._heard, self._unmarked = self.heard, 0.0
        yield from self.pause()
        yield from self._send(self._filled(sound))

    def drop(self) -> RawMessage | None:
        """The message that drops the sound for one who waits, all of whose speech was heard. ``None``: it plays on."""
        message = self._provider.clear()
        if message is not None:
            self.plays_until = self._clock.now()
            if self._recording is not None:
                self._recording.cut()
        return message

    def played(self, mark: str) -> None:
        """This mark came back. A mark from before an interruption is ignored: its sound was dropped."""
        self._heard += self._marks.pop(mark, 0.0)

    def _to_play(self) -> float:
        """Seconds that are still to be heard, by the clock."""
        return max(0.0, self.plays_until - self._clock.now())

    def bytes_of(self, seconds: float) -> int:
        """The bytes of so many seconds on the line."""
        return round(seconds * self._rate) * self._codec.width

    def _messages(self, whole: bool) -> Iterator[RawMessage]:
        """What can be played by now. ``whole``: all of it, filled up with silence to what the provider takes."""
        one, exact = self.bytes_of(self._provider.chunk or _LEAST), self._provider.chunk is not None
        if whole and self._rest and (exact or len(self._rest) < one):
            self._rest = self._filled(self._rest)
        step = one if exact else self._codec.width
        size = len(self._rest) // step * step if len(self._rest) >= one else 0
        sound, self._rest = self._rest[:size], self._rest[size:]
        most = self.bytes_of(_MOST) // step * step
        for at in range(0, len(sound), most):
            piece = sound[at : at + most]
            yield from self._send(piece)
            yield from self._mark(len(piece) / self._codec.width / self._rate)

    def _filled(self, sound: bytes) -> bytes:
        """The sound, with silence behind it up to what the provider takes."""
        one = self.bytes_of(self._provider.chunk or _LEAST)
        return sound + self._codec.silence * (-len(sound) % one // self._codec.width)

    def _send(self, sound: bytes) -> Iterator[RawMessage]:
        """The messages that play this behind what was sent before."""
        begins = max(self.plays_until, self._clock.now())
        self.plays_until = begins + len(sound) / self._codec.width / self._rate
        if self._recording is not None:
            self._recording.agent(self._codec.decode(sound), begins)
        size = self.bytes_of(_MOST if self._provider.chunk is None else self._provider.chunk)
        for at in range(0, len(sound), size):
            if (message := self._provider.media(sound[at : at + size])) is not None:
                yield message

    def _mark(self, seconds: float) -> Iterator[RawMessage]:
        """The mark behind so many seconds of speech."""
        self._number += 1
        name = f"livetools-{self._number}"
        mark = self._provider.mark(name)
        if mark is None:
            self._unmarked += seconds
        else:
            self._marks[name] = seconds
            yield mark
