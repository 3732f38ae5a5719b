"""Measures latencies: from the end of the user's input to the model's first and last output, and of calls.

Always on, so it must cost next to nothing: histograms of a fixed size, and two numbers for the turn under way. The
machine says what happens and when; nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from msgspec import Struct, field

from livetools.events import AudioChunk, OutputTranscript, TextChunk, VideoChunk

#: What the user hears, sees or reads: thoughts and code are not part of it.
PERCEIVED = frozenset({AudioChunk, OutputTranscript, TextChunk, VideoChunk})

UNIT = 1e-6  # seconds: buckets are wider than that, so shorter times are less exact
PER_OCTAVE = 8  # buckets between a time and its double: a quantile is off by 4.5 % at most, from 1 ms on
LAST_BUCKET = PER_OCTAVE * 31 - 1  # the last bucket, of 36 minutes and more


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
        bucket = min(int(log2(seconds / UNIT + 1.0) * PER_OCTAVE), LAST_BUCKET)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    @property
    def count(self) -> int:
        """How many times were added."""
        return sum(self._buckets.values())

    def quantile(self, share: float) -> float | None:
        """The time that this share of all times does not exceed, about; ``None`` where nothing was counted."""
        if not (count := self.count):
            return None
        left = max(1, -int(-share * count // 1))  # how many times lie up to the quantile: rounded up
        for bucket, within in sorted(self._buckets.items()):
            left -= within
            if left <= 0:
                return min(UNIT * (2 ** ((bucket + 0.5) / PER_OCTAVE) - 1.0), self.max)
        return self.max

    def summary(self) -> dict[str, float | int | None]:
        """``count``; ``mean``, ``p50``, ``p90``, ``p99``, ``max`` in seconds: ``None`` where nothing was counted."""
        count = self.count
        return {
            "count": count,
            "mean": self.sum / count if count else None,
            "p50": self.quantile(0.5),
            "p90": self.quantile(0.9),
            "p99": self.quantile(0.99),
            "max": self.max if count else None,
        }


class Latency(Struct, eq=False):
    """The times of one session. ``first_output`` and ``last_output`` count from the end of the user's speech or text.

    Of several things that the user says before the model answers, the last one counts. A turn that nobody has asked
    for is not measured, nor the end of one that was cut off.
    """

    first_output: Histogram = field(default_factory=Histogram)
    last_output: Histogram = field(default_factory=Histogram)
    call: Histogram = field(default_factory=Histogram)
    user_ended: float | None = None  # before the turn under way, or the last one; None: nobody had spoken
    _asked: float | None = None  # the user has spoken, and the model has not answered
    _first: float | None = None  # the first output of the turn under way
    _last: float = 0.0
    _cut: bool = False
    _told: bool = False  # the service said when the user ended, so it need not be guessed

    def user(self, speaks: bool, now: float) -> None:
        """The user begins to speak, or has ended to, or has sent a text."""
        self._asked, self._told = None if speaks else now, not speaks

    def heard(self, now: float) -> None:
        """The service transcribes what the user has said: the last words that it heard before it answered count, where
        nothing tells when the user ended. Transcripts may arrive in the middle of the answer too."""
        # While the model answers, a late transcript is of what it answers already.
        if self._first is None and not self._told:
            self._asked = now

    def output(self, now: float) -> None:
        """The model said something that the user perceives."""
        self._last = now
        if self._first is None:
            self._first, self.user_ended, self._asked, self._told = now, self._asked, None, False
            if self.user_ended is not None:
                self.first_output.add(now - self.user_ended)

    def cut_off(self) -> None:
        """The turn under way is cut off: when it would have ended is not known."""
        self._cut = self._first is not None

    def turn_ended(self) -> tuple[float, float] | None:
        """The turn is over. Seconds from the end of what the user said to its first output and to its last; ``None``
        where the model said nothing in it, or nobody had spoken."""
        first, began, cut = self._first, self.user_ended, self._cut
        self._first, self._cut = None, False
        # A turn of the model's own (a greeting, a late result) answers nobody, and is not measured.
        if first is None or began is None:
            return None
        # A turn that was cut off would make the last outputs look early.
        if not cut:
            self.last_output.add(self._last - began)
        return first - began, self._last - began

    @property
    def awaited_since(self) -> float | None:
        """When the user ended the input that the model answers now, or has still to answer."""
        return self.user_ended if self._asked is None or self._first is not None else self._asked

    def stats(self) -> Mapping[str, Mapping[str, float | int | None]]:
        """The three histograms by name, each as :meth:`Histogram.summary` returns it."""
        return {
            "first_output": self.first_output.summary(),
            "last_output": self.last_output.summary(),
            "call": self.call.summary(),
        }
