"""The machine of ``attach``: it only answers calls. It has no connection, no turns and no user input.

It is driven as the :class:`~.session_machine.Machine` is, but its input is handed to it call by call, and every frame
is for link 0. Nobody can be asked to approve a call: one that needs a person is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from livetools.events import Event
from livetools.protocol.calls.actions import Action
from livetools.protocol.calls.calls import Calls
from livetools.protocol.input.resend import Frame, Outbox, Write
from livetools.protocol.messages import outgoing
from livetools.protocol.messages.incoming import FunctionCall
from livetools.protocol.rooms import CallsMachine
from livetools.setup.plan_fields import Plan

LINK = 0  # the number of the only connection, which is the SDK's


class AttachedMachine(CallsMachine):
    """Answers calls, and nothing else. Inputs and outputs are those of a machine."""

    def __init__(self, plan: Plan) -> None:
        self.actions: deque[Action] = deque()
        self.calls = Calls(plan, None, self.actions.append)
        self._outbox = Outbox()

    # Inputs

    def heard(self, asked: Sequence[FunctionCall], cancelled: Sequence[str], now: float) -> None:
        """A message came, with these calls and cancellations in it."""
        # there are no pings, nor turns: what a socket was handed has been read once the model says something
        self.calls.read(self._outbox.output(0))
        if asked:
            self.calls.receive_calls(LINK, self.calls.partial.whole(asked), now)
        if cancelled:
            self._outbox.drop(self.calls.cancel(cancelled, now))

    def lost(self, now: float) -> None:
        """The session has ended: nobody waits for an answer."""
        self.calls.lose(now, self._outbox.lost())

    def judge(self, run: int, verdict: bool | str | None, now: float) -> bool:
        """The word on a call that waits for approval; one that a person must decide on is refused."""
        return self.calls.judge(run, "nobody can be asked" if verdict is True else verdict, now)

    def tick(self, now: float) -> None:
        """Answer the calls whose time is up."""
        self.calls.tick(now)

    def close(self, now: float) -> None:
        """The user is done."""
        self.calls.close(now, self._outbox.lost())

    # Outputs

    def wake_at(self) -> float:
        """When ``tick`` is wanted next; may be early, never late."""
        return self.calls.deadlines.next()

    def frames(self) -> list[Frame]:
        """See :meth:`.session_machine.Machine.frames`."""
        calls = self.calls
        frames: list[Frame] = []
        if calls.replies.queue:
            write, replies = Write(), calls.replies.take()
            for reply in replies:
                for answer in reply.answers:
                    self._outbox.wrote(answer, write)
            if replies:
                write.covers(replies)
                frames += replies
        if calls.texts:
            build = outgoing.realtime_text if self.plan.text_channel == "realtime" else outgoing.user_turn
            frames += [Frame(LINK, build(text)) for _, text in calls.late()]
        return frames

    def events(self) -> Sequence[Event]:
        """There are none: the SDK's messages are what the user sees."""
        return ()
