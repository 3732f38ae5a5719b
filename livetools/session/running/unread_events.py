"""The queue of events between the reader and the user's loop. It is bounded in bytes; the reader never waits.

Past the bound audio and video go first, oldest first, then the oldest of all; so with nobody iterating the newest
events are kept. ``interrupted`` takes back those of its turn that were not handed out yet, and overtakes
everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import MappingProxyType
from typing import TypeAlias

from livetools import events
from livetools.errors import ConcurrencyError
from livetools.events import Event
from livetools.log import get_logger
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import make_wake

log = get_logger("livetools.session")

MAX_UNREAD = 64 * 1024 * 1024  # bytes of events that nobody reads, past which the oldest go
EVENT_OVERHEAD = 200  # what an event weighs beside its data
MEDIA_EVENTS = frozenset({events.AudioChunk, events.VideoChunk})
#: Events of the session, not of a turn.
LASTING = frozenset({
    events.SessionStarted, events.Reconnecting, events.Reconnected, events.GoAway, events.HandedOff,
    events.HandleUpdate, events.Stalled, events.InputDropped, events.ToolLost, events.ApprovalRequested,
})  # fmt: skip
LOOKED = 10_000  # values of an event that are weighed

#: The number of an event, and its weight. The number of an ``Interrupted`` is negative: it comes before all others.
Entry: TypeAlias = tuple[int, Event, int]

_NONE: deque[Entry] = deque(maxlen=0)  # an idle session has no queues


class UnreadEvents:
    """The events that wait for ``async for``. Made in the loop that it serves.

    They stand in two queues, whose numbers give their common order: media has its own, so that dropping it touches
    nothing else. ``dropped`` counts the events that went, past the bound.
    """

    def __init__(self, bound: int = MAX_UNREAD) -> None:
        self._bound = bound
        self._media = self._others = _NONE
        self._size = 0  # what they weigh; 0: none waits
        self._count = 0  # events that came: the number of the newest
        self._turn = 0  # the number of the event that ended the last turn
        self._wake = make_wake()
        self._slice = TimeSlice()
        self._awaited = False
        self.iterated = False  # read-only from outside: somebody has asked for an event
        self._closed = False
        self.dropped = 0

    def put(self, *coming: Event) -> None:
        """Take events; never waits."""
        awaited = self._awaited
        wakes = awaited and not self._size  # else it was woken by what came before
        for event in coming:
            # a reader that waits takes it at once, so its size does not matter
            self._add(event, EVENT_OVERHEAD if awaited else EVENT_OVERHEAD + _weight(event))
        if self._size > self._bound:
            self._shed()
        if wakes:
            self._wake.set()

    def _add(self, event: Event, weight: int) -> None:
        self._count += 1
        self._size += weight
        kind = type(event)
        if kind in MEDIA_EVENTS:
            if self._media is _NONE:
                self._media = deque()
            self._media.append((self._count, event, weight))
            return
        if self._others is _NONE:
            self._others = deque()
        if kind is events.Interrupted:
            self._cut_media(self._turn)  # that of the turn that runs
            self._others.appendleft((-self._count, event, weight))
            return
        self._others.append((self._count, event, weight))
        if kind is events.TurnComplete:
            self._turn = self._count

    def _pop(self) -> Event:
        """Take the next event; one waits."""
        queue, media = self._others, self._media
        if media and (not queue or media[0][0] < queue[0][0]):
            queue = media
        _, event, weight = queue.popleft()
        self._size -= weight
        if not self._size and type(event) is events.TurnComplete:  # for a while nothing comes
            self._media = self._others = _NONE
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
        self._cut_media(mark)
        queue = self._others
        while queue and queue[0][0] < -mark:  # it was interrupted
            self._size -= queue.popleft()[2]
        kept: list[Entry] = []
        while queue and queue[-1][0] > mark:
            entry = queue.pop()
            if type(entry[1]) in LASTING:
                kept.append(entry)
            else:
                self._size -= entry[2]
        queue.extend(reversed(kept))

    def take(self) -> Event | None:
        """The next event, if one waits and nobody else need run before it is handed out."""
        self.iterated = True
        return self._pop() if self._size and not self._slice.over() else None

    async def get(self) -> Event | None:
        """The next event; ``None`` at the end. Cancelling loses nothing.

        Raises ``ConcurrencyError`` while somebody else waits here.
        """
        self.iterated = True
        if self._size:
            await self._slice.share()
        while not self._size and not self._closed:
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
        return self._pop() if self._size else None

    def _shed(self) -> None:
        """Drop media, oldest first, then the oldest of all, until the bound holds. The newest event stays."""
        if not self.dropped:
            log.warning(
                "events are not read: past %d MiB the oldest are dropped, audio first", self._bound >> 20
            )
        for queue in (self._media, self._others):
            # An interruption is the first, though it may be the newest.
            at = 1 if queue and queue[0][0] == -self._count else 0
            while self._size > self._bound and len(queue) > at and abs(queue[at][0]) < self._count:
                self._size -= queue[at][2]
                del queue[at]
                self.dropped += 1

    def _cut_media(self, mark: int) -> None:
        while self._media and self._media[-1][0] > mark:
            self._size -= self._media.pop()[2]


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
