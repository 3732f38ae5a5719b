"""Each room of the core writes its own attributes, and the shell reads the machine through its view."""

from __future__ import annotations

import pytest
from support.rooms import OTHER, Code, foreign_writes, reaches

#: Whose attributes others may write, and why.
FILLED_IN = {
    "Outcome": "the record of a handler's end: those that run it fill it in, before it is handed to the machine",
}
#: What a machine hands out: values, and not rooms of it; and the transcript, which is the shell's, and handed to it.
VALUES = frozenset(
    {"Plan", "Item", "Exchange", "OutputSinceAsk", "Receipt", "OutFrame", "Loss", "Record", "Transcript"}
)
#: A machine of its own, and not the shell.
MACHINE = "attach/attached_machine.py"


@pytest.fixture(scope="module")
def code() -> Code:
    return Code.of_the_core()


def test_an_attribute_is_written_only_by_the_room_of_its_class(code: Code) -> None:
    found = [line for line in foreign_writes(code) if line.rpartition("(")[2][:-1] not in FILLED_IN]
    assert found == []


def test_the_shell_asks_the_view_of_a_machine_and_none_of_its_rooms(code: Code) -> None:
    held = {one for name in ("View", "Machine") for one in _held(code, name)}
    rooms = frozenset(held - VALUES - {OTHER})
    assert {
        "Calls",
        "Turns",
        "InputQueue",
        "Outbox",
        "Connection",
        "Parking",
        "Reception",
        "Dispatch",
    } <= rooms
    found = [line for line in reaches(code, rooms, ("session/", "attach/")) if not line.startswith(MACHINE)]
    assert found == []


def _held(code: Code, name: str) -> set[str]:
    """What the attributes of a class, which are not its methods, are objects of."""
    return {one for types in code.classes[name].types.values() for one in types}


TURNS = """
class Turns:
    def __init__(self) -> None:
        self.most = 0
        self.queue: list[Turn] = []

class Turn:
    until: float = 0.0
"""
MACHINE_OF_TURNS = """
class Machine:
    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    def move(self) -> None:
        {}
"""
SHELL = """
M = TypeVar("M", bound=Driven)

class Driver(Generic[M]):
    def __init__(self, machine: M) -> None:
        self.machine = machine

class SessionDriver(Driver[Machine]):
    def step(self) -> None:
        {}
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.turns.most += 1",
        "turns = self.turns; turns.most = 1",
        "self.turns.queue[0].until = 1.0",
        "for turn in self.turns.queue: turn.until = 1.0",
        "self.turns.queue.clear()",
        "turn = self.turns.queue[0]; turn.until = 1.0",
        "del self.turns.most",
    ],
)
def test_a_write_of_another_room_is_found(line: str) -> None:
    code = Code(
        {
            "protocol/turns/expected_turns.py": TURNS,
            "protocol/session_machine.py": MACHINE_OF_TURNS.format(line),
        }
    )
    assert len([*foreign_writes(code)]) == 1


def test_a_write_of_its_own_room_is_none() -> None:
    other = MACHINE_OF_TURNS.format("self.turns.most += 1; self.turns.queue.clear()")
    code = Code({"protocol/turns/expected_turns.py": TURNS, "protocol/turns/other.py": other})
    assert [*foreign_writes(code)] == []


@pytest.mark.parametrize(
    "line", ["print(self.machine.turns.most)", "turns = self.machine.turns; print(turns.most)"]
)
def test_a_look_into_a_room_of_the_machine_is_found(line: str) -> None:
    sources = {
        "protocol/turns/expected_turns.py": TURNS,
        "protocol/session_machine.py": MACHINE_OF_TURNS.format("pass"),
    }
    code = Code({**sources, "session/driver.py": SHELL.format(line)})
    assert len([*reaches(code, frozenset({"Turns"}), ("session/",))]) == 1
