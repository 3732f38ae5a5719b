"""The microphone, as an async iterator of what the Live API wants to hear."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any

from livetools.errors import ConcurrencyError, LiveToolsError
from livetools.transport.loop.wake import make_wake, poster

from .devices import Device, find_card
from .pcm import INPUT_RATE, Resampler


class Microphone:
    """Recorded sound, in chunks of 16-bit mono PCM at 16 kHz, ``seconds`` each.

    ::

        with Microphone() as microphone:
            async for pcm in microphone:
                await session.send_audio(pcm)

    It gives silence too, and that must be sent: gemini-3.8-live hears the end of speech by it and by nothing
    else (openclaw#152830, measured 2026-09-19). The service advises chunks of 20 to 100 ms.

    At most ``limit`` seconds wait to be read; past that the oldest chunk goes, counted in ``dropped``. A
    device that does not record 16 kHz is opened with its own rate and resampled (soxr). Raises
    :class:`ConfigError` when the extra, the library or the device is missing, before anything is opened, and
    on entering when the device does not start.

    Iterate in one task at a time. Cancelling loses nothing. Iteration ends when the context is left, and
    raises :class:`LiveToolsError` when the device goes away.
    """

    def __init__(self, *, device: Device = None, seconds: float = 0.04, limit: float = 2.0) -> None:
        self.dropped = 0  # chunks
        self._card = find_card("input", device, INPUT_RATE)
        self._resample = Resampler(self._card.rate, INPUT_RATE, prompt=True)
        self._seconds = seconds
        self._heard: deque[bytes] = deque(maxlen=max(1, round(limit / seconds)))
        self._stream: Any = None  # sounddevice has no types
        self._ended = False
        self._awake: Callable[[], object] = lambda: None
        self._reading = False

    def __enter__(self) -> Microphone:
        self._ended = False
        self._stream = self._card.open(self._hear, self._end, self._seconds)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        stream, self._stream = self._stream, None
        stream.abort()
        stream.close()

    def __aiter__(self) -> Microphone:
        return self

    async def __anext__(self) -> bytes:
        if self._reading:
            raise ConcurrencyError("Two tasks read one microphone: each chunk would reach only one of them.")
        self._reading = True
        try:
            while not (pcm := self._resample(await self._next())):
                pass  # the resampler holds its first milliseconds back
            return pcm
        finally:
            self._reading = False

    async def _next(self) -> bytes:
        """The next block of the device, whose thread only appends and wakes."""
        while not self._heard:
            wake, post = make_wake(), poster()
            self._awake = partial(post, wake.set)
            if self._heard:
                break  # it came just before, and woke nobody
            if self._stream is None:
                raise StopAsyncIteration
            if self._ended:
                raise LiveToolsError(
                    "The microphone has stopped: was it unplugged? Open it again to continue."
                )
            await wake.wait()
        return self._heard.popleft()

    def _hear(self, buffer: Any, frames: int, time: object, status: object) -> None:
        self.dropped += len(self._heard) == self._heard.maxlen
        self._heard.append(bytes(buffer))
        self._nudge()

    def _end(self) -> None:
        self._ended = True
        self._nudge()

    def _nudge(self) -> None:
        try:
            self._awake()
        except RuntimeError:  # the loop has ended: nobody listens any more
            self._awake = lambda: None
