"""Leases: who says nothing for too long is taken over, and who is alive is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")

import sqlalchemy as sa

from livetools.integrations import leases
from livetools.integrations.leases import Leases


class Time:
    """The clock of all processes, which a test moves; ``step``: seconds that pass after each look at it."""

    def __init__(self) -> None:
        self.now, self.step = 1000.0, 0.0

    def time(self) -> float:
        self.now += self.step
        return self.now


class Process:
    """One that holds a lease, and takes over: of what is called a ruin something is always left."""

    def __init__(self, database: str, name: str, seconds: float = 0.2, left: int = 0) -> None:
        self.taken: list[str] = []
        self._left = left  # looks after which nothing of a dead one is left
        self.leases = Leases(database, name, seconds, self._take)
        self.leases.begin()

    def _take(self, executor: str) -> bool:
        self.taken.append(executor)
        return executor != "ruin" and self.taken.count(executor) > self._left

    def looks(self, count: int) -> None:
        """It looks so many times more at the leases, each time at a ruin, too."""
        enough, give_up = self.taken.count("ruin") + count, time.monotonic() + 60
        while self.taken.count("ruin") < enough:
            assert time.monotonic() < give_up, "nobody looks"
            time.sleep(0.01)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(leases, "time", clock)
    return clock


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'leases.sqlite'}"


@pytest.fixture
def alive(database: str, clock: Time) -> Iterator[Process]:
    Process(database, "ruin").leases.end()
    clock.now += 1
    process = Process(database, "alive", left=1)
    yield process
    process.leases.end()


def test_one_that_is_dead_is_taken_over_until_nothing_is_left_of_it(
    database: str, alive: Process, clock: Time
) -> None:
    Process(database, "dead").leases.end()
    clock.now += 1
    alive.looks(5)
    assert alive.taken.count("dead") == 2


def test_one_that_is_alive_is_left_alone(database: str, alive: Process, clock: Time) -> None:
    other = Process(database, "other", 60.0)
    clock.now += 59
    alive.looks(3)
    assert (set(alive.taken), other.taken) == ({"ruin"}, [])
    other.leases.end()
    alive.looks(3)
    assert set(alive.taken) == {"ruin"}, "its lease has not ended yet"
    clock.now += 2
    alive.looks(3)
    assert set(alive.taken) == {"ruin", "other"}


def test_one_that_renews_its_lease_is_left_alone_for_longer_than_that(
    database: str, alive: Process, clock: Time
) -> None:
    other = Process(database, "other")
    for _ in range(5):
        clock.now += 0.15  # of 0.2
        alive.looks(2)
        other.looks(2)
    assert (set(alive.taken), set(other.taken)) == ({"ruin"}, {"ruin"})
    other.leases.end()


def test_one_that_was_stopped_for_longer_than_its_lease_does_not_take_itself_over(
    alive: Process, clock: Time
) -> None:
    clock.step = 1.0
    alive.looks(5)
    assert set(alive.taken) == {"ruin"}


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
