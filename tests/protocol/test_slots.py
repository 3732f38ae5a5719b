"""Who may run now."""

from __future__ import annotations

from livetools.protocol.events import Call
from livetools.protocol.ledger import Phase, Record, State
from livetools.protocol.slots import Slots
from livetools.protocol.terms import CallPolicy


class Room:
    """Some calls, and the slots they share."""

    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.slots = Slots(self.records)

    def call(self, name: str, concurrency: int | None = None, running: bool = False) -> Record:
        run = len(self.records) + 1
        policy = CallPolicy(name, concurrency=concurrency)
        record = self.records[run] = Record(run, Call(str(run), name), True, policy, 1, 0.0, running=running)
        return record


def test_without_limits_everybody_runs() -> None:
    room = Room()
    room.call("a", running=True)
    assert room.slots.free(room.call("a"), None)


def test_a_limit_of_a_tool_counts_its_own_calls_and_the_sessions_counts_all() -> None:
    room = Room()
    room.call("a", 1, running=True)
    assert not room.slots.free(room.call("a", 1), None)
    assert room.slots.free(room.call("b", 1), None)
    assert not room.slots.free(room.call("b", 1), 1)


def test_a_free_slot_goes_to_the_first_who_may_have_it() -> None:
    room = Room()
    busy = room.call("a", 1, running=True)
    first, other, second = room.call("a", 1), room.call("b", 1), room.call("a", 1)
    for record in (first, other, second):
        room.slots.wait(record)
        assert record.phase is Phase.SLOT
    assert room.slots.next(None) is other, "a full tool does not hold up another"
    other.phase = Phase.HANDLER
    assert room.slots.next(None) is None
    busy.running = False
    assert room.slots.next(None) is first
    first.running, first.phase = True, Phase.HANDLER
    assert room.slots.next(None) is None


def test_a_slot_is_taken_while_its_handler_runs_though_its_call_was_answered() -> None:
    room = Room()
    busy = room.call("a", 1, running=True)
    busy.state = State.PAID
    assert not room.slots.free(room.call("a", 1), None)


def test_who_was_taken_back_while_waiting_gets_no_slot() -> None:
    room = Room()
    gone, next_one = room.call("a", 1), room.call("a", 1)
    room.slots.wait(gone)
    room.slots.wait(next_one)
    gone.state = State.VOID
    assert room.slots.next(None) is next_one
