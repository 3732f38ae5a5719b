"""The queue of events between the reader and the user's loop. It is bounded in bytes; the reader never waits.

Past the bound audio and video go first, oldest first, then the oldest of all; so with nobody iterating the newest
events are kept. ``interrupted`` takes back those of its turn that were not handed out yet, and overtakes
everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeAlias

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
#: What of an event may be large. The rest of it is in ``EVENT_OVERHEAD``, and so is an event that is not named here.
WEIGHED: Mapping[type[Event], Callable[[Event], Any]] = {
    **dict.fromkeys((events.TextChunk, events.ThoughtChunk), attrgetter("text")),
    **dict.fromkeys((events.AudioChunk, events.VideoChunk), attrgetter("data")),
    **dict.fromkeys((events.InputTranscript, events.OutputTranscript), attrgetter("text", "words")),
    **dict.fromkeys((events.ToolStarted, events.ApprovalRequested), attrgetter("call.args")),
    **dict.fromkeys((events.ToolCancelled, events.ToolLost), attrgetter("call.args")),
    events.ToolProgress: attrgetter("call.args", "value"),
    events.ToolFinished: attrgetter("call.args", "response"),
    events.UsageUpdate: attrgetter("usage.raw"),
    events.CodeChunk: attrgetter("code"),
    events.Grounding: attrgetter("metadata"),
    events.UnknownMessage: attrgetter("raw"),
}
#: Values inside an event that are weighed, at most: a value that holds itself has no end.
LOOKED = 10_000
PLAIN = frozenset({type(None), bool, int, float})
TEXTS, MAPPINGS, SEQUENCES = (str, bytes), (dict, MappingProxyType), (list, tuple)
#: The share of the bound that is kept once it is exceeded. Shedding walks through the whole queue, so it makes
#: room for many events at once.
SHED_TO = 7 / 8

#: The number of an event, the event, and its weight in bytes.
Entry: TypeAlias = tuple[int, Event, int]


class UnreadEvents:
    """The events that wait for ``async for``. Made in the loop that it serves.

    They stand in their order, behind the interruptions. ``dropped`` counts the events that went, past the bound.
    """

    def __init__(self, bound: int = MAX_UNREAD) -> None:
        self._bound = bound
        self._queue: deque[Entry] = deque()
        self._size = 0  # what they weigh
        self.count = 0  # read-only from outside: events that came, the number of the newest
        self._turn = 0  # the number of the last event that ended a turn or cut it off
        self._wake = make_wake()
        self._slice = TimeSlice()
        self._awaited = False  # somebody waits, or was woken and has not run yet
        self.iterated = False  # read-only from outside: somebody has asked for an event
        self._closed = False
        self._why: Callable[[], Exception] | None = None  # raised once, behind the last event
        self.dropped = 0

    def put(self, coming: Sequence[Event]) -> None:
        """Take events; never waits."""
        queue, awaited, weight = self._queue, self._awaited, 0
        wakes = awaited and not queue  # where events wait already, the reader was woken for them
        for number, event in enumerate(coming, self.count + 1):
            if not awaited:  # a reader that waits takes it at once: then its size does not matter
                weight = EVENT_OVERHEAD + weight_of(event)
                self._size += weight
            kind = type(event)
            if kind is Interrupted:
                self._take_back(self._turn, MEDIA_EVENTS.__contains__)
                queue.appendleft((number, event, weight))
            else:
                queue.append((number, event, weight))
            if kind in ENDS_TURN:
                self._turn = number
        self.count += len(coming)
        if self._size > self._bound:
            self._shed()
        if wakes:
            self._wake.set()

    def close(self, why: Callable[[], Exception] | None = None) -> None:
        """No more events will come. Those that wait are still handed out; behind them it raises, once, what ``why``
        gives."""
        self._closed, self._why = True, why
        self._wake.set()

    def forget(self, mark: int) -> None:
        """Drop the events of turns after ``mark``, an earlier ``count``, which ``ask`` has returned, if nobody has ever
        iterated."""
        if self.iterated:
            return
        # From the newest on, and the interruptions in front: what earlier turns have left is not looked at again.
        self._take_back(mark, lambda kind: kind not in LASTING)
        while self._queue and self._queue[0][0] > mark and type(self._queue[0][1]) is Interrupted:
            self._size -= self._queue.popleft()[2]

    async def next(self) -> Event:
        """The next event. Where one waits, others run only if it is time for them. Cancelling loses nothing.

        Raises ``StopAsyncIteration`` at the end, and ``ConcurrencyError`` while somebody else waits here.
        """
        self.iterated = True
        if self._queue and self._slice.over():
            await self._slice.share()
        while not self._queue:
            if self._closed:
                why, self._why = self._why, None
                raise StopAsyncIteration if why is None else why()
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
        _, event, weight = self._queue.popleft()
        self._size -= weight
        return event

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
        least, newest = self._bound * SHED_TO, self.count
        self.dropped += self._drop(
            lambda number, kind: self._size > least and number < newest and kind in MEDIA_EVENTS
        )
        if self._size > self._bound:
            self.dropped += self._drop(lambda number, kind: self._size > least and number < newest)

    def _drop(self, goes: Callable[[int, type[Event]], bool]) -> int:
        """Remove each event for which ``goes(number, class)`` is true, asked from the oldest on. How many went."""
        queue, self._queue = self._queue, deque()
        for number, event, weight in queue:
            if goes(number, type(event)):
                self._size -= weight
            else:
                self._queue.append((number, event, weight))
        return len(queue) - len(self._queue)


def weight_of(event: Event) -> int:
    """About how many bytes an event holds: its texts, and the results and messages in it.

    A tool's progress may be any object of the user's: one that will not be looked at weighs nothing.
    """
    if (large := WEIGHED.get(type(event))) is None:
        return 0
    size = 0
    values = [large(event)]
    for value in islice(values, LOOKED):  # the list grows meanwhile: what is in a value is put at its end
        kind = type(value)
        if kind is str:  # what most values are goes first
            size += len(value)
        elif kind is dict:
            values += value.values()
        elif kind not in PLAIN:
            size += _look(value, values)
    return size + EVENT_OVERHEAD * (len(values) - 1)


def _look(value: Any, values: list[Any]) -> int:
    """The length of a text; what is in another value is put at the end of ``values``."""
    kind = type(value)
    try:
        if issubclass(kind, TEXTS):  # not isinstance: it would ask the value
            return len(value)
        if issubclass(kind, MAPPINGS):
            values += value.values()
        elif issubclass(kind, SEQUENCES):
            values += value
        elif hasattr(kind, "__dataclass_fields__"):
            values += [getattr(value, name) for name in kind.__dataclass_fields__]
    except Exception:
        log.debug("a %s could not be weighed", kind.__name__)
    return 0
