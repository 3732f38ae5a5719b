"""Plays the model's speech: through the sound card, or into a WAV file that holds what would have been played."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from livetools.session.running.clock import Clock, SystemClock

from .devices import Device, find_card
from .pcm import OUTPUT_RATE, bytes_of, seconds_of
from .playback import Playback
from .wav import StrPath, open_wav

if TYPE_CHECKING:
    import wave

_PATIENCE = 2.0  # seconds beyond what waits, for a card that was unplugged


class Speaker:
    """The sound card, as an :class:`~livetools.audio.Output`.

    ::

        with Speaker() as speaker:
            async for event in session:
                match event:
                    case AudioChunk(data=pcm, rate=rate): speaker.write(pcm, rate)
                    case Interrupted(): speaker.flush()

    ``device`` is a number or a part of a name (``python -m sounddevice`` lists them). A card that does not
    play 24 kHz is opened with its own rate. At most ``limit`` seconds wait; past that the oldest are dropped
    and counted. Raises :class:`ConfigError` when the extra, the library or the device is missing, before
    anything is opened, and on entering when the device does not start.
    """

    def __init__(self, *, device: Device = None, limit: float = 600.0) -> None:
        self._card = find_card("output", device, OUTPUT_RATE)
        self._playback = Playback(self._card.rate, limit=limit)
        self._stream: Any = None  # sounddevice has no types

    def __enter__(self) -> Speaker:
        self._stream = self._card.open(self._play, lambda: None)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Stop at once, whatever waits: await :meth:`drained` before to hear the end."""
        stream, self._stream = self._stream, None
        stream.abort()
        stream.close()

    @property
    def played(self) -> float:
        """Seconds handed to the sound card."""
        return self._playback.played

    @property
    def dropped(self) -> float:
        """Seconds that went past the limit."""
        return self._playback.dropped

    def write(self, pcm: bytes, rate: int = OUTPUT_RATE) -> None:
        """Play it after what was written before. Never waits."""
        self._playback.write(pcm, rate)

    def flush(self) -> float:
        """Fall silent, within a block of the card (some 10 ms): the seconds thrown away."""
        return self._playback.flush()

    async def drained(self) -> None:
        """Wait until all was heard, or the card has stopped taking it. Cancelling loses nothing."""
        with anyio.move_on_after(self._playback.waiting + _PATIENCE):
            await self._playback.drained()
            if self._stream is not None:
                await anyio.sleep(self._stream.latency)

    def _play(self, buffer: Any, frames: int, time: object, status: object) -> None:
        pcm = self._playback.take(len(buffer))
        buffer[:] = pcm + bytes(len(buffer) - len(pcm))


class FileSpeaker:
    """A WAV file that holds what a listener would have heard, as an :class:`~livetools.audio.Output`.

    It plays in the time of ``clock``, so that an interruption cuts the file where it would have cut the sound;
    pauses are not written. Leaving the context writes what was played until then and closes the file.

    ::

        async with connect(MODEL) as session:
            with FileSpeaker(FOLDER / "answer.wav") as speaker:
                reply = await session.ask("Hello?")
                speaker.write(reply.audio)
                await speaker.drained()  # without this, only what was played by now is in the file
                print(speaker.played, "seconds")
    """

    def __init__(self, path: StrPath, *, rate: int = OUTPUT_RATE, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._playback = Playback(rate)
        self._file: wave.Wave_write | None = None
        self._since = 0.0  # when the first byte that waits began to sound

    def __enter__(self) -> FileSpeaker:
        self._file = open_wav(self._path, self._playback.rate)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._catch_up()
        if self._file is not None:
            self._file.close()

    @property
    def played(self) -> float:
        """Seconds written to the file."""
        return self._playback.played

    def write(self, pcm: bytes, rate: int = OUTPUT_RATE) -> None:
        """Play it after what was written before. Never waits."""
        self._catch_up()
        self._playback.write(pcm, rate)

    def flush(self) -> float:
        """Throw away what would not have been heard yet: the seconds of it."""
        self._catch_up()
        return self._playback.flush()

    async def drained(self) -> None:
        """Wait until all would have been heard, and is in the file. Cancelling loses nothing."""
        self._playback.finish()
        while waiting := self._playback.waiting:
            await self._clock.sleep_until(self._since + waiting)
            self._catch_up()

    def _catch_up(self) -> None:
        now, playback = self._clock.now(), self._playback
        if playback.waiting and self._file is not None:
            pcm = playback.take(bytes_of(now - self._since, playback.rate))
            self._file.writeframes(pcm)
            self._since += seconds_of(pcm, playback.rate)
        if not playback.waiting:
            self._since = now
