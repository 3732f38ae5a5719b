"""What is still to come, asked in one place: of the calls, the turns, the input, and what waits to be written.

Everybody who waits asks here: ``session.pending`` and ``stats()``, ``wait_until_settled``, parking, a planned move of
the connection, and a tool that ends the session. They differ in one thing: a call that runs on without a connection (a
lost one, one in the background) outlives a move.
"""

from __future__ import annotations

from livetools.protocol.calls.call_states import HELD
from livetools.protocol.calls.calls import Calls
from livetools.protocol.connection.dials_and_moves import Snapshot
from livetools.protocol.input.input_queue import InputQueue
from livetools.protocol.input.resend import FOLLOWED, Outbox
from livetools.protocol.turns.expected_turns import Turns

from .send import Dispatch


class Pending:
    """Reads what the rooms hold, and changes nothing."""

    def __init__(
        self, calls: Calls, turns: Turns, input: InputQueue, outbox: Outbox, dispatch: Dispatch
    ) -> None:
        self._calls, self._turns, self._input = calls, turns, input
        self._outbox, self._dispatch = outbox, dispatch

    def names(self) -> list[str]:
        """All of it, in words: open calls, results that are due as text, texts, a turn of the model.

        Sound and video are never in it: nobody can say whether the model will answer them.
        """
        calls = self._calls
        records = calls.records.values()
        named = [f"the call {r.call.name} ({r.call.id})" for r in records if r.state in HELD]
        named += [f"the result of {r.call.name} ({r.call.id})" for r in calls.texts]
        queue = (*self._input.queue, *self._dispatch.unasked)
        if waiting := sum(item.kind in FOLLOWED or item.prompts for item in queue):
            named.append(f"{waiting} of the user's turns, not sent yet")
        if words := self._turns.waiting_for():
            named.append(words)
        return named

    def unfinished(self) -> list[str]:
        """What must be over before the session can continue elsewhere: all of it, and what no handle holds yet."""
        owed = self.names()
        # Lost calls are in the handle as open ones: until their errors are saved, the next process would have to send
        # them.
        owed += [f"the loss of {r.call.name} ({r.call.id})" for r in self._calls.lost]
        if self._input.in_activity:
            owed.append("the end of activity()")
        if self._dispatch.ahead or self._calls.replies.queue:
            owed.append("what goes out first")
        return owed + self.unread()

    def unread(self) -> list[str]:
        """What was sent and would be lost with the connection, in words."""
        unread = [entry for entry in self._outbox.sent if not entry.safe]
        return [f"{len(unread)} messages that may not have been read"] if unread else []

    def said(self) -> bool:
        """Whether the model has spoken of everything that it was given. Calls in the background may run on."""
        return self._turns.idle and not self._calls.ledger.pending and not self._calls.texts

    def snapshot(self) -> Snapshot:
        """What a loss of the connection would cost now."""
        if self._calls.ledger.pending:
            return Snapshot("tool", self._outbox.awaited)
        # An answer that waits to be written must go out on the link that asked: on another one it is ignored.
        busy = self._calls.replies.queue or self._input.queue or self._dispatch.ahead
        return Snapshot("turn" if busy or not self._turns.idle else "idle", self._outbox.awaited)
