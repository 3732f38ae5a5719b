"""Drives a machine: feeds it inputs, performs its actions, keeps its time. Used by a session and by ``attach``.

The task that gives the machine an input (a handler with a result, a verb of the user's) also performs what follows, and
writes the frames: no task and no lock lie on the path of a call. Readers and timers never wait for a socket; what
they cause to be written, and cannot be written at once, is left to a task of the writer's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import anyio

from livetools.events import Call, Event
from livetools.protocol.calls import driver_actions
from livetools.protocol.calls.call_states import Record
from livetools.protocol.calls.driver_actions import Action, Outcome, RunTool
from livetools.protocol.input.resend import OutFrame
from livetools.session.handlers.blocked_loop import watch_loop
from livetools.session.handlers.tasks import Tasks

from .clock import Clock, make_timer
from .task_host import Starter
from .writer import Writer


class Driven(Protocol):
    """What a driver asks of its machine. After every input it takes ``actions``, ``frames``, ``events``."""

    actions: deque[Action]

    def record(self, run: int) -> Record | None: ...
    def decided(self, run: int, call: Call) -> None: ...
    def frames(self) -> list[OutFrame]: ...
    def events(self) -> Sequence[Event]: ...
    def wake_at(self) -> float: ...
    def tick(self, now: float) -> None: ...
    def settled(self, run: int, outcome: Outcome, now: float) -> None: ...
    def progress(self, run: int, value: object, now: float, yielded: Outcome | None = None) -> None: ...
    def judge(self, run: int, verdict: bool | str | None, now: float) -> bool: ...
    def close(self, now: float) -> None: ...
    def give_up(self) -> None: ...


M = TypeVar("M", bound=Driven)


class Driver(Writer, Generic[M]):
    """Drives one machine, whose frames go to ``connections``, those that are open by their numbers.

    Made in the task that hosts it. A subclass sets ``tasks``, which run the calls, before the first input.

    Every input is followed by :meth:`step`, which writes what can be written at once; :meth:`follow` waits until the
    rest is written, :meth:`background` leaves the rest to a task. ``over`` is set when nothing follows any more.
    """

    tasks: Tasks

    def __init__(
        self,
        machine: M,
        clock: Clock,
        starter: Starter,
        connections: Mapping[int, Any],
        taps: Sequence[object] = (),
    ) -> None:
        super().__init__(connections, starter.group, taps)
        self.machine, self.clock = machine, clock
        self.over = anyio.Event()
        self.timer = make_timer(clock, self._ring, self.group, lambda: self.tasks.in_threads())
        self.blocked_loop = watch_loop()
        self._stepping = False
        self._again = False  # there was an input in the middle of a step

    def close(self) -> None:
        """The machine ends, if it has not yet. Never waits."""
        self.machine.close(self.clock.now())
        self.step()

    def end(self) -> None:
        """Nothing is started any more."""
        self._ended = True
        self.blocked_loop.leave()
        self.timer.close()
        self.tasks.close()

    # What the machine wants

    def step(self) -> None:
        """Perform the actions, take the frames, show the events, write the frames. Never waits."""
        if self._stepping:  # by a handler that runs at once, as a part of this very step
            self._again = True
            return
        machine, actions = self.machine, self.machine.actions
        self._again = self._stepping = True
        try:
            while self._again:
                while actions:  # a handler that ends in its first step may bring more
                    action = actions.popleft()
                    if type(action) is RunTool:  # what nearly every action is
                        self.tasks.start(action)
                    else:
                        self.perform(action)
                self._again = False
                # Frames are left in the machine while a task writes: there they can still be taken back, and are
                # bounded.
                frames = [] if self._writing else machine.frames()
                if events := machine.events():
                    self.show(events)
                if frames:
                    self.write(frames)
        finally:
            self._stepping = False
        wake_at = machine.wake_at()
        if wake_at < self.timer.deadline:
            self.timer.set(wake_at)

    async def follow(self) -> None:
        """What follows from an input of a task that may wait. Cancelling takes nothing back."""
        self.step()
        await self.flush()

    @property
    def has_more(self) -> bool:
        """Whether there is something to :meth:`flush`."""
        return bool(self._unwritten) or self._slice.over()

    def background(self) -> None:
        """What follows from an input of a task that must not wait for a socket."""
        self.step()
        if self._unwritten:
            self.write_later()

    def perform(self, action: Action) -> None:
        """Do what the machine wants done at once."""
        match action:
            case driver_actions.StopTool(run):
                self.tasks.stop(run)
            case driver_actions.AskApproval():
                self.tasks.ask_approval(action)
            case driver_actions.StopAsking(run, _, over):
                self.tasks.stop_asking(run, over)
            case driver_actions.Undo():
                self.tasks.undo(action)

    @abstractmethod
    def hand_off(self, run: int, outcome: Outcome) -> Outcome:
        """Give the conversation to the agent that a handler names. The outcome, or that it failed."""

    @abstractmethod
    def show(self, events: Sequence[Event]) -> None:
        """Hand events on, in their order."""

    def _ring(self) -> None:
        """The time has come at which the machine wants to be woken, or wanted to when the timer was set."""
        now, wake_at = self.clock.now(), self.machine.wake_at()
        # A deadline may have moved to a later time, which does not move the timer.
        if now < wake_at:
            self.timer.set(wake_at)
            return
        self.machine.tick(now)
        self.timer.set(self.machine.wake_at())
        self.background()

    def give_up(self) -> None:
        """After the machine's end: handlers that do not end are not waited for."""
        self.machine.give_up()
        self.step()

    # What the handlers tell

    def settled(self, run: int, outcome: Outcome) -> bool:
        """A handler ended. Whether something is left to :meth:`flush`."""
        if outcome.handoff is not None and (record := self.machine.record(run)) is not None and record.wanted:
            outcome = self.hand_off(run, outcome)
        self.machine.settled(run, outcome, self.clock.now())
        self.step()
        return bool(self._unwritten)

    async def progress(self, run: int, value: object, yielded: Outcome | None) -> None:
        """A handler reported."""
        self.machine.progress(run, value, self.clock.now(), yielded)
        await self.follow()

    def approved(self, run: int, verdict: bool | str | None) -> None:
        """A tool's ``approval`` answered: a person must decide, it may run, or it is refused."""
        self.machine.judge(run, verdict, self.clock.now())
        self.background()

    def decided(self, run: int, call: Call) -> None:
        """A hook has replaced the arguments of a call."""
        self.machine.decided(run, call)

    def reason(self, run: int) -> Exception | None:
        """Why a call was stopped."""
        record = self.machine.record(run)
        return None if record is None or record.outcome is None else record.outcome.error
