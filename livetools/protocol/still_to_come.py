"""What is still to come, asked in one place: of the calls, the turns, the input, and what waits to be written.

Everybody who waits asks here: ``session.pending`` and ``stats()``, ``wait_until_settled``, parking, a planned move of
the connection, and a tool that ends the session. They differ in one thing: a call that runs on without a connection (a
lost one, one in the background) outlives a move.
"""

from __future__ import annotations

from livetools.protocol.calls.call_states import HELD
from livetools.protocol.connection.dials_and_moves import Snapshot
from livetools.protocol.input.resend import FOLLOWED

from .send import Dispatch


class Pending:
    """Reads what the rooms hold, and changes nothing."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    def names(self) -> list[str]:
        """All of it, in words: open calls, results that are due as text, texts, a turn of the model.

        Sound and video are never in it: nobody can say whether the model will answer them.
        """
        calls = self._dispatch.calls
        records = calls.records.values()
        named = [f"the call {r.call.name} ({r.call.id})" for r in records if r.state in HELD]
        named += [f"the result of {r.call.name} ({r.call.id})" for r in calls.texts]
        queue = (*self._dispatch.input.queue, *self._dispatch.unasked)
        if waiting := sum(item.kind in FOLLOWED or item.prompts for item in queue):
            named.append(f"{waiting} of the user's turns, not sent yet")
        if words := self._dispatch.turns.waiting_for():
            named.append(words)
        return named

    def unfinished(self) -> list[str]:
        """What must be over before the session can continue elsewhere: all of it, and what no handle holds yet."""
        dispatch, owed = self._dispatch, self.names()
        # Lost calls are in the handle as open ones: until their errors are saved, the next process would have to send
        # them.
        owed += [f"the loss of {r.call.name} ({r.call.id})" for r in dispatch.calls.lost]
        if dispatch.input.in_activity:
            owed.append("the end of activity()")
        if dispatch.ahead or dispatch.calls.replies.queue:
            owed.append("what goes out first")
        return owed + self.unread()

    def unread(self) -> list[str]:
        """What was sent and would be lost with the connection, in words."""
        unread = sum(not entry.safe for entry in self._dispatch.outbox.sent)
        return [f"{unread} message{'s' * (unread != 1)} that may not have been read"] if unread else []

    def said(self) -> bool:
        """Whether the model has spoken of everything that it was given. Calls in the background may run on."""
        calls = self._dispatch.calls
        return self._dispatch.turns.idle and not (calls.ledger.waited_for or calls.texts)

    def snapshot(self) -> Snapshot:
        """What a loss of the connection would cost now."""
        dispatch, calls = self._dispatch, self._dispatch.calls
        follows = bool(calls.texts) or any(r.state in HELD for r in calls.records.values())
        if calls.ledger.waited_for:
            return Snapshot("tool", dispatch.outbox.awaited, follows)
        # An answer that waits to be written must go out on the link that asked: on another one it is ignored.
        quiet = dispatch.turns.idle and not (calls.replies.queue or dispatch.input.queue or dispatch.ahead)
        return Snapshot("idle" if quiet else "turn", dispatch.outbox.awaited, follows)
