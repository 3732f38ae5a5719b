"""Keeps the changes of a session (other instructions, other tools, another agent) that take another connection.

A change goes with the setup of the next connection. Until that is open the model calls what it knows, and further
changes may come.
"""

from __future__ import annotations

from typing import TypeAlias

from livetools.events import Event
from livetools.protocol.input.resend import Receipt
from livetools.setup.plan_fields import Plan

#: Who waits for a change, and the event that tells it.
Change: TypeAlias = tuple[Receipt, Event | None]


class PlanChanges:
    """The changes that are ``waiting`` (read-only from outside). ``next``: the plan with all of them."""

    def __init__(self, plan: Plan) -> None:
        self.next = plan
        self._sent = plan  # of the setup that was sent last
        self.waiting: tuple[Change, ...] = ()
        self._carried = 0  # how many of them that setup has

    def want(self, plan: Plan, *changes: Change) -> None:
        """The next setup has this plan; ``changes`` wait for that."""
        self.next, self.waiting = plan, (*self.waiting, *changes)

    def send(self) -> Plan:
        """A setup is sent. Returns its plan."""
        self._sent, self._carried = self.next, len(self.waiting)
        return self._sent

    def made(self) -> tuple[Plan, tuple[Change, ...]]:
        """The connection of that setup is open. Returns its plan, and the changes that the model knows now."""
        # What was changed after the setup had gone out waits on.
        made, self.waiting = self.waiting[: self._carried], self.waiting[self._carried :]
        return self._sent, made

    def awaits(self, receipt: Receipt) -> bool:
        """Whether this is the receipt of a change that waits."""
        return any(waits is receipt for waits, _ in self.waiting)

    def fail(self, error: Exception) -> None:
        """None of them will be made, for this reason."""
        for receipt, _ in self.waiting:
            receipt.end(error)
        self.waiting = ()
