"""Keeps the events that an input has caused until the shell takes them; those that wait for words hear them too."""

from __future__ import annotations

from collections.abc import Sequence

from livetools.events import Event

from .turns.exchange import Said
from .turns.expected_turns import Turns

_NONE: list[Event] = []  # nothing has happened


class Emitter:
    """Every room that has an event puts it here, with :meth:`tell`."""

    def __init__(self, turns: Turns, said: Said) -> None:
        self._turns, self._said = turns, said
        self._events = _NONE

    def tell(self, event: Event) -> None:
        """This has happened. The exchange that listens hears it; else it was said outside of exchanges."""
        if self._events:
            self._events.append(event)
        else:
            self._events = [event]
        # listens, and not sure: the events of a turn that may be the answer are kept until that is known.
        exchange = self._turns.exchange
        if exchange is not None and exchange.listens:
            exchange.hear(event)
        else:
            self._said.hear(event)

    def take(self) -> Sequence[Event]:
        """All of them, in their order, each once."""
        events, self._events = self._events, _NONE
        return events
