"""Detects that this program's event loop was blocked, which looks like a dead server.

A coroutine that computes or sleeps without awaiting stops the reader, the pongs and every other tool; then
the service closes, or the line seems to break (python-genai#2935). A heartbeat that comes late tells. One beats
for all sessions of an asyncio loop, by a timer of that loop; on trio each session has its own. A process that did not
run at all (it was stopped, suspended, throttled) is reported as that, and no tool is blamed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup

from livetools.log import get_logger
from livetools.protocol.calls.actions import Close
from livetools.transport.loop.wake import on_trio

from .loop_sampler import seconds_stopped

log = get_logger("livetools.session")

BEAT = 5.0  # seconds between heartbeats: a thousand idle sessions still cost little
REPORTED_LAG = 2.0  # seconds of delay that are reported
RECENT = 60.0  # seconds for which a block may explain a broken line

Running: TypeAlias = Callable[[], Sequence[str]]
"""The names of a session's async tools that are at work, for they are the usual culprits."""


class LagMonitor:
    """Notices blocks of more than ``late`` seconds, at the latest one ``beat`` after they end."""

    def __init__(
        self, beat: float = BEAT, late: float = REPORTED_LAG, stopped: Callable[[], float] = seconds_stopped
    ) -> None:
        self._beat, self._late, self._stopped = beat, late, stopped
        self._sessions: list[Running] = []
        self._last = ""
        self._last_at = -RECENT
        self._expected = self._stopped_before = 0.0
        self._names: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, running: Running) -> None:
        """A session runs in this loop."""
        self._sessions.append(running)

    def leave(self, running: Running) -> None:
        """It does not any more."""
        self._sessions.remove(running)
        if not self._sessions and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def idle(self) -> bool:
        """Whether no timer is set."""
        return self._timer is None

    def tick(self) -> None:
        """Beat by a timer of asyncio's loop, as long as there are sessions."""
        if self._timer is not None:
            self.check()
        self._begin()
        self._timer = asyncio.get_running_loop().call_later(self._beat, self.tick)

    async def run(self) -> None:
        """Beat in a task."""
        while True:
            self._begin()
            await anyio.sleep(self._beat)
            self.check()

    def check(self) -> None:
        """Compare the time with what it should be."""
        now = time.monotonic()
        late = now - self._expected
        if late < self._late:
            return
        self._last_at = now
        if (stopped := self._stopped() - self._stopped_before) > late / 2:
            self._last = (
                f"this process did not run for {stopped:.1f} s: it was stopped, suspended or throttled"
            )
            log.warning("%s", self._last)
            return
        names = sorted(self._names | self._running())
        during = f" while {', '.join(names)} ran" if names else ""
        self._last = f"the event loop of this program was blocked for {late:.1f} s or more{during}"
        log.warning(
            "%s; async tools must not block: make them plain functions, which run in threads", self._last
        )

    def explain(self, close: Close) -> Close:
        """The end of a connection, with the block that may have caused it."""
        keepalive = "keepalive" in close.reason.lower()
        if close.by_us or close.error is not None or (close.code != 1006 and not keepalive):
            return close
        self.check()
        if time.monotonic() - self._last_at > RECENT:
            return close
        return replace(close, note=self._last)

    def _begin(self) -> None:
        self._names = self._running()
        self._expected, self._stopped_before = time.monotonic() + self._beat, self._stopped()

    def _running(self) -> set[str]:
        return {name for running in self._sessions for name in running()}


_monitors: WeakKeyDictionary[asyncio.AbstractEventLoop, LagMonitor] = WeakKeyDictionary()


def watch_loop(group: TaskGroup, running: Running) -> LagMonitor:
    """The monitor of the loop that runs now; a session that has ended leaves it."""
    if on_trio():
        monitor = LagMonitor()
        monitor.watch(running)
        group.start_soon(monitor.run)
        return monitor
    monitor = _monitors.setdefault(asyncio.get_running_loop(), LagMonitor())
    monitor.watch(running)
    if monitor.idle:
        monitor.tick()
    return monitor
