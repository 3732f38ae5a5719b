"""What a microphone hears on its way to the model: measured for a meter, and muted until a key is pressed."""

from __future__ import annotations

import math
from array import array
from collections.abc import AsyncIterable, AsyncIterator, Callable

from livetools.audio.activity_detection import Activity, DetectorOutput
from livetools.audio.pcm import SAMPLE

#: What is quieter (dB below full scale) leaves the meter empty.
_FLOOR = -60.0
_BARS = 20


class PushToTalk:
    """Whether the user speaks: a key begins it, and the same key ends it."""

    def __init__(self) -> None:
        self.speaks = False

    def press(self, key: str) -> None:
        """A key was pressed; the space bar counts."""
        if key == " ":
            self.speaks = not self.speaks


async def metered(
    source: AsyncIterable[bytes], show: Callable[[str], object], width: int
) -> AsyncIterator[bytes]:
    """``source`` as it is; ``show`` gets a line with its level, for a terminal of so many columns."""
    async for pcm in source:
        show(meter(level(pcm), width))
        yield pcm


async def while_pressed(
    source: AsyncIterable[bytes], show: Callable[[str], object], width: int, talk: PushToTalk, marks: bool
) -> AsyncIterator[DetectorOutput]:
    """The sound of ``source`` while the user speaks; ``show`` as in :func:`metered`.

    ``marks``: with an :class:`Activity` mark before and after it, and nothing else; without, silence takes the place of
    the rest, by which the service hears the end of speech. What is shown as heard is sent: keys come in a thread
    of their own, so each piece asks once.
    """
    spoke = False
    async for pcm in source:
        speaks = talk.speaks
        show(meter(level(pcm), width, speaks))
        if marks and speaks != spoke:
            yield Activity.START if speaks else Activity.END
        spoke = speaks
        if speaks:
            yield pcm
        elif not marks:
            yield bytes(len(pcm))


def level(pcm: bytes) -> float:
    """How loud 16-bit PCM is, in dB below full scale: 0 is as loud as can be."""
    samples = array("h", pcm[: len(pcm) - len(pcm) % SAMPLE])
    power = sum(sample * sample for sample in samples) / max(1, len(samples))
    return 10 * math.log10(max(power, 1e-9) / 32768**2)


def meter(decibels: float, width: int, speaks: bool | None = None) -> str:
    """A line that shows a level, in ASCII, shorter than ``width``. ``speaks``: with push-to-talk."""
    told = "" if speaks is None else "speak, space sends  " if speaks else "space to speak  "
    if width < len(told) + 4:
        told = ""
    bars = max(0, min(_BARS, width - len(told) - 3))
    full = 0 if speaks is False else round(bars * (1 - max(_FLOOR, decibels) / _FLOOR))
    return f"{told}[{'#' * min(bars, full)}{'-' * (bars - min(bars, full))}]"
