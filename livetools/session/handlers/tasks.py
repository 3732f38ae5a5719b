"""Runs each call in a task of its own, and so what is asked, undone and told beside it.

The first step of a handler is taken at once where the loop has eager tasks (asyncio, from Python 3.12 on): one that
never waits itself is done then. Each call has its own copy of the context variables of the task that opened the
session.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any

import anyio

from livetools.events import Call
from livetools.log import get_logger
from livetools.session.running import leaving
from livetools.session.running.task_host import Starter
from livetools.tools import SessionLike, Tool, ToolContext
from livetools.transport.loop.wake import Wake, make_wake

from .abandon import Leavable
from .approvals import ApprovalCheck, ask
from .run_tool import Desk, Job, ToolRunner, cancelled, note
from .user_errors import excuse

log = get_logger("livetools.calls")

#: The kinds of handlers whose yields may go out one by one.
GENERATORS = frozenset({"generator", "async_generator"})

SERVING: ContextVar[Job | ApprovalCheck | Leavable | None] = ContextVar("livetools_serving", default=None)


class Tasks:
    """Runs the handlers of one session, in its task group. Its methods start something, and return.

    Made in the loop, in the context of the task that opened the session.
    """

    def __init__(
        self,
        starter: Starter,
        handlers: ToolRunner,
        desk: Desk,
        deps: object = None,
        session: SessionLike | None = None,
    ) -> None:
        self._start, self._handlers, self._desk = starter.start, handlers, desk
        self._deps, self._session = deps, session
        self._context: Context = copy_context()
        self._busy: dict[int, Job] = {}  # handlers that run
        self._asked: dict[int, ApprovalCheck] = {}
        self._errands: set[Leavable] = set()
        self._running: set[Leavable] = set()  # all that runs
        self._stopping: set[Job] = set()  # calls whose stop hooks run
        self._ended: Wake | None = None  # set when a handler or an errand ends, once somebody waits for that
        self._closed = False

    def stats(self) -> dict[str, int | dict[str, int]]:
        """Handlers that run, threads in use, functions that wait for a thread, and how often each tool has blocked the
        event loop."""
        threads = self._handlers.threads
        return {
            "handlers": len(self._busy),
            "threads": threads.running,
            "waiting_for_thread": threads.waiting,
            "loop_blocks": dict(self._handlers.blocks),
        }

    def in_threads(self) -> bool:
        """Whether a handler runs in a thread, or in an executor."""
        return any(job.future is not None for job in self._busy.values())

    def serving(self) -> int | None:
        """The run whose handler or ``approval`` asks, from its own task or thread or one that it has started; ``None``:
        nobody's, or it has ended."""
        serving = SERVING.get()
        if isinstance(serving, ApprovalCheck):
            return None if serving.scope is None else serving.run
        if not isinstance(serving, Job):
            return None
        return serving.run if self._busy.get(serving.run) is serving else None

    def inside(self) -> bool:
        """Whether a handler, an ``approval``, an ``undo`` or a hook of a call asks: the session's end waits for it."""
        return self.serving() is not None or SERVING.get() in (*self._errands, *self._stopping)

    def start(self, run: int, call: Call, tool: Tool) -> None:
        """Run the handler of this call; its outcome is reported once."""
        context = self._context_of(run, call, tool) if tool.takes_context else None
        streams = tool.kind in GENERATORS and self._desk.streams(run)
        job = Job(run, call, tool, context, streams, time.perf_counter())
        if (asked := self._asked.pop(run, None)) is not None:
            job.variables = asked.variables
        self._busy[run] = job
        variables = job.variables or self._context  # those that its hooks have set, or of the opener
        self._start(partial(self._call, job), variables.copy())

    def stop(self, run: int) -> None:
        """Stop a handler: cancel it in the loop, tell its context in a thread. It still reports its outcome."""
        job = self._busy.get(run)
        if job is None:
            return
        if job.stop():
            if job.runs is not None:
                job.runs.cancel()
        # A thread cannot be stopped. It loses its place, so that calls which wait for a thread get one.
        elif job.future is not None:
            self._errand(self._abandon, job.future)

    def ask_approval(self, run: int, call: Call, tool: Tool) -> None:
        """Ask the hooks, check the arguments of the call, and ask the tool's ``approval`` with them.

        Where a hook refuses it or they do not fit the call is settled with that error. Else, true: a person must
        approve; a ``ToolError``: it is refused with that text; false: it may run.
        """
        asked = self._asked[run] = ApprovalCheck(run, call, tool)
        self._errand(self._ask_approval, asked)

    def stop_asking(self, run: int, over: bool) -> None:
        """Cancel what is asked about this call, if that still runs. ``over``: the call will never run."""
        asked = self._asked.get(run)
        if asked is None:
            return
        if asked.scope is not None:
            asked.scope.cancel()
        if over:
            del self._asked[run]
            self._errand(self._handlers.ended_early, asked.tool, asked.call, self._desk.reason(run))

    def undo(self, run: int, call: Call, tool: Tool, result: object) -> None:
        """Run the tool's ``undo``; what it raises is logged."""
        self._errand(self._undo, run, call, tool, result)

    async def wind_down(self, give_up: Callable[[], None]) -> None:
        """After the end, when all were asked to stop: give the handlers ``HANDLERS_END`` seconds, then ``give_up()``,
        which undoes what the others have done, and as much for that.

        Threads are waited for only where there is something to undo: the others may run on.
        """
        with anyio.move_on_after(leaving.HANDLERS_END):
            while self._errands or any(map(_counts, self._busy.values())):
                await self._next_end()
            return
        names = ", ".join(sorted({job.call.name for job in self._busy.values() if _counts(job)})) or "an undo"
        log.warning(
            "%s: it still runs %g s after the session has ended, and is not waited for any longer",
            names,
            leaving.HANDLERS_END,
        )
        give_up()
        with anyio.move_on_after(leaving.HANDLERS_END):
            while self._errands:
                await self._next_end()

    async def _next_end(self) -> None:
        """Until a handler or an errand has ended."""
        if self._ended is None:
            self._ended = make_wake()
        await self._ended.wait()

    def close(self) -> None:
        """Let the threads go, and end all that runs."""
        self._handlers.shutdown()
        self._closed = True
        for running in tuple(self._running):
            running.end()

    def _context_of(self, run: int, call: Call, tool: Tool) -> ToolContext[Any]:
        report = partial(self._desk.progress, run, yielded=None)
        return tool.context(call=call, deps=self._deps, session=self._session, report=report)

    async def _call(self, job: Job) -> None:
        """Run a handler, and report how it ended."""
        SERVING.set(job)
        job.runs = Leavable(self._serve(job))
        await self._run(job.runs)
        # A handler that was stopped has not settled its call, for nothing can be awaited in what was cancelled.
        if self._busy.get(job.run) is job and not self._closed:
            await self._run(Leavable(self._settle(job)))

    async def _serve(self, job: Job) -> None:
        job.done = await self._handlers.execute(job, self._desk)
        if job.runs is not None and not job.runs.cancelled:
            await self._settle(job)

    async def _run(self, leavable: Leavable) -> None:
        """Run code of the user's; after the end it is ended at once, as all that ran then."""
        if self._closed:
            leavable.end()
        self._running.add(leavable)
        try:
            await leavable
        finally:
            self._running.discard(leavable)

    async def _settle(self, job: Job) -> None:
        done = job.done or cancelled()
        del self._busy[job.run]
        if self._ended is not None:
            self._ended.set()
        if done.error is not None or log.isEnabledFor(logging.INFO):
            note(job, done, time.perf_counter() - job.since)
        # The machine undoes what has begun only.
        done.began = job.began
        reason = self._desk.reason(job.run) if job.stopped else None
        await self._desk.settled(job.run, done)
        if job.stopped:
            self._stopping.add(job)
            try:
                await self._handlers.ended_early(job.tool, job.call, reason)
            finally:
                self._stopping.discard(job)

    def _errand(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        async def called() -> None:
            SERVING.set(errand)
            await function(*args)

        errand = Leavable(called())

        async def run() -> None:
            try:
                await self._run(errand)
            finally:
                self._errands.discard(errand)
                if self._ended is not None:
                    self._ended.set()

        self._errands.add(errand)
        self._start(run, self._context.copy())

    async def _abandon(self, future: Future[Any]) -> None:
        """Give its place to another thread, once all calls that are stopped together are stopped.

        Not in the first step of this task, which is taken at once where tasks are eager: a call that waits for a
        thread, and is about to be stopped too, would begin.
        """
        await anyio.lowlevel.cancel_shielded_checkpoint()
        self._handlers.threads.abandon(future)

    async def _ask_approval(self, asked: ApprovalCheck) -> None:
        SERVING.set(asked)  # of this task alone
        run, tool = asked.run, asked.tool
        verdict: bool | str | Exception = True
        with anyio.CancelScope() as scope:
            asked.scope = scope
            try:
                verdict = await ask(asked, self._handlers, self._desk, self._context_of)
            except Exception as error:
                verdict = error
            finally:
                asked.scope = None
        if scope.cancel_called:
            return
        if not isinstance(verdict, Exception):
            await self._desk.approved(run, verdict)
            if not verdict:  # the tool's own rule lets it run: nobody is asked
                await self._handlers.tell_hooks(tool, "on_allowed", asked.call)
            return
        # Taken out before the call is settled, which stops the asking, and would report a cancellation to the hooks.
        waited = self._asked.pop(run, None) is not None
        done = self._handlers.failed(verdict, tool)
        done.began = False
        await self._desk.settled(run, done)
        if waited:
            await self._handlers.tell_hooks(tool, "on_error", asked.call, verdict)

    async def _undo(self, run: int, call: Call, tool: Tool, result: object) -> None:
        try:
            await self._handlers.user(tool.options["undo"], self._context_of(run, call, tool), call, result)
        except BaseException as error:
            excuse(log, f"the undo of {call.name} ({call.id})", error, logging.ERROR)


def _counts(job: Job) -> bool:
    """Whether the end of a session waits for this handler: it runs in the loop, or can be undone."""
    return job.future is None or job.tool.options["undo"] is not None
