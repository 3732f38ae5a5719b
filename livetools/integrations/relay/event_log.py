"""What is sent to a page: events, which are kept for a page that comes back, and media, which are not.

Events are numbered from 1, and a reader names the last one that it has. Media (speech as bytes, the pictures of an
avatar as text) keep their place between the events and are read once. Both are bounded: the oldest are dropped, and
adding never waits.
"""

from __future__ import annotations

from collections import deque

from .limits import MAX_EVENTS, MAX_MEDIA


class EventLog:
    """The events of a conversation, and the media that were not sent yet."""

    def __init__(self, max_events: int = MAX_EVENTS, max_media: int = MAX_MEDIA) -> None:
        self._events: deque[str] = deque()
        self._media: deque[tuple[int, str | bytes]] = deque()  # with the event it followed
        self._sizes = [0, 0]  # of events, of media
        self._max_events, self._max_media = max_events, max_media
        self.last = 0  # the number of the newest event

    @property
    def first(self) -> int:
        """The number of the oldest event that is kept."""
        return self.last - len(self._events) + 1

    def add(self, event: str) -> None:
        """Append an event. Its number is ``last`` afterwards."""
        self.last += 1
        self._events.append(event)
        self._sizes[0] += len(event)
        while self._sizes[0] > self._max_events and len(self._events) > 1:
            self._sizes[0] -= len(self._events.popleft())

    def add_media(self, media: str | bytes) -> int:
        """Append media. Returns how many bytes of older speech were dropped for it."""
        self._media.append((self.last, media))
        self._sizes[1] += len(media)
        dropped = 0
        while self._sizes[1] > self._max_media and len(self._media) > 1:
            oldest = self._take_media()
            dropped += len(oldest) if isinstance(oldest, bytes) else 0
        return dropped

    def drop_media(self) -> None:
        """Drop all media that were not read: the model was interrupted."""
        self._media.clear()
        self._sizes[1] = 0

    def next(self, read: int) -> tuple[int, str | bytes] | None:
        """The next entry after event ``read``, and the number to pass next time; ``None`` if no entry follows."""
        if self._media and self._media[0][0] <= read:
            return read, self._take_media()
        number = max(read + 1, self.first)
        if number > self.last:
            return None
        return number, self._events[number - self.first]

    def _take_media(self) -> str | bytes:
        media = self._media.popleft()[1]
        self._sizes[1] -= len(media)
        return media
