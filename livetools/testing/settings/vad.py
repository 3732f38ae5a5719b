"""Voice activity detection: finds where the user begins and ends to speak."""

from __future__ import annotations

import array
import itertools
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

WINDOW = 0.02  # seconds that are judged at once
THINNING = 4  # every fourth sample tells the energy well enough


@dataclass(frozen=True, slots=True)
class Edge:
    """Speech begins or ends, ``offset`` seconds into the stream."""

    kind: Literal["start", "end"]
    offset: float


class ActivityDetector(Protocol):
    """Detects speech in one stream of 16-bit little-endian mono PCM.

    ``server.detector = Mine`` replaces ours. It is made with the setup's ``automaticActivityDetection`` (camelCase).
    """

    def feed(self, pcm: bytes, rate: int) -> list[Edge]:
        """The edges in this piece, in their order."""
        ...


class EnergyDetector:
    """Speech is what is loud enough for long enough.

    The setup's ``startOfSpeechSensitivity`` (high unless said) sets the threshold, ``prefixPaddingMs`` how
    long it must be passed, ``endOfSpeechSensitivity`` and ``silenceDurationMs`` how long silence must last.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        low_start = config.get("startOfSpeechSensitivity") == "START_SENSITIVITY_LOW"
        low_end = config.get("endOfSpeechSensitivity") == "END_SENSITIVITY_LOW"
        self.threshold = 1200.0 if low_start else 400.0
        self.prefix = int(config.get("prefixPaddingMs") or 40) / 1000
        self.silence = int(config.get("silenceDurationMs") or (800 if low_end else 500)) / 1000
        self.speaking = False
        self._time = 0.0  # of the stream, up to the last window judged
        self._run = 0.0  # seconds that have spoken against the present state
        self._rest = b""

    def feed(self, pcm: bytes, rate: int) -> list[Edge]:
        """See :class:`ActivityDetector`."""
        size = max(1, int(rate * WINDOW)) * 2
        data = self._rest + pcm
        whole = len(data) - len(data) % size
        self._rest = data[whole:]
        loud = [energy > self.threshold for energy in energies(data[:whole], size // 2)]
        return [edge for edge in map(self._judge, loud) if edge is not None]

    def _judge(self, loud: bool) -> Edge | None:
        self._time += WINDOW
        self._run = self._run + WINDOW if loud is not self.speaking else 0.0
        if self._run + WINDOW / 2 < (self.silence if self.speaking else self.prefix):
            return None
        began, self._run = self._time - self._run, 0.0
        self.speaking = not self.speaking
        return Edge("start" if self.speaking else "end", round(began, 3))


def energies(pcm: bytes, size: int) -> list[float]:
    """The root mean square of each ``size`` samples."""
    samples = array.array("h", pcm)
    if sys.byteorder == "big":
        samples.byteswap()
    thin = samples[::THINNING]
    bounds = [n * size // THINNING for n in range(len(samples) // size + 1)]
    return [math.hypot(*thin[a:b]) / max(1, b - a) ** 0.5 for a, b in itertools.pairwise(bounds)]
