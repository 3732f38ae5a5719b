"""Asks a connection with pings what the peer has received: what comes behind a pong was sent with knowledge of it.

At most one ping is out. What is written meanwhile shares the next one, which goes out when the pong has come: a pong
covers everything that was written before its ping (RFC 6455, 5.5.3), so it proves no less, only up to a round trip
later. A caller that can wait leaves at least ``APART`` seconds between two pings, and waits no longer
than that for the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

APART = 1.0  # seconds between pings that nobody needs at once


class Counts(Struct, eq=False, gc=False):
    """The messages of one connection, which its reader counts: those that came whole, and those that were taken."""

    messages: int = 0
    taken: int = 0


class PendingPing:
    """A ping. Called, it returns how many messages were taken that came behind its pong; ``None``: no pong came yet."""

    __slots__ = ("_counts", "before", "payload")

    def __init__(self, counts: Counts, payload: bytes) -> None:
        self._counts, self.payload = counts, payload
        self.before: int | None = None  # messages that came before its pong

    def __call__(self) -> int | None:
        return None if self.before is None else max(0, self._counts.taken - self.before)


class Pongs:
    """The pings and pongs of one connection, ``line``: its ``write_ping`` and ``later`` are used."""

    def __init__(self, line: Any, clock: Callable[[], float]) -> None:
        self.counts = Counts()
        self._line, self.clock = line, clock
        self.out: PendingPing | None = None  # was sent, and not answered
        self._next: PendingPing | None = None  # is shared by what was written and not asked about yet
        self._hurry = False  # somebody wants that at once
        self._timed = False  # a timer will send it
        self._not_before = 0.0
        self._count = 0

    def ping(self) -> None:
        """Ask for a sign of life, even if another ping is out."""
        if self.out is not None:
            # That one may not be answered for long, so this one is extra: its empty payload answers no question.
            self._line.write_ping(b"")
        else:
            self._shared()  # a ping that waits is sent now, and serves both
            self.hurry()

    def ask(self, at_once: bool = True) -> tuple[PendingPing, bytes | None]:
        """A ping for the frame that the caller writes next, with nothing in between.

        Returns the ping, and its payload if it goes in the same write (``None``: it is sent later).
        """
        ping = self._shared()
        self._hurry = self._hurry or at_once
        return ping, self._due()

    def hurry(self) -> None:
        """Somebody waits for the next pong: ask as soon as no ping is out."""
        self._hurry = self._next is not None
        self._go_on()

    def answer(self, payload: bytes) -> bool:
        """A pong came; whether it answers a ping of ours."""
        # A pong without a ping of ours is lawful (RFC 6455, 5.5.3), and says nothing.
        if self.out is None or self.out.payload != payload:
            return False
        # The count of this moment: messages that came before the pong were sent before our frame had arrived.
        self.out.before = self.counts.messages
        self.out = None
        self._go_on()
        return True

    def _go_on(self) -> None:
        if (payload := self._due()) is not None:
            self._line.write_ping(payload)

    def _due(self) -> bytes | None:
        """The payload of the next ping, which is out from now on, if it is to be written now. Else a timer is set."""
        # What is written while a ping is out shares the next one.
        if self.out is not None or self._next is None:
            return None
        if self._hurry or self.clock() >= self._not_before:
            self.out, self._next, self._hurry = self._next, None, False
            self._not_before = self.clock() + APART
            return self.out.payload
        if not self._timed:
            self._timed = True
            # Not as soon as it is allowed: where frames come in a row, the next one carries the ping before that.
            self._line.later(APART, self._timer)
        return None

    def _timer(self) -> None:
        self._timed = False
        self._go_on()

    def _shared(self) -> PendingPing:
        """The ping that waits to be sent: what is written now shares it."""
        if self._next is None:
            self._count += 1
            self._next = PendingPing(self.counts, b"%d" % self._count)
        return self._next
