"""When a silent line is asked, and when it is given up."""

from __future__ import annotations

from typing import cast

import pytest

from livetools.transport.line.pings import Pongs
from livetools.transport.line.silence import Silence


class Line:
    """A line and its clock, looked at when it should be."""

    def __init__(self, dead_after: float | None) -> None:
        self.now = 1000.0
        self.silence = Silence(dead_after, cast(Pongs, self))
        self.pings: list[float] = []
        self.dead_at: float | None = None
        self.looks = 0
        self.look()

    def run(self, until: float) -> None:
        """Let the time pass, from 0 to ``until``."""
        while self.dead_at is None and max(self.now, self.look_at) <= 1000.0 + until:
            self.now = max(self.now, self.look_at)
            self.look()
        self.now = 1000.0 + until

    def look(self) -> None:
        self.looks += 1
        assert self.looks < 1000, "it is looked at without end"
        if (seconds := self.silence.look()) is None:
            self.dead_at = self.now - 1000.0
        else:
            self.look_at = self.now + seconds

    def clock(self) -> float:
        return self.now

    def ping(self) -> None:
        self.pings.append(self.now - 1000.0)

    def hear(self) -> None:
        self.silence.heard = self.now


@pytest.mark.parametrize(("dead_after", "pings"), [(40.0, [15.0]), (10.0, [5.0]), (1000.0, [15.0])])
def test_a_line_that_says_nothing_is_asked_and_then_given_up(dead_after: float, pings: list[float]) -> None:
    line = Line(dead_after)
    line.run(2000)
    assert line.pings == pings
    assert line.dead_at == dead_after


def test_bytes_of_any_kind_are_life() -> None:
    line = Line(40.0)
    for at in range(0, 600, 14):
        line.run(at)
        line.hear()
    assert (line.pings, line.dead_at) == ([], None)
    line.run(590 + 20)
    line.hear()
    line.run(5000)
    assert line.dead_at == 590 + 20 + 40


def test_a_line_that_answers_each_ping_is_never_given_up() -> None:
    line = Line(40.0)
    for _ in range(50):
        asked = len(line.pings)
        while len(line.pings) == asked:
            line.run(line.now - 1000.0 + 1.0)
        line.hear()
    assert line.dead_at is None
    assert line.looks < 150


def test_without_a_bound_it_is_asked_once_and_never_given_up() -> None:
    line = Line(None)
    line.run(5000)
    assert (len(line.pings), line.dead_at) == (1, None)


def test_the_time_in_which_the_program_stood_still_does_not_count() -> None:
    line = Line(40.0)
    line.run(20)
    line.now += 3600  # stopped, and nothing was read
    line.look()
    assert line.dead_at is None
    line.run(3620 + 10)
    assert line.dead_at is None
    line.run(3620 + 50)
    assert line.dead_at == pytest.approx(3620 + 25)


def test_a_line_is_asked_before_it_is_given_up_however_long_the_program_stood_still() -> None:
    line = Line(40.0)
    line.now += 3600
    line.look()
    line.run(3600 + 100)
    assert len(line.pings) == 1
    assert line.dead_at is not None
    assert line.dead_at == line.pings[0] + 25
