"""The machine of ``attach``: it only answers calls. It has no connection, no turns and no user input.

It is driven as the :class:`~.session_machine.Machine` is, but its input is handed to it call by call, and every frame
is for link 0. Nobody can be asked to approve a call: one that needs a person is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from livetools.events import Event
from livetools.protocol.calls import wording
from livetools.protocol.calls.call_states import Move
from livetools.protocol.calls.calls import Calls
from livetools.protocol.calls.driver_actions import Action
from livetools.protocol.input.resend import Outbox, OutFrame, Write
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.incoming import FunctionCall
from livetools.setup.plan_fields import Plan

LINK = 0  # the number of the only connection, which is the SDK's


class AttachedMachine(Calls):
    """The calls alone, with the outputs of a machine. What a handler tells is an input of the calls themselves."""

    def __init__(self, plan: Plan) -> None:
        self.actions: deque[Action] = deque()
        super().__init__(plan, None, self.actions.append)
        self._outbox = Outbox()

    # Inputs

    def heard(self, asked: Sequence[FunctionCall], ids: Sequence[str], now: float, says: bool = True) -> None:
        """A message came, with these calls, and with the ``ids`` of those that it cancels. ``says``: the model says
        something in it."""
        # There are no pings and no turns here: what the SDK was handed has been read once the model says anything.
        # A cancellation by itself, or an interruption, shows nothing: they may have crossed the answer.
        if asked or says:
            self.read(self._outbox.output(0))
        if asked:
            self.receive_calls(LINK, self.partial.whole(asked), now)
        if ids:
            self._outbox.drop(self.cancel(ids, now))

    def gone(self, now: float) -> None:
        """The session has ended: nobody waits for an answer."""
        self.lose(now, self._outbox.lost())

    def judge(self, run: int, verdict: bool | str | None, now: float) -> bool:
        """The word on a call that waits for approval; one that a person must decide on is refused."""
        return super().judge(run, wording.NOBODY_TO_ASK if verdict is True else verdict, now)

    def close(self, now: float, unread: Iterable[OutFrame] = ()) -> None:
        """The user is done. ``unread`` is not used: the outbox of this machine knows it."""
        super().close(now, self._outbox.lost())

    # Outputs

    def frames(self) -> list[OutFrame]:
        """See :meth:`.session_machine.Machine.frames`."""
        frames: list[OutFrame] = []
        if self.replies.queue:
            write, messages = Write(), self.replies.take()
            for first in messages:
                for answer in (first, *first.rest):
                    self._outbox.wrote(answer, write)
                    if answer.kind == "answer":
                        self.ledger.move(answer.record, Move.WRITE)
            if messages:
                write.ends_with(messages[-1])
                frames += messages
        if self.texts:
            frames += [
                OutFrame("text", outgoing.text(text, self.plan.text_channel)) for _, text in self.late()
            ]
        return frames

    def events(self) -> Sequence[Event]:
        """There are none: the SDK's messages are what the user sees."""
        return ()
