"""Leases: who says nothing for too long is taken over, and who is alive is not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

import sqlalchemy as sa

from livetools.integrations import leases
from livetools.integrations.leases import Leases


class Process:
    """One that holds a lease, and takes over."""

    def __init__(self, database: str, name: str, seconds: float, left: int = 0) -> None:
        self.taken: list[str] = []
        self.took = threading.Event()
        self._left = left  # looks after which nothing of a dead one is left
        self.leases = Leases(database, name, seconds, self._take)
        self.leases.begin()

    def _take(self, executor: str) -> bool:
        self.taken.append(executor)
        self.took.set()
        return len(self.taken) > self._left


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'leases.sqlite'}"


@pytest.fixture
def alive(database: str) -> Iterator[Process]:
    process = Process(database, "alive", 0.3, left=1)
    yield process
    process.leases.end()


def test_one_that_is_dead_is_taken_over_until_nothing_is_left_of_it(database: str, alive: Process) -> None:
    dead = Process(database, "dead", 0.3)
    dead.leases.end()
    assert alive.took.wait(20)
    while len(alive.taken) < 2:
        time.sleep(0.01)
    time.sleep(0.5)  # two more looks
    assert alive.taken == ["dead", "dead"]


def test_one_that_is_alive_is_left_alone(database: str, alive: Process) -> None:
    other = Process(database, "other", 60.0)
    time.sleep(0.7)
    assert (alive.taken, other.taken) == ([], [])
    other.leases.end()
    assert not alive.took.wait(0.5)  # its lease has not ended yet


def test_two_processes_that_start_at_once_both_hold_a_lease(database: str) -> None:
    others: list[Process] = []

    def another(*_: object, **__: object) -> None:
        """Between the look whether there is a table, and its making."""
        others.append(Process(database, "another", 5.0))

    sa.event.listen(leases._TABLE, "before_create", another, once=True)
    one = Process(database, "one", 5.0)
    assert [process.taken for process in (one, *others)] == [[], []]
    for process in (one, *others):
        process.leases.end()
