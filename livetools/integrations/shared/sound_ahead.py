"""The bound on sound that comes faster than it was spoken. Each second of it costs money."""

from __future__ import annotations

from math import inf

#: Seconds of sound that may come ahead of their time.
MAX_AHEAD = 60.0


class SoundAhead:
    """How far the sound that came is ahead of the clock. Sound that is late does not count against what follows."""

    def __init__(self) -> None:
        self._spoken_until = -inf  # had all of it been spoken in its time

    def allows(self, seconds: float, now: float) -> bool:
        """Whether this piece of sound, which comes at ``now``, stays within ``MAX_AHEAD``. If so, it is counted."""
        until = max(self._spoken_until, now) + seconds
        if until > now + MAX_AHEAD:
            return False
        self._spoken_until = until
        return True
