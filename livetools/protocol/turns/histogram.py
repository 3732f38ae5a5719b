"""A histogram of times, of a fixed size: how long calls take, and answers (see ``speech_times``).

Always on, so it must cost next to nothing.
"""

from __future__ import annotations

from math import log2

from msgspec import Struct

UNIT = 1e-6  # seconds: buckets are wider than that, so shorter times are less exact
PER_OCTAVE = 8  # buckets between a time and its double: a quantile is off by 4.5 % at most, from 1 ms on


class Histogram(Struct, eq=False):
    """Times in seconds, in buckets whose bounds grow by the same factor. Only buckets that are used take memory."""

    sum: float = 0.0
    max: float = 0.0
    _buckets: dict[int, int] = {}  # how many times fell into each

    def add(self, seconds: float) -> None:
        """Count one time. On the path of every call: some 2,000 instructions."""
        self.sum += seconds
        if seconds > self.max:
            self.max = seconds
        # +1: a time of 0 has a logarithm then.
        bucket = int(log2(seconds / UNIT + 1.0) * PER_OCTAVE)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    @property
    def count(self) -> int:
        """How many times were added."""
        return sum(self._buckets.values())

    def quantile(self, share: float) -> float | None:
        """The time that this share of all times does not exceed, about; ``None`` where nothing was counted."""
        left = max(1.0, share * self.count)  # how many times lie up to the quantile
        for bucket, within in sorted(self._buckets.items()):
            left -= within
            if left <= 0:
                return min(UNIT * (2 ** ((bucket + 0.5) / PER_OCTAVE) - 1.0), self.max)
        return None

    def summary(self) -> dict[str, float | int | None]:
        """``count``; ``mean``, ``p50``, ``p90``, ``p99``, ``max`` in seconds: ``None`` where nothing was counted."""
        count = self.count
        return {
            "count": count,
            "mean": self.sum / count if count else None,
            **{f"p{percent}": self.quantile(percent / 100) for percent in (50, 90, 99)},
            "max": self.max if count else None,
        }
