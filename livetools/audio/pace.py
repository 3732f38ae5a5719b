"""A file at the speed of speech.

The service listens as a listener does: it finds the end of speech by the silence that follows, and it expects
sound to come about as fast as it was spoken. A file sent at once is a burst that says nothing about when.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator

from livetools.session.running.clock import Clock, SystemClock

from .pcm import INPUT_RATE, bytes_of, chunks, seconds_of, silence

#: Seconds of silence that end an utterance. gemini-3.8-live ignores ``audioStreamEnd`` as the end of a turn and
#: answers once 500 ms of zeros have followed the speech (openclaw#152830, measured 2026-09-19); to the other
#: models the silence is what a microphone would send anyway.
END_OF_SPEECH = 0.5

_LATE = 0.5  # seconds that are caught up with; what is later than that was a pause, not a delay
_CHUNK = 0.1  # seconds


def pace(
    pcm: Iterable[bytes],
    *,
    rate: int = INPUT_RATE,
    trailing: float = END_OF_SPEECH,
    clock: Clock | None = None,
) -> AsyncIterator[bytes]:
    """The chunks of ``pcm`` (16-bit mono, ``rate`` Hz), each when a microphone would have heard the whole of it.

    ``trailing`` seconds of silence follow, so that the end of speech is heard. The time is kept to the start
    (the first ``anext``), so that delays do not add up; after one of more than half a second (a reconnection,
    a blocked loop) it is not made up for in a burst. Cancelling loses nothing.

    ::

        async with connect(MODEL) as session:
            async for pcm in pace([silence(0.2)]):  # or pace(read_wav("question.wav"))
                await session.send_audio(pcm)
            print(await session.wait_until_settled())
    """
    after = chunks([silence(trailing, rate)], bytes_of(_CHUNK, rate))
    return _Paced(itertools.chain(pcm, after), rate, clock or SystemClock())


class _Paced:
    """An iterator and not a generator: who stops early leaves nothing to be closed."""

    def __init__(self, pcm: Iterator[bytes], rate: int, clock: Clock) -> None:
        self._pcm, self._rate, self._clock = pcm, rate, clock
        self._due: float | None = None
        self._chunk: bytes | None = None

    def __aiter__(self) -> _Paced:
        return self

    async def __anext__(self) -> bytes:
        now = self._clock.now()
        if self._due is None:
            self._due = now
        if self._chunk is None:
            self._chunk = next(self._pcm, None)
            if self._chunk is None:
                raise StopAsyncIteration
            self._due = max(self._due, now - _LATE) + seconds_of(self._chunk, self._rate)
        await self._clock.sleep_until(self._due)
        chunk, self._chunk = self._chunk, None
        return chunk
