"""Who may run now: limits a tool and a session, and the queue of those who wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from .ledger import SERVED, Phase, Record


class Slots:
    """Free slots go to those who wait, in their order; a full tool does not hold up another.

    A slot is free when its handler has ended, not when its call was answered: a thread that runs on after its time
    was up still holds what its limit protects. ``most`` bounds the session.
    """

    def __init__(self, records: Mapping[int, Record]) -> None:
        self._records = records
        self._waiting: deque[Record] = deque()

    def free(self, record: Record, most: int | None) -> bool:
        """Whether the handler of this call may start."""
        limit = record.policy.concurrency if record.policy is not None else None
        if limit is None and most is None:
            return True
        running = [r for r in self._records.values() if r.running]
        if most is not None and len(running) >= most:
            return False
        return limit is None or sum(r.call.name == record.call.name for r in running) < limit

    def wait(self, record: Record) -> None:
        """No slot is free."""
        record.phase = Phase.SLOT
        self._waiting.append(record)

    def next(self, most: int | None) -> Record | None:
        """The first who may start now, if there is one."""
        if not self._waiting:
            return None
        still = [r for r in self._waiting if r.state in SERVED and r.phase is Phase.SLOT]
        chosen = next((r for r in still if self.free(r, most)), None)
        self._waiting = deque(r for r in still if r is not chosen)
        return chosen
