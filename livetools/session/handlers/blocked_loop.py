"""Finds out that this program's event loop was blocked: by which tool, at which line, and for how long.

A coroutine that computes or sleeps without awaiting stops the reader, the pongs and every other tool; then the service
closes, or the line seems to break (python-genai#2935).

One thread watches a loop for all its sessions; nothing is done on the path of a call. Ten times a second it looks at
what the loop's thread runs. At once where that is a tool, and otherwise once a second, it asks the loop to run a
callback. How long this takes is how long the loop was blocked.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, NamedTuple

from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Close
from livetools.tools.results.outcomes import outcome
from livetools.transport.loop.wake import this_loop

from .job import Job
from .run_tool import ToolRunner

log, of_calls = get_logger("livetools.session"), get_logger("livetools.calls")

INTERVAL = 0.1  # seconds between two looks
ASK = 1.0  # seconds without an answer of the loop after which it is asked for one
LATE = 0.05  # seconds by which a look may be late
BLOCKED = 0.25  # seconds without awaiting that are reported of a tool
REPORTED = 2.0  # seconds for which the loop was blocked, or the process stopped, that are always reported
RECENT = 60.0  # seconds for which a block may explain a broken line

_HANDLE, _RESULT = ToolRunner.handle.__code__, outcome.__code__


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


class _Seen(NamedTuple):
    """What the loop's thread ran from ``since`` on, until something else was seen, without a turn of the loop."""

    since: float  # seconds for which the process had run by then
    job: Job | None  # ``None``: no handler of a tool
    blocks: dict[str, int]  # of its session: how often each tool has blocked the loop
    place: str


class BlockedLoop:
    """Watches the loop of the thread that makes it, asyncio's or trio's token, for so many sessions."""

    def __init__(self, loop: Any) -> None:
        on_asyncio = isinstance(loop, asyncio.AbstractEventLoop)
        self._post: Callable[[Callable[[], None]], object]  # from any thread
        self._post = loop.call_soon_threadsafe if on_asyncio else loop.run_sync_soon
        self._loop, self._thread_id = loop, threading.get_ident()
        self.sessions = 0
        self._stops = Stops()
        # When the loop answered last, and how long the process had been stopped by then.
        self._turned, self._stopped = time.monotonic(), 0.0
        self._seen: list[_Seen] = []  # since the loop was asked for an answer; empty: it was not
        self._warned: set[str] = set()
        self._last, self._last_at = "", -RECENT
        self._end = threading.Event()

    def leave(self) -> None:
        """One session less. Without any the thread ends; this returns at once."""
        self.sessions -= 1
        if not self.sessions:
            self._end.set()
            del _watched[self._loop]

    def run(self) -> None:
        """Look, in a thread, until the last session has left or the loop has ended."""
        while not self._end.wait(INTERVAL):
            self.look()

    def look(self) -> None:
        """Note what runs in the loop at this moment, and ask it for an answer if that is due."""
        self._stops.look()
        with _without_collector():
            frame = sys._current_frames().get(self._thread_id)
            if frame is None:  # the loop's thread has ended
                return
            job, blocks = _handler(frame)
        now, seen = time.monotonic() - self._stops.seconds(), self._seen
        # The loop is asked at once where a tool runs; where anything else does, only if it has not answered for long.
        if not seen and job is None and now < self._turned + ASK:
            return
        if seen and seen[-1].job is job:  # this was noted already
            return
        place = f"{frame.f_code.co_filename}, line {frame.f_lineno}, in {frame.f_code.co_name}"
        seen.append(_Seen(now, job, blocks, place))
        if len(seen) == 1:
            try:
                self._post(self.turned)
            except RuntimeError:  # the loop has ended
                self._end.set()

    def turned(self) -> None:
        """The loop turns: decide whether it was blocked until now, by whom, and for how long.

        There are four cases. The process did not run (it was stopped, suspended, throttled): the thread woke up
        late as well, and no processor was used. That time is nobody's. A tool ran, and was seen: it is named with its
        line. Something else ran, as the program's own code, or ours that puts a large result into words: no tool is
        named. Nothing was seen, because the thread could not run either (a function of C kept all threads out): the
        loop owes its answer since it should have been asked.
        """
        stopped = self._stops.seconds()
        now = time.monotonic() - stopped
        due, frozen = self._turned + ASK + INTERVAL, stopped - self._stopped
        self._turned, self._stopped = now, stopped
        seen, self._seen = self._seen, []
        names: list[str] = []
        for ran, until in zip(seen, [*(later.since for later in seen[1:]), now], strict=False):
            if ran.job is not None and until - ran.since >= BLOCKED:
                names.append(ran.job.tool.name)
                self._tell(ran.job.tool.name, ran, until - ran.since)
        if frozen >= REPORTED:
            self._note(
                f"this process did not run for {frozen:.1f} s: it was stopped, suspended or throttled", ""
            )
        elif (blocked := now - min([due, *(ran.since for ran in seen)])) >= REPORTED:
            during = f" while {', '.join(dict.fromkeys(names))} ran" if names else ""
            self._note(
                f"the event loop of this program was blocked for {blocked:.1f} s or more{during}",
                "; async tools must not block: make them plain functions, which run in threads",
            )

    def explain(self, close: Close) -> Close:
        """The end of a connection, with the block that may have caused it."""
        keepalive = "keepalive" in close.reason.lower()
        if close.by_us or close.error is not None or (close.code != 1006 and not keepalive):
            return close
        self.turned()
        return replace(close, note=self._last) if time.monotonic() - self._last_at <= RECENT else close

    def _note(self, what: str, advice: str) -> None:
        self._last, self._last_at = what, time.monotonic()
        log.warning("%s%s", what, advice)

    def _tell(self, name: str, ran: _Seen, lasted: float) -> None:
        ran.blocks[name] = ran.blocks.get(name, 0) + 1
        if name not in self._warned:
            self._warned.add(name)
            text = (
                "%s held the event loop for %.1f s or more, at %s: nothing else ran meanwhile. Make it a plain"
                " function (def), which runs in a thread, or await in it"
            )
            of_calls.warning(text, name, lasted, ran.place)


def _handler(frame: FrameType | None) -> tuple[Job | None, dict[str, int]]:
    """The handler that this stack is in, if it has begun, runs here and not in a thread, and has not returned yet; and
    where its session counts blocks."""
    while frame is not None and frame.f_code is not _HANDLE:
        if frame.f_code is _RESULT:  # our own work on what it has returned
            return None, {}
        frame = frame.f_back
    if frame is None:
        return None, {}
    local: dict[str, Any] = dict(frame.f_locals)
    job: Job = local["job"]
    return (job if job.began and job.future is None else None), local["self"].blocks


@contextmanager
def _without_collector() -> Iterator[None]:
    """Before 3.12 ``f_back`` may run the garbage collector, and so let the loop's thread run on and free the very frame
    that is being looked at: Python crashes then. Later the collector runs between instructions only."""
    pauses = sys.version_info < (3, 12) and gc.isenabled()
    if pauses:
        gc.disable()
    try:
        yield
    finally:
        if pauses:
            gc.enable()


_watched: dict[object, BlockedLoop] = {}


def watch_loop() -> BlockedLoop:
    """Watch the loop that runs here, for one session more, until that leaves."""
    loop = this_loop()
    if (watch := _watched.get(loop)) is None:
        watch = _watched[loop] = BlockedLoop(loop)
        threading.Thread(target=watch.run, name="livetools-blocked-loop", daemon=True).start()
    watch.sessions += 1
    return watch
