"""Limits how many handlers run at once, for each tool and for the session; the others queue."""

from __future__ import annotations

from collections import deque

from .call_states import SERVED, Phase, Record


class Concurrency:
    """The handlers that run, counted, and the calls that wait for a slot, a queue a tool.

    A handler holds the ``concurrency`` of its tool until it has ended: a thread that runs on after its time was up
    still holds what that limit protects. It holds a slot of the session (``max_concurrency``) only while its call
    waits for it: a handler whose call is over, or that works in the background, keeps nobody else from running.

    Free slots go to those who wait, in their order; a full tool does not hold up another. Every method costs the
    same, however many calls run or wait; :meth:`next` looks once at each tool that has calls waiting.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most  # handlers that hold a slot of the session
        self._running: dict[str, int] = {}  # handlers of each tool that has a limit
        self.held: set[int] = set()  # read-only from outside: runs that hold a slot of the session
        # Read-only from outside: the queue of each tool.
        self.waiting: dict[str, deque[Record]] = {}

    def take(self, record: Record) -> bool:
        """Give the handler of this call a slot, if one is free. Whether it may start."""
        policy, most = record.policy, self._most
        # Work in the background may take for as long as it likes, and must not keep the answers from running that the
        # model waits for.
        if policy.takes_slot and most is not None and len(self.held) >= most:
            return False
        # Nothing is taken before both limits allow it, so nothing has to be given back.
        if policy.concurrency is not None:
            running = self._running.get(record.call.name, 0)
            if running >= policy.concurrency:
                return False
            self._running[record.call.name] = running + 1
        if policy.takes_slot:
            self.held.add(record.run)
        return True

    def release(self, record: Record) -> None:
        """Nobody waits for this handler any more: the session does not count it."""
        self.held.discard(record.run)

    def keeps_out(self, run: int) -> bool:
        """Whether this handler holds a slot of the session that a BLOCKING call waits for. Another handler may free one
        first: see :meth:`needs_end_of`."""
        if run not in self.held or self._most is None or len(self.held) < self._most:
            return False
        # Only a BLOCKING call: for the others the model does not stop.
        return any(record.blocks and _waits(record) for queue in self.waiting.values() for record in queue)

    def needs_end_of(self, handler: Record, record: Record) -> bool:
        """Whether this call can start only when that handler has ended: it waits for a slot, and nobody else can free
        one."""
        # With more slots than one another handler may end first.
        session = record.policy.takes_slot and self._most == 1 and handler.run in self.held
        # A handler whose tool had no limit when it was called is not counted.
        counted = handler.running and handler.policy.concurrency is not None
        tool = counted and record.policy.concurrency == 1 and handler.call.name == record.call.name
        return _waits(record) and (session or tool)

    def end(self, record: Record) -> None:
        """The handler has ended."""
        self.held.discard(record.run)
        if record.policy.concurrency is not None:
            self._running[record.call.name] -= 1

    def wait(self, record: Record) -> None:
        """No slot is free."""
        record.phase = Phase.SLOT
        # Each tool has its own queue, so that a full one is looked at once.
        self.waiting.setdefault(record.call.name, deque()).append(record)

    def next(self) -> Record | None:
        """The first that may start now, with its slot, taken out of its queue; ``None`` if no call may start."""
        for name, queue in list(self.waiting.items()):
            # Calls that were cancelled while they waited are dropped here: removing them at once would search the
            # queue.
            while queue and not _waits(queue[0]):
                queue.popleft()
            if not queue:
                del self.waiting[name]
        # In the order of their calls, over all tools.
        for queue in sorted(self.waiting.values(), key=lambda queue: queue[0].run):
            if self.take(queue[0]):
                return queue.popleft()
        return None


def _waits(record: Record) -> bool:
    """Whether the call still wants its slot: it was not cancelled, refused or closed meanwhile."""
    return record.state in SERVED and record.phase is Phase.SLOT
