"""What came behind which pong, and when pings are sent."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from livetools.transport.line.pings import APART, PendingPing, Pongs


class Line:
    """A connection whose clock and whose peer are the test's."""

    def __init__(self) -> None:
        self.now = 100.0
        self.out: list[bytes] = []  # pings that were written and not answered
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.pongs = Pongs(self, lambda: self.now)

    def write_ping(self, payload: bytes) -> None:
        self.out.append(payload)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.timers.append((self.now + seconds, call))

    def ask(self, at_once: bool = True) -> tuple[PendingPing, bool]:
        """A ping, and whether it goes with the frame."""
        ping, payload = self.pongs.ask(at_once)
        if payload is not None:
            self.out.append(payload)
        return ping, payload is not None

    def pong(self) -> None:
        """The peer answers the oldest ping."""
        assert self.pongs.answer(self.out.pop(0))

    def message(self) -> None:
        """A message comes, and is taken at once."""
        self.pongs.counts.messages += 1
        self.pongs.counts.taken += 1

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self.timers if timer[0] <= self.now]
        self.timers = [timer for timer in self.timers if timer[0] > self.now]
        for _, call in due:
            call()


def test_a_message_that_came_before_the_pong_is_not_behind_it_though_it_is_taken_later() -> None:
    line = Line()
    ping, _ = line.ask()
    line.pongs.counts.messages += 1
    line.pong()
    line.pongs.counts.messages += 1
    line.pongs.counts.taken = 1
    assert ping() == 0
    line.pongs.counts.taken = 2
    assert ping() == 1


def test_without_its_pong_nothing_is_behind_it() -> None:
    line = Line()
    ping, _ = line.ask()
    line.message()
    assert ping() is None


def test_a_pong_that_nobody_asked_for_answers_nothing() -> None:
    line = Line()
    ping, _ = line.ask()
    assert not line.pongs.answer(b"heartbeat")
    line.message()
    assert ping() is None


def test_what_is_written_while_a_ping_is_out_shares_the_next_which_follows_the_pong() -> None:
    line = Line()
    first, goes = line.ask()
    assert goes
    second, goes = line.ask()
    assert not goes
    third, _ = line.ask()
    assert third is second
    assert len(line.out) == 1
    line.pong()
    line.message()
    assert (first(), second()) == (1, None)
    assert len(line.out) == 1  # that of both
    line.pong()
    line.message()
    assert (first(), second()) == (2, 1)
    assert line.out == []


def test_what_nobody_needs_at_once_is_asked_once_a_second() -> None:
    line = Line()
    assert line.ask(at_once=False)[1]
    line.pong()
    waits, goes = line.ask(at_once=False)
    assert not goes
    assert line.ask(at_once=False)[0] is waits
    line.pass_time(APART / 2)
    assert line.out == []
    line.pass_time(APART / 2)
    assert len(line.out) == 1
    line.pong()
    assert waits() == 0


def test_a_frame_that_comes_after_that_second_takes_along_what_waits() -> None:
    line = Line()
    line.ask(at_once=False)
    line.pong()
    line.pass_time(APART / 2)
    waits, _ = line.ask(at_once=False)
    line.pass_time(APART / 2)
    assert line.out == []
    assert line.ask(at_once=False) == (waits, True)
    line.pong()
    line.pass_time(APART)
    assert line.out == []


def test_what_is_needed_at_once_takes_what_waits_along() -> None:
    line = Line()
    line.ask(at_once=False)
    line.pong()
    waits, _ = line.ask(at_once=False)
    now, goes = line.ask()
    assert goes
    assert now is waits
    line.pong()
    line.pass_time(2 * APART)
    assert line.out == []  # the timer finds nothing to ask


def test_whoever_cannot_wait_for_the_second_hurries() -> None:
    line = Line()
    line.ask(at_once=False)
    line.pong()
    waits, _ = line.ask(at_once=False)
    line.pongs.hurry()
    assert len(line.out) == 1
    line.pong()
    assert waits() == 0


def test_whoever_hurries_while_a_ping_is_out_is_asked_for_behind_its_pong() -> None:
    line = Line()
    line.ask()
    waits, _ = line.ask(at_once=False)
    line.pongs.hurry()
    assert len(line.out) == 1
    line.pong()
    line.pong()
    assert waits() == 0


@given(st.lists(st.sampled_from(["ask", "ask later", "pong", "hurry", "half a second"]), max_size=40))
def test_one_ping_is_out_at_most_and_each_frame_is_covered_by_a_later_one(steps: list[str]) -> None:
    line = Line()
    asked: list[tuple[PendingPing, int]] = []  # and how many pings had been written before its frame
    written = 0
    for step in steps:
        before = len(line.out)
        match step:
            case "ask" | "ask later":
                asked.append((line.ask(step == "ask")[0], written))
            case "pong" if line.out:
                line.pong()
                before -= 1
            case "hurry":
                line.pongs.hurry()
            case "half a second":
                line.pass_time(APART / 2)
        written += len(line.out) - before
        assert len(line.out) <= 1
    for _ in range(6):  # a peer that answers, and time
        line.pass_time(APART)
        if line.out:
            line.pong()
    for ping, before in asked:
        assert ping() is not None
        assert int(ping.payload) > before
