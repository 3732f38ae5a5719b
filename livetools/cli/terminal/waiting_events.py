"""The events of a session that a terminal has still to show.

The session never waits for the terminal, which may be slow, or stand still in a prompt. So what waits for it is
bounded: sound and pictures, which it does not show, are not kept, and past the bound the oldest events that are only
shown go, counted. What must be answered, and what says that an answer is over, always stays.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TypeAlias

from livetools.events import AudioChunk, Event, VideoChunk
from livetools.session.running.unread_events import EVENT_OVERHEAD, weight_of

_MAX_WAITING = 16 * 2**20  # bytes
#: The share of the bound that is kept once it is exceeded: each time many events go at once.
_KEPT = 7 / 8


class Sign:
    """An entry that is not an event: an answer is over, or Ctrl-C was pressed."""


#: What is in the queue.
_Entry: TypeAlias = Event | Sign


class WaitingEvents:
    """A queue from the session's loop to the thread of the terminal.

    ``must_stay``: whether somebody has to answer an event, which is then never dropped. ``most``: bytes of events.
    """

    def __init__(self, must_stay: Callable[[Event], bool], most: int = _MAX_WAITING) -> None:
        self._must_stay, self._most = must_stay, most
        self._entries: deque[tuple[_Entry, int]] = deque()  # with their weight
        self._weight = 0
        self._dropped = 0
        self._lock = Lock()
        self._tokens: SimpleQueue[None] = SimpleQueue()  # one for each entry

    def put(self, sign: Sign) -> None:
        """In any thread, and in the handler of a signal, which may interrupt any other method: it takes no lock."""
        self._entries.append((sign, 0))
        self._tokens.put(None)

    def event(self, event: Event) -> None:
        """In the session's loop, for each event."""
        if isinstance(event, AudioChunk | VideoChunk):
            return
        weight = EVENT_OVERHEAD + weight_of(event)
        with self._lock:
            self._entries.append((event, weight))
            self._weight += weight
            if self._weight > self._most:
                self._shed()
        self._tokens.put(None)

    def get(self) -> _Entry:
        """The next entry. In the terminal's thread, which waits for it."""
        while True:
            self._tokens.get()
            with self._lock:
                if self._entries:
                    entry, weight = self._entries.popleft()
                    self._weight -= weight
                    return entry

    def dropped(self) -> int:
        """How many events were dropped since this was asked last."""
        with self._lock:
            dropped, self._dropped = self._dropped, 0
        return dropped

    def _shed(self) -> None:
        for _ in range(len(self._entries)):
            entry, weight = self._entries.popleft()
            if self._weight <= self._most * _KEPT or isinstance(entry, Sign) or self._must_stay(entry):
                self._entries.append((entry, weight))
                continue
            self._weight -= weight
            self._dropped += 1
            with contextlib.suppress(Empty):  # the terminal has taken the token, and waits for the lock
                self._tokens.get_nowait()
