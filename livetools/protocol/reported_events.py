"""Keeps the events that an input has caused until the shell takes them; those that wait for words hear them too.

A loop leaves at ``TurnComplete`` when nothing is pending. What was pending at the last one may end without another
turn: a doubt that silence settles, a result that the model does not speak of, a call that is cancelled. Then a
``TurnComplete`` reports that.
"""

from __future__ import annotations

from collections.abc import Sequence

from livetools.events import SETTLED, Event, TurnComplete

from .still_to_come import Pending
from .turns.exchange import SAID, OutputSinceAsk
from .turns.expected_turns import Turns


class Emitter:
    """The events of one machine. Each of its parts reports with :meth:`tell`; the shell takes them all at once."""

    def __init__(self, turns: Turns, said: OutputSinceAsk) -> None:
        self._turns, self._said = turns, said
        self._events: list[Event] = []
        self._open = False  # something was pending at the last TurnComplete, and is still

    def tell(self, event: Event) -> None:
        """This has happened. The exchange that listens hears it; else it was said outside of exchanges."""
        self._events.append(event)
        if type(event) not in SAID:
            return
        # ``listens`` decides, not ``sure``: what may be the answer is kept until it is known whose it is.
        exchange = self._turns.exchange
        if exchange is not None and exchange.listens:
            exchange.hear(event)
        else:
            self._said.hear(event)

    def take(self, pending: Pending | None) -> Sequence[Event]:
        """All of them, in their order, each once; ``pending``: what is still to come, ``None`` after the end."""
        events, self._events = self._events, []
        ended = TurnComplete in map(type, events)
        # Names are made only where they can matter: this is asked after every input.
        if pending is not None and (ended or self._open):
            was_open, self._open = self._open, bool(pending.names())
            if was_open and not (self._open or ended):
                return (*events, TurnComplete(SETTLED))
        return events
