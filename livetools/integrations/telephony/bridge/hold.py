"""A sound for a caller who waits: it plays while a tool runs, until the model answers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache, partial
from math import inf
from typing import TypeAlias

from livetools.audio.wav import StrPath, read_wav
from livetools.errors import ConfigError
from livetools.events import (
    AudioChunk,
    Event,
    Interrupted,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    TurnComplete,
)
from livetools.integrations.telephony.providers.provider import RawMessage
from livetools.integrations.telephony.sound.codec import Codec
from livetools.integrations.telephony.sound.tones import hold_sound as made
from livetools.session.running.clock import Clock
from livetools.transport.loop.race import race
from livetools.transport.loop.wake import make_wake

from .model_speech import ModelSpeech

#: Seconds of silence, from the beginning of a call on, after which the sound begins.
_PATIENCE = 1.5
#: Seconds that it continues after the last tool has answered, if the model says nothing.
_AFTER = 5.0
#: Seconds of a piece, and how long before its end the next one is sent: little is lost when the model answers.
_PIECE, _AHEAD = 0.2, 0.2


class Hold:
    """Begins when a call has been open for ``_PATIENCE`` seconds and nothing was said meanwhile, and ends when the
    model speaks, or is interrupted. A model that speaks while the tool runs, and is silent again, is followed by the
    sound too; after the end of that turn it is not, because the conversation continues beside the tool."""

    def __init__(self, sound: bytes, speech: ModelSpeech, clock: Clock) -> None:
        self._sound, self._speech, self._clock = sound, speech, clock
        self._at = 0  # bytes of the sound that were played
        self._open: set[str] = set()  # calls
        self._said = False  # the model spoke since the last call began
        self._due = inf  # when the sound begins, or continues
        self._ends = inf
        self._playing = False
        self._changed = make_wake()

    def take(self, event: Event) -> Iterator[RawMessage | None]:
        """What an event means for the sound; the messages that silence it where it ends."""
        match event:
            case ToolStarted(call):
                self._open.add(call.id)
                self._said = False
                if not self._playing:
                    self._begin_in(_PATIENCE)
                self._ends = inf
            case ToolFinished(call) | ToolCancelled(call) | ToolLost(call):
                self._open.discard(call.id)
                if not self._open:
                    self._ends = self._clock.now() + _AFTER
                    self._due = self._due if self._playing else inf
            case AudioChunk():
                self._said = True
                yield from self._stop()
                if self._open:
                    self._begin_in(_PATIENCE)
            case TurnComplete() if self._said or not self._open:
                yield from self._stop()
            case Interrupted():
                yield from self._stop()

    async def play(self, write: Callable[[Iterator[RawMessage | None]], Awaitable[object]]) -> None:
        """Play it at its times, in pieces, through ``write``. Never returns."""
        while True:
            await self._changed.wait()
            while (due := self._next()) < inf:
                if self._clock.now() < due:
                    await race(partial(self._clock.sleep_until, due), self._changed.wait)
                else:
                    await write(self._piece())

    def _begin_in(self, seconds: float) -> None:
        self._due = self._clock.now() + seconds
        self._changed.set()

    def _next(self) -> float:
        """The time of the next piece: the first one comes after the caller has heard everything that was said."""
        if self._due == inf:
            return inf
        heard = self._speech.plays_until
        return heard - _AHEAD if self._playing else max(self._due, heard)

    def _piece(self) -> Iterator[RawMessage | None]:
        """The next piece; nothing, where it ended while the line was busy with something else."""
        now = self._clock.now()
        if self._playing and now >= self._ends:
            yield from self._stop()
        elif self._next() <= now:
            self._playing = True
            size = self._speech.bytes_of(_PIECE)
            piece = (self._sound[self._at :] + self._sound * (size // len(self._sound) + 1))[:size]
            self._at = (self._at + size) % len(self._sound)
            yield from self._speech.hold(piece)

    def _stop(self) -> Iterator[RawMessage | None]:
        self._due = inf
        if self._playing:
            self._playing, self._at = False, 0
            yield self._speech.drop()


#: What a user may name as the sound: a WAV file or its bytes; true for the one that is made here.
HoldSound: TypeAlias = bool | StrPath | bytes


def sound_of(chosen: HoldSound, codec: Codec, rate: int) -> bytes:
    """The sound, as the line carries it; empty for none. Raises as ``read_wav`` does, and ``ConfigError`` for a file
    without any sound."""
    if isinstance(chosen, bool):
        return codec.encode(made(rate)) if chosen else b""
    return _read(chosen if isinstance(chosen, bytes) else os.fspath(chosen), codec, rate)


@lru_cache(maxsize=32)  # a call does not wait for a file that others have read
def _read(chosen: str | bytes, codec: Codec, rate: int) -> bytes:
    sound = codec.encode(b"".join(read_wav(chosen, rate=rate)))
    if not sound:
        raise ConfigError("hold_sound is empty: a WAV file with some sound is expected")
    return sound
