"""Calls beside an outbox: what the machine does with answers, without the machine."""

from __future__ import annotations

from collections.abc import Sequence

from livetools.protocol.calls.call_states import Move
from livetools.protocol.calls.calls import Calls
from livetools.protocol.calls.responses import Response
from livetools.protocol.input.resend import Outbox, Write


class Desk:
    """A dispatcher whose answers are handed to a socket as soon as they are taken."""

    def __init__(self, calls: Calls) -> None:
        self.calls, self.outbox = calls, Outbox()

    def take(self) -> Sequence[Response]:
        """The answers that are ready."""
        replies, write = self.calls.replies.take(), Write()
        write.handed = True
        for answer in (answer for reply in replies for answer in (reply, *reply.rest)):
            self.outbox.wrote(answer, write)
            if answer.kind == "answer":
                self.calls.ledger.move(answer.record, Move.WRITE)
        return replies

    def hear(self) -> None:
        """The model speaks: it has read them."""
        self.calls.read(self.outbox.output(0))

    def handle(self) -> None:
        """A handle comes, with the state as it is."""
        self.calls.handed(self.outbox.sent, self.outbox.unseen())

    def cancel(self, ids: list[str], now: float) -> None:
        self.outbox.drop(self.calls.cancel(ids, now))

    def lose(self, now: float) -> None:
        """The connection is gone."""
        self.calls.lose(now, self.outbox.lost())
