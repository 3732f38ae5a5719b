"""The queue of events between the reader and the user's loop. It is bounded in bytes; the reader never waits.

Past the bound audio and video go first, oldest first, then the oldest of all; so with nobody iterating the newest
events are kept. ``interrupted`` takes back those of its turn that were not handed out yet, and overtakes
everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TypeAlias

from livetools import events
from livetools.errors import ConcurrencyError
from livetools.events import Event, Interrupted, TurnComplete
from livetools.log import get_logger
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import make_wake

log = get_logger("livetools.session")

MAX_UNREAD = 64 * 1024 * 1024  # bytes of events that nobody reads, past which the oldest go
EVENT_OVERHEAD = 200  # what an event weighs beside its data
MEDIA_EVENTS = frozenset({events.AudioChunk, events.VideoChunk})
ENDS_TURN = frozenset({TurnComplete, Interrupted})
#: Events of the session, not of a turn.
LASTING = frozenset({
    events.SessionStarted, events.Reconnecting, events.Reconnected, events.GoAway, events.HandedOff,
    events.HandleUpdate, events.Stalled, events.InputDropped, events.ToolLost, events.ApprovalRequested,
})  # fmt: skip
LOOKED = 10_000  # values of an event that are weighed
SHED_TO = 7 / 8  # of the bound: looking for the oldest takes a walk through all that waits

#: The number of an event, and its weight.
Entry: TypeAlias = tuple[int, Event, int]

_NONE: deque[Entry] = deque(maxlen=0)  # an idle session has no queue


class UnreadEvents:
    """The events that wait for ``async for``. Made in the loop that it serves.

    They stand in their order, behind the interruptions. ``dropped`` counts the events that went, past the bound.
    """

    def __init__(self, bound: int = MAX_UNREAD) -> None:
        self._bound = bound
        self._queue = _NONE
        self._size = 0  # what they weigh
        self._count = 0  # events that came: the number of the newest
        self._turn = 0  # the number of the last event that ended a turn or cut it off
        self._wake = make_wake()
        self._slice = TimeSlice()
        self._awaited = False  # somebody waits, or was woken and has not run yet
        self.iterated = False  # read-only from outside: somebody has asked for an event
        self._closed = False
        self.dropped = 0

    def put(self, *coming: Event) -> None:
        """Take events; never waits."""
        awaited = self._awaited
        wakes = awaited and not self._queue  # else it was woken by what came before
        if self._queue is _NONE:
            self._queue = deque()
        for event in coming:
            # A reader that waits takes it at once, so its size does not matter.
            weight = EVENT_OVERHEAD if awaited else EVENT_OVERHEAD + _weight(event)
            self._count += 1
            self._size += weight
            if type(event) is Interrupted:
                self._take_back(self._turn, MEDIA_EVENTS.__contains__)
                self._queue.appendleft((self._count, event, weight))
            else:
                self._queue.append((self._count, event, weight))
            if type(event) in ENDS_TURN:
                self._turn = self._count
        if self._size > self._bound:
            self._shed()
        if wakes:
            self._wake.set()

    def _pop(self) -> Event:
        """Take the next event; one waits."""
        _, event, weight = self._queue.popleft()
        self._size -= weight
        if type(event) is TurnComplete and not self._queue:  # for a while nothing comes
            self._queue = _NONE
        return event

    def close(self) -> None:
        """No more events will come; those that wait are still handed out."""
        self._closed = True
        self._wake.set()

    def mark(self) -> int:
        """This moment, for :meth:`forget`."""
        return self._count

    def forget(self, mark: int) -> None:
        """Drop the events of turns after ``mark``, which ``ask`` has returned, if nobody has ever iterated."""
        if self.iterated:
            return
        self._take_back(mark, lambda kind: kind not in LASTING)
        while self._queue and self._queue[0][0] > mark and type(self._queue[0][1]) is Interrupted:
            self._pop()

    def take(self) -> Event | None:
        """The next event, if one waits and nobody else need run before it is handed out."""
        self.iterated = True
        return self._pop() if self._queue and not self._slice.over() else None

    async def get(self) -> Event | None:
        """The next event; ``None`` at the end. Cancelling loses nothing.

        Raises ``ConcurrencyError`` while somebody else waits here.
        """
        self.iterated = True
        if self._queue:
            await self._slice.share()
        while not self._queue and not self._closed:
            if self._awaited:
                raise ConcurrencyError(
                    "two loops iterate over one session: each event would reach only one of them."
                    " Iterate once, and hand the events on"
                )
            self._awaited = True
            try:
                await self._wake.wait()
            finally:
                self._awaited = False
            self._slice.rested()
        return self._pop() if self._queue else None

    def _take_back(self, mark: int, goes: Callable[[type[Event]], bool]) -> None:
        """Remove the events of these kinds that came after ``mark``."""
        kept: list[Entry] = []
        while self._queue and self._queue[-1][0] > mark:
            entry = self._queue.pop()
            if goes(type(entry[1])):
                self._size -= entry[2]
            else:
                kept.append(entry)
        self._queue.extend(reversed(kept))

    def _shed(self) -> None:
        """Drop media, oldest first, then the oldest of all, until the bound holds. The newest event stays."""
        if not self.dropped:
            log.warning(
                "events are not read: past %d MiB the oldest are dropped, audio first", self._bound >> 20
            )
        self._drop_oldest(MEDIA_EVENTS.__contains__)
        if self._size > self._bound:
            self._drop_oldest(lambda kind: True)

    def _drop_oldest(self, goes: Callable[[type[Event]], bool]) -> None:
        queue, self._queue = self._queue, deque()
        for number, event, weight in queue:
            if self._size > self._bound * SHED_TO and number < self._count and goes(type(event)):
                self._size -= weight
                self.dropped += 1
            else:
                self._queue.append((number, event, weight))


def _weight(event: Event) -> int:
    """About how many bytes an event holds: its texts, and the results and messages in it.

    A tool's progress may be any object of the user's: one that will not be looked at weighs nothing.
    """
    if type(event) is events.AudioChunk or type(event) is events.VideoChunk:
        return len(event.data)
    size, looked = 0, 0
    waiting: list[object] = [event]
    while waiting and looked < LOOKED:
        value = waiting.pop()
        looked += 1
        if issubclass(type(value), str | bytes):  # not isinstance: it would ask the value
            size += len(value)  # type: ignore[arg-type]  # asked above
            continue
        inner = _inner(value)
        size += EVENT_OVERHEAD * len(inner)
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
