"""Who may run now."""

from __future__ import annotations

from livetools.events import Call
from livetools.protocol.calls.call_states import CallState, Phase, Record
from livetools.protocol.calls.concurrency import Concurrency
from livetools.setup.plan_fields import CallPolicy


class Room:
    """Some calls, and the slots they share."""

    def __init__(self, most: int | None = None) -> None:
        self.runs = 0
        self.slots = Concurrency(most)

    def call(self, name: str, concurrency: int | None = None, *, background: bool = False) -> Record:
        self.runs += 1
        policy = CallPolicy(name, concurrency=concurrency, background=background, takes_slot=not background)
        return Record(self.runs, Call(str(self.runs), name), policy, 1, 0.0)

    def running(self, name: str, concurrency: int | None = None, *, background: bool = False) -> Record:
        record = self.call(name, concurrency, background=background)
        assert self.slots.take(record)
        return record

    def has_one_for(self, record: Record) -> bool:
        """Whether a slot is free for this call, which leaves it so."""
        if not self.slots.take(record):
            return False
        self.slots.end(record)
        return True


def test_without_limits_everybody_runs() -> None:
    room = Room()
    room.running("a")
    assert room.has_one_for(room.call("a"))


def test_a_limit_of_a_tool_counts_its_own_calls_and_the_sessions_counts_all() -> None:
    room = Room(2)
    room.running("a", 1)
    assert not room.has_one_for(room.call("a", 1))
    assert room.has_one_for(room.call("b", 1))
    room.running("b")
    assert not room.has_one_for(room.call("c"))


def test_a_free_slot_goes_to_the_first_who_may_have_it() -> None:
    room = Room()
    busy = room.running("a", 1)
    first, other, second = room.call("a", 1), room.call("b", 1), room.call("a", 1)
    for record in (first, other, second):
        room.slots.wait(record)
        assert record.phase is Phase.SLOT
    assert room.slots.next() is other, "a full tool does not hold up another"
    assert room.slots.next() is None
    room.slots.end(busy)
    assert room.slots.next() is first
    assert room.slots.next() is None


def test_those_who_wait_for_a_slot_of_the_session_get_it_in_their_order_over_all_tools() -> None:
    room = Room(1)
    busy = room.running("x")
    waiting = [room.call(name) for name in "babcab"]
    for record in waiting:
        room.slots.wait(record)
    for record in waiting:
        assert room.slots.next() is None
        room.slots.end(busy)
        assert room.slots.next() is record
        busy = record


def test_a_handler_whose_call_is_over_holds_its_tool_and_no_slot_of_the_session() -> None:
    room = Room(1)
    busy = room.running("a", 1)
    assert not room.has_one_for(room.call("b"))
    room.slots.release(busy)
    assert not room.has_one_for(room.call("a", 1))
    assert room.has_one_for(room.call("b"))
    room.slots.end(busy)
    assert room.has_one_for(room.call("a", 1))


def test_a_background_handler_holds_its_tool_and_no_slot_of_the_session() -> None:
    room = Room(1)
    room.running("a", 1, background=True)
    assert room.has_one_for(room.call("b"))
    assert not room.has_one_for(room.call("a", 1, background=True))
    room.running("b")
    assert room.has_one_for(room.call("c", background=True)), "it takes none, so it needs none"


def test_who_was_taken_back_while_waiting_gets_no_slot() -> None:
    room = Room()
    gone, next_one = room.call("a", 1), room.call("a", 1)
    room.slots.wait(gone)
    room.slots.wait(next_one)
    gone.state = CallState.VOID
    assert room.slots.next() is next_one


def test_a_call_needs_the_end_of_the_one_handler_that_holds_what_it_waits_for() -> None:
    room = Room(1)
    asker = room.running("a", 1)
    asker.running = True
    same, other = room.call("a", 1), room.call("b")
    for record in (same, other):
        assert not room.slots.needs_end_of(asker, record), "it does not wait"
        room.slots.wait(record)
    assert room.slots.needs_end_of(asker, other)
    room.slots.release(asker)
    assert not room.slots.needs_end_of(asker, other)
    assert room.slots.needs_end_of(asker, same), "it holds its tool to the end"
    same.state = CallState.VOID
    assert not room.slots.needs_end_of(asker, same)


def test_of_two_slots_of_the_session_somebody_else_can_free_one() -> None:
    room = Room(2)
    asker, _ = room.running("a"), room.running("b")
    record = room.call("c")
    room.slots.wait(record)
    assert not room.slots.needs_end_of(asker, record)


def test_a_handler_from_before_its_tool_had_a_limit_keeps_nobody_waiting() -> None:
    """``update`` has changed the tool; somebody else can free the slot that there is now."""
    room = Room()
    asker, other = room.running("a"), room.running("a", 1)
    asker.running = other.running = True
    record = room.call("a", 1)
    room.slots.wait(record)
    assert not room.slots.needs_end_of(asker, record)
    assert room.slots.needs_end_of(other, record)
