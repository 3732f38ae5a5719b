"""Sound that comes out of order, in order again."""

from __future__ import annotations

#: Frames that wait for one that is missing: 100 ms of sound, past which it is taken for lost.
MAX_HELD_FRAMES = 5


class Reorder:
    """Frames by their numbers. What is in order passes at once; what comes twice, or too late, is dropped."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, bytes] = {}

    def take(self, number: int | None, sound: bytes) -> list[bytes]:
        """The sound that may be played now. A frame without a number passes."""
        if number is None:
            return [sound]
        if self._next is None:
            self._next = min(number, 1)  # they count from 1, or from 0
        if number < self._next:
            return []
        self._waiting[number] = sound
        if len(self._waiting) > MAX_HELD_FRAMES and self._next not in self._waiting:
            self._next = min(self._waiting)
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next))
            self._next += 1
        return ready
