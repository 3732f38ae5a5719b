"""Deadlines of calls, as a heap. A deadline that was moved is skipped when it comes up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from math import inf

from .call_states import SERVED, Record


class Deadlines:
    """The deadlines of the calls in ``records`` (by run); a call that is not served any more has none."""

    def __init__(self, records: Mapping[int, Record]) -> None:
        self._records = records
        self._heap: list[tuple[float, int]] = []

    def set(self, record: Record, deadline: float) -> None:
        """The call expires then (``inf``: never), and with it those that share its run."""
        record.deadline = deadline
        if deadline < inf:
            heappush(self._heap, (deadline, record.run))
        # A follower has the deadline of the handler that it waits for, not of the moment at which it was made.
        for follower in record.followers:
            self.set(follower, deadline)

    def expired(self, now: float) -> Iterator[Record]:
        """The calls whose time is up, in the order of their deadlines; each is taken once."""
        while self.next() <= now:
            yield self._records[heappop(self._heap)[1]]

    def next(self) -> float:
        """The earliest deadline."""
        while self._heap:
            deadline, run = self._heap[0]
            record = self._records.get(run)
            # An entry whose deadline was moved since is not the record's any more. It is dropped when it comes up: a
            # heap cannot take out what is in its middle.
            if record is not None and record.deadline == deadline and record.state in SERVED:
                return deadline
            heappop(self._heap)
        return inf
