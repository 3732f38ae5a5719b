"""What follows from an input, in its order, whoever gives it."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from livetools.attach.attached_machine import LINK, AttachedMachine
from livetools.events import Event
from livetools.protocol.calls.driver_actions import Outcome
from livetools.session.handlers.run_tool import ToolRunner
from livetools.session.handlers.tasks import Tasks
from livetools.session.running.clock import SystemClock
from livetools.session.running.driver import Driver
from livetools.session.running.task_host import Host, Starter
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan import make_plan
from livetools.testing import FakeClock
from livetools.tools import Tool
from livetools.transport.loop.wake import on_trio

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]


@dataclass(frozen=True)
class Asked:
    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    partial_args: tuple[Any, ...] = ()
    will_continue: bool = False


class Recorder:
    """What frames are written to. ``full``: a write waits until it is set."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, object]] = []
        self.full: anyio.Event | None = None

    async def send(self, frame: bytes) -> None:
        if self.full is not None:
            await self.full.wait()
        for response in json.loads(frame)["toolResponse"]["functionResponses"]:
            self.answers.append((response["id"], response["response"].get("output")))


class Line(Driver[AttachedMachine]):
    def __init__(self, tools: list[Tool], clock: Any, starter: Starter) -> None:
        self.recorder = Recorder()
        self.numbers = itertools.count()
        plan = make_plan("any", tools, profile=ModelProfile(), reconnect=False)
        super().__init__(AttachedMachine(plan), clock, starter, {LINK: self.recorder})
        self.tasks = Tasks(starter, ToolRunner(self))

    def show(self, events: Sequence[Event]) -> None:
        raise AssertionError("there are none")

    def hand_off(self, run: int, outcome: Outcome) -> Outcome:
        raise AssertionError("nothing is handed on")

    def calls(self, *names: str) -> None:
        self.machine.heard(
            [Asked(f"c{n}", name, {"n": n}) for name, n in zip(names, self.numbers, strict=False)],
            (),
            self.clock.now(),
        )
        self.background()


@asynccontextmanager
async def driven(*functions: Any, clock: Any = None) -> AsyncIterator[Line]:
    host, lines = Host(), list[Line]()

    async def main(group: Any, ready: Any) -> None:
        async with Starter(group) as starter:
            line = Line([Tool(function) for function in functions], clock or SystemClock(), starter)
            lines.append(line)
            ready()
            await line.over.wait()
            line.end()

    await host.start(main)
    (line,) = lines
    try:
        yield line
    finally:
        line.over.set()
        await host.stop(grace=1)


async def double(n: int) -> int:
    """Double it."""
    return 2 * n


async def test_calls_that_never_wait_are_answered_in_their_order() -> None:
    async with driven(double) as line:
        line.calls("double")
        await anyio.wait_all_tasks_blocked()
        line.calls("double", "double", "double")
        if not on_trio() and sys.version_info >= (3, 12):  # their tasks begin at once
            assert line.tasks.stats()["handlers"] == 0  # they are done: only the writing is left
        await anyio.wait_all_tasks_blocked()
        answers = line.recorder.answers  # trio runs its tasks in any order
        assert (sorted(answers) if on_trio() else answers) == [(f"c{n}", 2 * n) for n in range(4)]


async def test_what_comes_while_somebody_writes_is_written_behind_it() -> None:
    async with driven(double) as line:
        line.recorder.full = anyio.Event()
        line.calls("double")
        await anyio.wait_all_tasks_blocked()
        assert line.recorder.answers == []
        line.machine.heard([Asked("later", "double", {"n": 5})], (), line.clock.now())
        line.background()
        await anyio.wait_all_tasks_blocked()
        line.recorder.full.set()
        await anyio.wait_all_tasks_blocked()
        assert line.recorder.answers == [("c0", 0), ("later", 10)]


async def test_no_frames_are_taken_from_the_machine_while_somebody_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They stay where they are bounded, and where they can still be taken back."""
    async with driven(double) as line:
        line.recorder.full = anyio.Event()
        line.calls("double")
        await anyio.wait_all_tasks_blocked()
        assert line._writing
        taken: list[bool] = []  # whether somebody wrote when frames were taken
        frames = line.machine.frames
        monkeypatch.setattr(line.machine, "frames", lambda: taken.append(line._writing) or frames())
        line.calls("double", "double")
        await anyio.wait_all_tasks_blocked()
        assert line.machine.replies
        assert taken == []
        line.recorder.full.set()
        await anyio.wait_all_tasks_blocked()
        assert taken
        assert not any(taken)
        assert sorted(line.recorder.answers) == [("c0", 0), ("c1", 2), ("c2", 4)]


async def test_a_call_whose_time_is_up_is_answered_and_a_needless_ring_does_nothing() -> None:
    clock = FakeClock()

    async def sleeps(n: int) -> int:
        """Sleeps."""
        await anyio.sleep_forever()
        return n

    async with driven(double, sleeps, clock=clock) as line:
        line.calls("double")  # sets the timer, and is over long before
        await anyio.wait_all_tasks_blocked()
        clock.advance(30)
        line.machine.heard([Asked("slow", "sleeps", {"n": 1})], (), clock.now())
        line.background()
        await anyio.wait_all_tasks_blocked()
        clock.advance(31)  # where the first call's time would have been up
        await anyio.wait_all_tasks_blocked()
        assert len(line.recorder.answers) == 1
        clock.advance(30)
        await anyio.wait_all_tasks_blocked()
        assert [id for id, _ in line.recorder.answers] == ["c0", "slow"]
