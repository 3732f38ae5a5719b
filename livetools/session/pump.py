"""The machine's hands: perform what it asks, show what it tells, and keep its time. The pen writes for it.

Whoever feeds the machine (a worker with a result, a verb of the user's) also drains it, and writes the
frames itself: no task and no lock lie on the path of a call. The readers and the clock never wait for a
socket; what they cause to be written is left to the pen's own task.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import TaskGroup

from livetools.protocol import close_codes
from livetools.protocol.actions import (
    Action,
    AskApproval,
    Close,
    Dial,
    End,
    Hangup,
    Outcome,
    Start,
    Stop,
    Undo,
)
from livetools.protocol.errors import SetupTimeout
from livetools.protocol.events import Call, Event, SessionStarted
from livetools.protocol.machine import Machine

from .alarm import Alarm, make_alarm
from .clock import Clock
from .inbox import Inbox
from .lag import LagMonitor, watch_loop
from .pen import Pen
from .runner import Runner
from .socket import Sockets
from .timeslice import TimeSlice
from .transport import Transport
from .wake import Latch

log = logging.getLogger("livetools.session")

LAST_WORDS = 5.0  # seconds at the end for the handlers and the closing handshakes


class Pump:
    """Drives one :class:`Machine`. Made in the loop; ``runner`` and ``sockets`` are set before ``run``, the rest by it.

    Every input is followed by :meth:`drain`, which is synchronous, or by :meth:`follow`, which writes too.
    """

    runner: Runner
    sockets: Sockets
    lag: LagMonitor
    alarm: Alarm

    def __init__(self, machine: Machine, clock: Clock, taps: list[Callable[[Event], None]]) -> None:
        self.machine, self.clock, self.taps = machine, clock, taps
        self.inbox = Inbox()
        self.over = Latch()
        self.error: Exception | None = None
        self.told = False  # somebody was raised the error
        self.pen = Pen(machine, self)
        self._slice = TimeSlice()
        self._group: TaskGroup | None = None  # while it runs

    async def run(self, group: TaskGroup, ready: Callable[[], None]) -> None:
        """Open the session, serve it to its end, leave in order. ``ready``: it stands, or never will."""

        def started(event: Event) -> None:
            if type(event) is SessionStarted:
                self.taps = [tap for tap in self.taps if tap is not started]
                ready()

        self.taps.append(started)
        self._group = group
        self.alarm = make_alarm(self.clock, self._ring, group)
        self.lag = watch_loop(group, self.runner.in_loop)
        try:
            self.machine.connect(self.clock.now())
            self.drain()
            await self.over.wait()
            ready()  # it will never stand: whoever opens it need not wait for the last words
            with anyio.move_on_after(LAST_WORDS):
                await self.runner.wind_down(self._give_up)
                await self.sockets.gone()
        finally:
            self._abandon()
            self._group = None
            self.alarm.close()
            self.lag.leave(self.runner.in_loop)
            self.runner.close()

    # What the machine wants

    def drain(self) -> None:
        """Take the frames, perform the actions, show the events. Never waits."""
        self.pen.collect()
        self.show()

    async def follow(self) -> None:
        """What follows an input of a task that may wait. Cancelling takes nothing back."""
        self.drain()
        await self.follow_up()

    async def follow_up(self) -> None:
        """Write what was collected, and let others run now and then."""
        await self.pen.flush()
        await self._slice.share()

    def transport(self, link: int) -> Transport | None:
        """The connection of this number, if it stands."""
        return self.sockets.transport(link)

    def show(self) -> None:
        """Perform the actions and show the events."""
        machine = self.machine
        for action in machine.actions():
            _perform(self, action)
        for event in machine.events():
            for tap in self.taps:
                tap(event)
            self.inbox.put(event)
        self.alarm.set(machine.wake_at())

    def _give_up(self) -> None:
        """Handlers that do not end are not waited for."""
        self.machine.give_up()
        self.show()

    def _abandon(self) -> None:
        """Where the session is cut off in the middle (Ctrl-C in a tool), nobody waits for ever."""
        if not self.over.is_set:
            self.machine.close(self.clock.now())
            self.show()

    def _background(self) -> None:
        """After an input of a task that must not wait for a socket."""
        self.drain()
        self.pen.leave()

    def _ring(self) -> None:
        """The time is up at which the machine wanted to be woken, or did once."""
        now = self.clock.now()
        if now >= self.machine.wake_at():
            self.machine.tick(now)
            self._background()
        else:
            self.alarm.set(self.machine.wake_at())

    def spawn(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run this in a task of the session's; nothing, where that has ended."""
        if self._group is not None:
            self._group.start_soon(write)

    def media(self, frame: bytes, kind: str) -> None:
        """Send audio or video: past the queues, where nothing waits."""
        if not self.pen.stream(frame):
            self.machine.send_media(frame, kind, self.clock.now())
            self.drain()

    # What the sockets tell

    def opened(self, link: int) -> None:
        """A connection stands."""
        self.machine.opened(link, self.clock.now())
        self._background()

    def received(self, link: int, data: bytes) -> None:
        """A message came."""
        if self.pen.log is not None:
            self.pen.log.received(link, data)
        self.machine.receive(link, data, self.clock.now())
        self._background()

    def disconnected(self, link: int, close: Close) -> None:
        """A connection ended, or never was."""
        self.pen.forget(link)
        self.machine.disconnected(link, self.lag.explain(close), self.clock.now())
        self._background()

    # What the runner tells

    async def settled(self, run: int, outcome: Outcome) -> None:
        """A handler ended."""
        self.machine.settled(run, outcome, self.clock.now())
        self.drain()
        await self.pen.flush()

    async def progress(self, run: int, value: object, yielded: Outcome | None) -> None:
        """A handler reported."""
        self.machine.progress(run, value, self.clock.now(), yielded)
        await self.follow()

    async def approved(self, run: int, verdict: bool | str | None) -> None:
        """A tool's ``approval`` answered: a person must decide, it may run, or it is refused."""
        now = self.clock.now()
        if verdict is True:
            self.machine.ask_person(run, now)
        elif isinstance(verdict, str):
            self.machine.refuse(run, verdict, now)
        else:
            self.machine.approve(run, now)
        await self.follow()

    def streams(self, name: str) -> bool:
        """Whether each yield of this tool is a response of its own."""
        return self.machine.plan.policies[name].streams

    def reason(self, run: int) -> Exception | None:
        """Why a call was stopped."""
        record = self.machine.calls.records.get(run)
        return None if record is None or record.outcome is None else record.outcome.error

    def awaited(self) -> Call | None:
        """The call whose handler asks, if the model stands still until it is answered: who then waits for
        the model waits for himself."""
        run = self.runner.serving()
        record = None if run is None else self.machine.calls.pending.get(run)
        blocks = record is not None and record.policy is not None and record.policy.behavior == "BLOCKING"
        return record.call if record is not None and blocks else None

    def seen(self, error: Exception | None) -> None:
        """The user has been told of this error: leaving the session need not raise it."""
        self.told = self.told or (error is not None and error is self.error)

    def why_over(self) -> Exception:
        """What a verb raises on a session that is over."""
        self.seen(self.error)
        return self.error or close_codes.over()

    def end(self, error: Exception | None) -> None:
        """The session is over."""
        if isinstance(error, SetupTimeout):
            advice = self.sockets.progress.advice()
            seconds = self.machine.plan.setup_timeout
            error = SetupTimeout(f"no session within {seconds:g} s: {advice}; setup_timeout= gives it longer")
        self.error = error
        self.inbox.close()
        self.over.set()


def _perform(pump: Pump, action: Action) -> None:
    match action:
        case Start(run, call):
            pump.runner.start(run, call)
        case Stop(run):
            pump.runner.stop(run)
        case Dial(link):
            pump.sockets.dial(link)
        case Hangup(link):
            pump.sockets.hang_up(link)
        case AskApproval(run, call):
            pump.runner.ask_approval(run, call)
        case Undo(run, call, result):
            pump.runner.undo(run, call, result)
        case End(error):
            pump.end(error)
