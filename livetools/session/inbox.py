"""Between the reader and the user's loop: bounded in bytes, and the reader never waits.

Past the bound audio goes first, oldest first, then the oldest of all; so with nobody iterating the newest
events are kept. ``interrupted`` takes back the audio of its turn that was not handed out yet, and overtakes
everything.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence

from livetools.protocol.errors import ConcurrencyError
from livetools.protocol.events import AudioChunk, Event, Interrupted, TurnComplete

from .wake import make_wake

log = logging.getLogger("livetools.session")

BOUND = 64 * 1024 * 1024  # bytes
FLAT = 200  # what an event weighs beside its data


class Inbox:
    """The events that wait for ``async for``. Made in the loop that it serves.

    ``dropped`` counts the events that went, past the bound.
    """

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._events: OrderedDict[int, tuple[Event, int]] = OrderedDict()  # with weights, by number
        self._audio: deque[int] = deque()  # numbers, oldest first; those that are gone are skipped
        self._turn = 0  # the first number of the turn that runs
        self._number = 0
        self._size = 0
        self._wake = make_wake()
        self._awaited = False
        self._closed = False
        self.dropped = 0

    def put(self, event: Event) -> None:
        """Take an event; never waits."""
        self._number += 1
        weight = FLAT
        if type(event) is AudioChunk:
            weight += len(event.data)
            self._audio.append(self._number)
        elif not self._awaited:  # an event that is waited for is gone before its weight matters
            weight += _weight(event)
        self._events[self._number] = event, weight
        self._size += weight
        if type(event) is Interrupted:
            self._take_back()
            self._events.move_to_end(self._number, last=False)
        elif type(event) is TurnComplete:
            self._turn = self._number
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
        number, (event, weight) = self._events.popitem(last=False)
        self._size -= weight
        if self._audio and self._audio[0] == number:
            self._audio.popleft()
        return event

    def _take_back(self) -> None:
        """Audio of the turn that runs."""
        while self._audio and self._audio[-1] > self._turn:
            self._remove(self._audio.pop())

    def _shed(self) -> None:
        if not self.dropped:
            log.warning(
                "events are not read: past %d MiB the oldest are dropped, audio first", self._bound >> 20
            )
        while self._size > self._bound and len(self._events) > 1:
            oldest = self._audio.popleft() if self._audio else next(iter(self._events))
            self.dropped += self._remove(oldest)

    def _remove(self, number: int) -> bool:
        _, weight = self._events.pop(number, (None, 0))
        self._size -= weight
        return weight > 0


def _weight(value: object, depth: int = 0) -> int:
    """About how many bytes an event holds: its texts, and the results and messages in it."""
    match value:
        case str() | bytes():
            return len(value)
        case _ if depth > 6:
            return FLAT
        case Mapping():
            return sum(FLAT + _weight(inner, depth + 1) for inner in value.values())
        case Sequence():
            return sum(FLAT + _weight(inner, depth + 1) for inner in value)
        case _ if hasattr(value, "__dataclass_fields__"):
            names = value.__dataclass_fields__
            return sum(_weight(getattr(value, name), depth + 1) for name in names)
    return 0
