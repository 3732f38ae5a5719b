"""What a page is to be told: events, which are kept for pages that come back, and speech, which is not.

Events are numbered from 1. A reader says up to which one it has read; speech stands behind the event it followed, and
is read once. Both are bounded, the oldest go first, and nobody who writes ever waits.
"""

from __future__ import annotations

from collections import deque

#: Characters of events that are kept for a page that comes back.
MAX_EVENTS = 2**20
#: Bytes of speech that wait for a page: three minutes of it.
MAX_SPEECH = 8 * 2**20


class Log:
    """The events of a conversation, and the speech that nobody has fetched yet."""

    def __init__(self, max_events: int = MAX_EVENTS, max_speech: int = MAX_SPEECH) -> None:
        self._events: deque[str] = deque()
        self._speech: deque[tuple[int, bytes]] = deque()  # with the event it followed
        self._sizes = [0, 0]  # of events, of speech
        self._max_events, self._max_speech = max_events, max_speech
        self.last = 0  # the number of the newest event

    @property
    def first(self) -> int:
        """The number of the oldest event that is kept."""
        return self.last - len(self._events) + 1

    def add(self, event: str) -> None:
        """Append an event; its number is now ``last``."""
        self.last += 1
        self._events.append(event)
        self._sizes[0] += len(event)
        while self._sizes[0] > self._max_events and len(self._events) > 1:
            self._sizes[0] -= len(self._events.popleft())

    def add_speech(self, pcm: bytes) -> int:
        """Append speech: how many bytes of older speech it has pushed out."""
        self._speech.append((self.last, pcm))
        self._sizes[1] += len(pcm)
        dropped = 0
        while self._sizes[1] > self._max_speech and len(self._speech) > 1:
            dropped += self._take_speech()
        return dropped

    def drop_speech(self) -> None:
        """The model was interrupted: what was not fetched will not be heard."""
        self._speech.clear()
        self._sizes[1] = 0

    def next(self, read: int) -> tuple[int, str | bytes] | None:
        """What follows event ``read``, with the number to ask with next time; ``None`` when there is nothing."""
        if self._speech and self._speech[0][0] <= read:
            pcm = self._speech[0][1]
            self._take_speech()
            return read, pcm
        number = max(read + 1, self.first)
        if number > self.last:
            return None
        return number, self._events[number - self.first]

    def _take_speech(self) -> int:
        size = len(self._speech.popleft()[1])
        self._sizes[1] -= size
        return size
