"""Counts the pongs of a connection: what came behind one was sent after the peer had read what precedes our ping."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from websockets.frames import Frame, Opcode

UNANSWERED = 64  # pings that may wait for their pongs; further ones would only pile up


class Messages:
    """The messages of one connection. ``taken``: those that its reader was given."""

    taken = 0


class Ping:
    """A ping; called, it says how many messages were taken that came behind its pong, ``None`` before that came."""

    def __init__(self, messages: Messages, payload: bytes) -> None:
        self.payload = payload
        self._messages = messages
        self._messages_before: int | None = None  # its pong

    def __call__(self) -> int | None:
        return None if self._messages_before is None else max(0, self._messages.taken - self._messages_before)

    def answered(self, messages: int) -> None:
        """The pong came, behind so many messages."""
        self._messages_before = messages


class Pongs(Messages):
    """One connection's messages and pongs."""

    def __init__(self) -> None:
        self.taken = 0
        self.messages = 0  # that came whole
        self._pings: list[Ping] = []
        self._numbers: Iterator[int] = itertools.count(1)

    def ask(self) -> Ping | None:
        """A ping that is to be sent; ``None``: too many are unanswered."""
        if len(self._pings) >= UNANSWERED:
            return None
        ping = Ping(self, b"%d" % next(self._numbers))
        self._pings.append(ping)
        return ping

    def came(self, event: object) -> None:
        """Something came. A pong answers the pings before its own too (RFC 6455, 5.5.3)."""
        if not isinstance(event, Frame):
            return
        if event.opcode is Opcode.PONG:
            self._answered(bytes(event.data))
        elif event.fin and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self.messages += 1

    def _answered(self, payload: bytes) -> None:
        if any(ping.payload == payload for ping in self._pings):  # else nobody has asked for it
            answered = None
            while answered != payload:
                ping = self._pings.pop(0)
                ping.answered(self.messages)
                answered = ping.payload
