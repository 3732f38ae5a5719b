"""One call of a tool on its way through the shell, and whom its handler reports to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextvars import Context
from typing import Any, Protocol

from livetools.events import Call
from livetools.protocol.calls.driver_actions import AskApproval, Outcome, RunTool
from livetools.tools import Hooks, Tool, ToolContext

from .from_thread import FromThread
from .user_code import UserCode


class Desk(Protocol):
    """Where the handlers report: each is an input of the machine (or of the dispatcher alone), and what follows."""

    def settled(self, run: int, outcome: Outcome) -> bool: ...
    async def flush(self) -> None: ...
    async def progress(self, run: int, value: object, yielded: Outcome | None) -> None: ...
    def approved(self, run: int, verdict: bool | str | None) -> None: ...
    def decided(self, run: int, call: Call) -> None: ...
    def reason(self, run: int) -> Exception | None: ...


class Job(UserCode):
    """The approval of a call, or its handler, with ``hooks`` of the session and of the tool."""

    run: int
    streams: bool  # of a handler: its yields go out one by one

    def __init__(self, action: RunTool | AskApproval, hooks: Sequence[Hooks] = ()) -> None:
        super().__init__(action.run)
        self.call = action.call
        self.tool: Tool = action.tool
        self.hooks = (*hooks, *action.tool.hooks)
        self.variables: Context | None = None  # those that its hooks have set, once they have let it run
        self.context: ToolContext[Any] | None = None  # for a handler that takes one
        self.since = time.perf_counter()
        self.began = False  # its handler ran, if only for a moment
        self.future: Future[Any] | None = None  # while a thread or an executor has it
        self.way_back: FromThread | None = None  # of the thread that has it

    def stop(self) -> None:
        """Cancel the handler where it runs in the loop; tell its context where it runs elsewhere."""
        if self.context is not None:
            self.context.mark_cancelled()
        if self.future is None:
            self.cancel()
            return
        self.cancelled = True
        # If no thread took it up it never runs.
        if not self.future.cancel() and self.way_back is not None:
            self.way_back.cancel()
