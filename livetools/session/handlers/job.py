"""One call of a tool on its way through the shell, and whom its handler reports to."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextvars import Context
from typing import Any, Protocol

from livetools.events import Call
from livetools.protocol.calls.driver_actions import Outcome
from livetools.tools import Hooks, Tool, ToolContext

from .abandon import Leavable
from .from_thread import FromThread


class Desk(Protocol):
    """Where the handlers report: each is an input of the machine (or of the dispatcher alone), and what follows."""

    async def settled(self, run: int, outcome: Outcome) -> None: ...
    async def progress(self, run: int, value: object, yielded: Outcome | None) -> None: ...
    async def approved(self, run: int, verdict: bool | str | None) -> None: ...
    def decided(self, run: int, call: Call) -> None: ...
    def reason(self, run: int) -> Exception | None: ...


class Job:
    """A call, from the moment its approval is asked, or its handler started, until its outcome is reported.

    ``hooks``: those of the session and of the tool. ``code``: what runs for it now, its approval or its handler.
    """

    def __init__(self, run: int, call: Call, tool: Tool, hooks: Sequence[Hooks] = ()) -> None:
        self.run, self.call, self.tool, self.hooks = run, call, tool, hooks
        self.code: Leavable[Any] | None = None
        # Of its hooks, once they have let it run and its approval is asked.
        self.variables: Context | None = None
        # From here on of its handler.
        self.context: ToolContext[Any] | None = None  # for one that takes one
        self.streams = False  # its yields go out one by one
        self.since = 0.0  # it was started, by ``time.perf_counter``
        self.began = False  # it ran, if only for a moment
        self.future: Future[Any] | None = None  # while a thread or an executor has it
        self.way_back: FromThread | None = None  # of the thread that has it
        self.stopped = False

    def stop(self) -> None:
        """Cancel the handler where it runs in the loop; tell its context where it runs elsewhere."""
        self.stopped = True
        if self.context is not None:
            self.context.mark_cancelled()
        if self.future is None:
            if self.code is not None:
                self.code.cancel()
            return
        self.future.cancel()  # if no thread took it up it never runs
        if self.way_back is not None:
            self.way_back.cancel()
