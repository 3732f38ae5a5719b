"""The queue of turns of one conversation."""

from __future__ import annotations

from collections import deque

from livetools.testing.model.turn import Turn


class TurnQueue:
    """Whose turn it is: one turn speaks, others wait for it to end.

    A turn gives its place up when it ends, when it waits for a ``NON_BLOCKING`` call, and when the client interrupts.
    """

    def __init__(self) -> None:
        self.speaker: Turn | None = None
        self.waiting: deque[Turn] = deque()
        self.away: set[Turn] = set()  # they wait for an answer, and will speak of it
        self.begun = False  # the model had a turn
        self.ending = False  # the turn is ending on the wire: there is nothing left to interrupt

    def start(self, turn: Turn) -> None:
        """This turn speaks now."""
        self.speaker, self.begun = turn, True

    def next(self) -> Turn | None:
        """The next in line, if nobody speaks."""
        return self.waiting.popleft() if self.waiting and self.speaker is None else None

    @property
    def empty(self) -> bool:
        return self.speaker is None and not self.waiting

    def clear(self) -> None:
        """End every turn, because the client has gone. A turn raises when it next does something."""
        for turn in [*self.waiting, *filter(None, [self.speaker])]:
            turn.over = True
            if turn.wake is not None:
                turn.wake.set()
        self.waiting.clear()
        self.speaker = None
