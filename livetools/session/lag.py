"""Whether this program's event loop was blocked: from far it looks like a dead server.

A coroutine that computes or sleeps without awaiting stops the reader, the pongs and every other tool; then
the service closes, or the line seems to break (python-genai#2935). A heartbeat that comes late tells.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio

from livetools.protocol.actions import Close

log = logging.getLogger("livetools.session")

BEAT = 5.0  # seconds between heartbeats: a thousand idle sessions still cost little
LATE = 2.0  # seconds of delay that are told
RECENT = 60.0  # seconds for which a block may explain a broken line


class LagMonitor:
    """Notices blocks of more than ``late`` seconds, at the latest one ``beat`` after they end.

    ``running`` names the async tools that are at work, for they are the usual culprits.
    """

    def __init__(self, running: Callable[[], Sequence[str]], beat: float = BEAT, late: float = LATE) -> None:
        self._running, self._beat, self._late = running, beat, late
        self._last = ""
        self._last_at = -RECENT
        self._due = 0.0
        self._names: Sequence[str] = ()

    async def run(self) -> None:
        """Beat, as long as the session runs."""
        while True:
            self._names = self._running()
            self._due = time.monotonic() + self._beat
            await anyio.sleep(self._beat)
            self.check()

    def check(self) -> None:
        """Compare the time with what it should be."""
        now = time.monotonic()
        late = now - self._due
        if late < self._late:
            return
        names = sorted({*self._names, *self._running()})
        during = f" while {', '.join(names)} ran" if names else ""
        self._last = f"the event loop of this program was blocked for {late:.1f} s or more{during}"
        self._last_at = now
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
