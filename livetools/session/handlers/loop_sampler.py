"""Finds the async tool that blocks the event loop, and the line it blocks in.

A thread looks ten times a second at what the loop's thread is running. If that is a tool, it asks the loop to run a
callback; how long this takes is how long the tool has blocked the loop. Nothing is done on the path of a call, and
there is one thread for all sessions of a loop.

If the thread itself wakes up late, and the process has used no processor meanwhile, then the process did not run: it
was stopped, suspended, or throttled. No tool is blamed for that time.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeAlias

from livetools.log import get_logger
from livetools.transport.loop.wake import this_loop

from .handlers import Handlers, Job

log = get_logger("livetools.calls")

INTERVAL = 0.1  # seconds between two looks
BLOCKED = 0.25  # seconds without awaiting that are reported
LATE = 0.05  # seconds by which a look may be late

Post: TypeAlias = Callable[[Callable[[], None]], object]
"""Runs a function in the loop soon, from any thread; raises ``RuntimeError`` if the loop has ended."""

_HANDLE = Handlers._handle.__code__


@dataclass(slots=True)
class _Sighting:
    """A handler that was seen running in the loop's thread, at ``since``."""

    job: Job
    handlers: Handlers
    since: float
    place: str
    stopped: float  # seconds that the process had not run by then
    until: float | None = None  # another handler was seen then, in the same step of the loop


class Stops:
    """How long this process has not run, as far as a thread knows that looks every ``INTERVAL`` seconds."""

    def __init__(self) -> None:
        self._last = 0.0, time.monotonic(), time.process_time()  # the sum so far, and the last look

    def look(self) -> None:
        """Called by the thread each time it wakes up."""
        self._last = self.seconds(), time.monotonic(), time.process_time()

    def seconds(self) -> float:
        """The sum; a stop that the thread has not woken up from yet is in it."""
        known, looked, used = self._last
        late = time.monotonic() - looked - INTERVAL
        # Who keeps other threads from running computes, and that takes the processor.
        stopped = late > LATE and time.process_time() - used < late / 2
        return known + late if stopped else known


class LoopSampler:
    """Watches the loop of the thread that makes it. ``post`` runs a function in that loop."""

    def __init__(self, post: Post) -> None:
        self._post, self._thread_id = post, threading.get_ident()
        self.users = 0
        self.stops = Stops()
        self._seen: list[_Sighting] = []  # since the loop was asked for an answer; empty: it was not
        self._warned: set[str] = set()
        self._stop = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._run, name="livetools-loop-sampler", daemon=True).start()

    def stop(self) -> None:
        """Look no more. Returns at once."""
        self._stop.set()

    def _run(self) -> None:
        self.stops.look()
        while not self._stop.wait(INTERVAL):
            self.stops.look()
            self.look()

    def look(self) -> None:
        """Note the handler that runs in the loop at this moment, if one does."""
        frame = sys._current_frames().get(self._thread_id)
        found = None if frame is None else _handler(frame, self.stops.seconds())
        del frame
        if found is None:
            return
        seen = self._seen
        if seen and seen[-1].job is found.job:
            return
        if seen:
            seen[-1].until = found.since
        seen.append(found)
        if len(seen) == 1:
            try:
                self._post(self._answered)
            except RuntimeError:  # the loop has ended
                self.stop()

    def _answered(self) -> None:
        """The loop turns again."""
        now, stopped = time.monotonic(), self.stops.seconds()
        seen, self._seen = self._seen, []
        for sighting in seen:
            blocked = (sighting.until or now) - sighting.since - (stopped - sighting.stopped)
            if blocked >= BLOCKED:
                self._report(sighting, blocked)

    def _report(self, sighting: _Sighting, blocked: float) -> None:
        name = sighting.job.tool.name
        blocks = sighting.handlers.blocks
        blocks[name] = blocks.get(name, 0) + 1
        if name in self._warned:
            return
        self._warned.add(name)
        log.warning(
            "%s held the event loop for %.1f s or more, at %s: nothing else ran meanwhile. Make it a plain function"
            " (def), which runs in a thread, or await in it",
            name,
            blocked,
            sighting.place,
        )


def _handler(innermost: FrameType, stopped: float) -> _Sighting | None:
    """The handler that this stack is in, if it has begun and runs here, not in a thread."""
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not _HANDLE:
        frame = frame.f_back
    if frame is None:
        return None
    local: dict[str, Any] = dict(frame.f_locals)
    job, handlers = local["job"], local["self"]
    if not job.began or job.future is not None:
        return None
    code = innermost.f_code
    place = f"{code.co_filename}, line {innermost.f_lineno}, in {code.co_name}"
    return _Sighting(job, handlers, time.monotonic(), place, stopped)


_samplers: dict[object, LoopSampler] = {}


def seconds_stopped() -> float:
    """How long this process has not run, since the sessions of the loop that runs here began."""
    sampler = _samplers.get(this_loop())
    return 0.0 if sampler is None else sampler.stops.seconds()


def sample_loop() -> Callable[[], None]:
    """Watch the loop that runs here for tools that block it, until the function that is returned is called."""
    loop: Any = this_loop()
    post: Post = (
        loop.call_soon_threadsafe if isinstance(loop, asyncio.AbstractEventLoop) else loop.run_sync_soon
    )
    sampler = _samplers.get(loop)
    if sampler is None:
        sampler = _samplers[loop] = LoopSampler(post)
        sampler.start()
    sampler.users += 1

    def leave() -> None:
        sampler.users -= 1
        if not sampler.users:
            sampler.stop()
            del _samplers[loop]

    return leave
