"""Keeps what happened in a conversation, as JSON, until somebody asks for it.

Most conversations are never read, so a note is cheap to take and to keep: bytes are nothing that the garbage collector
visits. An exchange that is over is one array of its notes; the exchange that runs is a list of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

#: ``[kind, value, ...]``, as :class:`~.placing.Placing` reads it.
Note: TypeAlias = Sequence[Any]

#: Bytes that a note takes beside its text: an object, its place in a list, and what they round up to.
NOTE_OVERHEAD = 64

decode = msgspec.json.decode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode  # the notes of an exchange, not looked into


class Notes:
    """The notes of a conversation by exchanges, which are numbered from 0. ``weight``: what they take, in bytes;
    ``first``: the number of the oldest exchange that is kept; ``running``: that of the one that runs.
    """

    def __init__(self) -> None:
        self.weight = 0
        self.first = self.running = 0
        self._over: list[bytes] = []
        self._running: list[bytes] = []

    def __iter__(self) -> Iterator[Note]:
        for exchange in self._over:
            yield from decode(exchange)
        yield from map(decode, self._running)

    @property
    def alone(self) -> bool:
        """Whether there is no exchange but the one that runs."""
        return not self._over

    def add(self, note: bytes, exchange: int | None = None) -> None:
        """Add a note to the exchange that runs, or to an earlier one; where that is gone, the note has no place."""
        if exchange is None or exchange == self.running:
            self._running.append(note)
            self.weight += len(note) + NOTE_OVERHEAD
        elif exchange >= self.first:
            at = exchange - self.first
            # A late answer is noted in the exchange of its call, so that both are dropped together.
            self._over[at] = self._over[at][:-1] + b"," + note + b"]"
            self.weight += len(note) + NOTE_OVERHEAD
            # Also in the exchange that runs: the model's next call is made with this knowledge.
            self.add(b'["break"]')

    def end(self) -> None:
        """The exchange that runs is over."""
        # An exchange without a note does not count: its number is not used up.
        if self._running:
            self._over.append(b"[" + b",".join(self._running) + b"]")
            self._running = []
            self.running += 1

    def oldest(self, most: int) -> list[bytes]:
        """The first ``most`` notes of the exchange that runs, if it is the only one; else the oldest exchange."""
        if self._over:
            return list(map(bytes, _split(self._over[0])))
        return self._running[:most]

    def drop(self, notes: Sequence[bytes]) -> None:
        """Drop these, which are the oldest: a whole exchange, or the first of the only one."""
        self.weight -= sum(map(len, notes)) + NOTE_OVERHEAD * len(notes)
        if self._over:
            del self._over[0]
            self.first += 1
        else:
            del self._running[: len(notes)]
