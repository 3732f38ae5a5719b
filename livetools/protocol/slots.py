"""Limits how many handlers run at once, for each tool and for the session; the others queue."""

from __future__ import annotations

from collections import deque
from itertools import count

from .ledger import SERVED, Phase, Record


class Slots:
    """The handlers that run, counted, and the calls that wait for a slot, a queue a tool.

    A handler holds the ``concurrency`` of its tool until it has ended: a thread that runs on after its time was up
    still holds what that limit protects. It holds a slot of the session (``max_concurrency``) only while its call
    waits for it: a handler whose call is over, or that works in the background, keeps nobody else from running.

    Free slots go to those who wait, in their order; a full tool does not hold up another. Every method costs the
    same, however many calls run or wait; :meth:`next` looks once at each tool that has calls waiting.
    """

    def __init__(self) -> None:
        self._running: dict[str, int] = {}  # handlers of a tool
        self.held: set[int] = set()  # to be read: runs that hold a slot of the session
        self.waiting: dict[str, deque[tuple[int, Record]]] = {}  # to be read: the queue of each tool
        self._numbers = count()

    def free(self, record: Record, most: int | None) -> bool:
        """Whether the handler of this call may start, in a session of ``most`` slots."""
        policy = record.policy
        if policy is None:
            return True
        if most is not None and len(self.held) >= most and policy.takes_slot and not policy.background:
            return False
        return policy.concurrency is None or self._running.get(record.call.name, 0) < policy.concurrency

    def start(self, record: Record) -> None:
        """The handler starts."""
        name, policy = record.call.name, record.policy
        self._running[name] = self._running.get(name, 0) + 1
        if policy is None or (policy.takes_slot and not policy.background):
            self.held.add(record.run)

    def release(self, record: Record) -> bool:
        """Nobody waits for this handler any more: the session does not count it. Whether it did until now."""
        held = record.run in self.held
        self.held.discard(record.run)
        return held

    def end(self, record: Record) -> None:
        """The handler has ended."""
        self.held.discard(record.run)
        left = self._running.pop(record.call.name) - 1
        if left:
            self._running[record.call.name] = left

    def wait(self, record: Record) -> None:
        """No slot is free."""
        record.phase = Phase.SLOT
        self.waiting.setdefault(record.call.name, deque()).append((next(self._numbers), record))

    def next(self, most: int | None) -> Record | None:
        """The first that may start now, taken out of its queue; ``None`` if there is none."""
        chosen: tuple[int, Record] | None = None
        for name, queue in list(self.waiting.items()):
            while queue and not _waits(queue[0][1]):
                queue.popleft()
            if not queue:
                del self.waiting[name]
            elif (chosen is None or queue[0][0] < chosen[0]) and self.free(queue[0][1], most):
                chosen = queue[0]
        if chosen is None:
            return None
        record = chosen[1]
        self.waiting[record.call.name].popleft()
        return record


def _waits(record: Record) -> bool:
    """Whether the call still wants its slot: it was not cancelled, refused or closed meanwhile."""
    return record.state in SERVED and record.phase is Phase.SLOT
