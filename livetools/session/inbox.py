"""Between the reader and the user's loop: bounded in bytes, and the reader never waits.

Past the bound audio and video go first, oldest first, then the oldest of all; so with nobody iterating the newest
events are kept. ``interrupted`` takes back those of its turn that were not handed out yet, and overtakes
everything.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from types import MappingProxyType

from livetools.protocol.errors import ConcurrencyError
from livetools.protocol.events import AudioChunk, Event, Interrupted, TurnComplete, VideoChunk

from .wake import make_wake

log = logging.getLogger("livetools.session")

BOUND = 64 * 1024 * 1024  # bytes
FLAT = 200  # what an event weighs beside its data
MEDIA = frozenset({AudioChunk, VideoChunk})
LOOKED = 10_000  # values of an event that are weighed


class Inbox:
    """The events that wait for ``async for``. Made in the loop that it serves.

    ``dropped`` counts the events that went, past the bound.
    """

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._events: deque[tuple[Event, int]] = deque()  # with their weights
        self._size = 0
        self._wake = make_wake()
        self._awaited = False
        self._closed = False
        self.dropped = 0

    def put(self, event: Event) -> None:
        """Take an event; never waits."""
        if type(event) is AudioChunk or type(event) is VideoChunk:
            weight = FLAT + len(event.data)
        elif self._awaited:
            weight = FLAT  # it is gone before its weight matters
        else:
            weight = FLAT + _weight(event)
        if type(event) is Interrupted:
            self._take_back()
            self._events.appendleft((event, weight))
        else:
            self._events.append((event, weight))
        self._size += weight
        if self._size > self._bound:
            self._shed()
        if self._awaited:
            self._wake.set()

    def close(self) -> None:
        """No more events will come; those that wait are still handed out."""
        self._closed = True
        self._wake.set()

    async def get(self) -> Event | None:
        """The next event; ``None`` at the end. Cancelling loses nothing.

        Raises ``ConcurrencyError`` while somebody else waits here.
        """
        if not self._events:
            if self._awaited:
                raise ConcurrencyError(
                    "two loops iterate over one session: each event would reach only one of them."
                    " Iterate once, and hand the events on"
                )
            self._awaited = True
            try:
                while not self._events and not self._closed:
                    await self._wake.wait()
            finally:
                self._awaited = False
        if not self._events:
            return None
        event, weight = self._events.popleft()
        self._size -= weight
        return event

    def _take_back(self) -> None:
        """Remove the audio and video of the turn that runs: what stands behind the last end of a turn."""
        turn: list[tuple[Event, int]] = []
        while self._events and type(self._events[-1][0]) is not TurnComplete:
            entry = self._events.pop()
            if type(entry[0]) in MEDIA:
                self._size -= entry[1]
            else:
                turn.append(entry)
        self._events.extend(reversed(turn))

    def _shed(self) -> None:
        """Drop a tenth of the bound at once, so that each event pays for its own passage only."""
        if not self.dropped:
            log.warning(
                "events are not read: past %d MiB the oldest are dropped, audio first", self._bound >> 20
            )
        room = self._bound * 9 // 10
        kept: deque[tuple[Event, int]] = deque()
        newest = self._events.pop()
        for entry in self._events:
            if self._size > room and type(entry[0]) in MEDIA:
                self._drop(entry)
            else:
                kept.append(entry)
        while self._size > room and kept:
            self._drop(kept.popleft())
        kept.append(newest)
        self._events = kept

    def _drop(self, entry: tuple[Event, int]) -> None:
        self._size -= entry[1]
        self.dropped += 1


def _weight(event: Event) -> int:
    """About how many bytes an event holds: its texts, and the results and messages in it.

    A tool's progress may be any object of the user's: one that will not be looked at weighs nothing.
    """
    size, looked = 0, 0
    waiting: list[object] = [event]
    while waiting and looked < LOOKED:
        value = waiting.pop()
        looked += 1
        if issubclass(type(value), str | bytes):  # not isinstance: it would ask the value
            size += len(value)  # type: ignore[arg-type]  # asked above
            continue
        inner = _inner(value)
        size += FLAT * len(inner)
        waiting += inner
    return size


def _inner(value: object) -> Sequence[object]:
    kind = type(value)
    try:
        if issubclass(kind, dict | MappingProxyType):
            return list(value.values())  # type: ignore[attr-defined]  # asked above
        if issubclass(kind, list | tuple):
            return value  # type: ignore[return-value]
        if hasattr(kind, "__dataclass_fields__"):
            return [getattr(value, name) for name in kind.__dataclass_fields__]
    except Exception:
        log.debug("a %s could not be weighed", kind.__name__)
    return ()
