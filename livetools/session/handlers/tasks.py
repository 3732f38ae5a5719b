"""Runs each call in a task of its own, and so what is asked, undone and told beside it.

The first step of a handler is taken at once where the loop has eager tasks (asyncio, from Python 3.12 on): one that
never waits itself is done then. Each call has its own copy of the context variables of the task that opened the
session.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import anyio

from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import AskApproval, Outcome, RunTool, Undo
from livetools.session.running import leaving
from livetools.session.running.task_host import Starter
from livetools.transport.loop.wake import Wake, make_wake

from .call_hooks import ended_early, tell_all
from .job import Job
from .run_tool import ToolRunner, cancelled, note
from .user_code import SERVING, UserCode

log = get_logger("livetools.calls")


class Tasks:
    """Runs the handlers of one session, in its task group. Its methods start something, and return.

    Made in the loop, in the context of the task that opened the session.
    """

    def __init__(self, starter: Starter, runner: ToolRunner) -> None:
        self._starter, self._runner = starter, runner
        self._context = copy_context()
        self._busy: dict[int, Job] = {}  # handlers that run, by their runs
        self._asked: dict[int, Job] = {}  # calls whose approval is asked, or that wait for a person
        self._errands: set[UserCode] = set()  # all other code of the user's that runs, or is about to
        self._ended: Wake | None = None  # set when a handler or an errand ends, once somebody waits for that
        self._closed = False

    def stats(self) -> dict[str, int | dict[str, int]]:
        """Handlers that run, threads in use, functions that wait for a thread, and how often each tool has blocked the
        event loop."""
        threads = self._runner.threads
        return {
            "handlers": len(self._busy),
            "threads": 0 if threads is None else threads.running,
            "waiting_for_thread": 0 if threads is None else threads.waiting,
            "loop_blocks": dict(self._runner.blocks),
        }

    def in_threads(self) -> bool:
        """Whether a handler runs in a thread, or in an executor."""
        return any(job.future is not None for job in self._busy.values())

    def serving(self) -> int | None:
        """The run of the handler or ``approval`` that calls this, from its own task or thread or from one that it has
        started; ``None``: other code calls, or that run has ended."""
        code = SERVING.get()
        return code.run if code is not None and self.inside() else None

    def inside(self) -> bool:
        """Whether a handler, an ``approval``, an ``undo`` or a hook calls this: the session's end waits for such code,
        which must not wait for the end."""
        code = SERVING.get()
        return code in self._errands or (isinstance(code, Job) and self._busy.get(code.run) is code)

    def start(self, action: RunTool) -> None:
        """Run the handler of this call; its outcome is reported once."""
        runner = self._runner
        job = self._busy[action.run] = Job(action, runner.hooks)
        job.streams = action.streams
        if job.tool.takes_context:
            job.context = runner.context_of(job)
        variables = self._context
        if (asked := self._asked.pop(action.run, None)) is not None and asked.variables is not None:
            variables = job.variables = asked.variables
        self._starter.start(self._serve(job), variables.copy())

    def stop(self, run: int) -> None:
        """Stop a handler: cancel it in the loop, tell its context in a thread. It still reports its outcome."""
        if (job := self._busy.get(run)) is not None:
            job.stop()

    def ask_approval(self, action: AskApproval) -> None:
        """Ask the hooks, check the arguments of the call, and ask the tool's ``approval`` with them.

        Where a hook refuses it or they do not fit the call is settled with that error; else the verdict is reported.
        """
        job = self._asked[action.run] = Job(action, self._runner.hooks)
        self._start_errand(job, self._ask(job))

    def stop_asking(self, run: int, over: bool) -> None:
        """Cancel what is asked about this call, if that still runs. ``over``: the call will never run."""
        if (job := self._asked.get(run)) is not None:
            job.cancel()
            if over:
                del self._asked[run]
                self.errand(ended_early(job, self._runner.desk.reason(run)))

    def undo(self, action: Undo) -> None:
        """Run the tool's ``undo``; what it raises is logged."""
        self.errand(self._runner.undo(action))

    def errand(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run code of the user's beside the calls. The session's end waits for it, as for a handler."""
        self._start_errand(UserCode(), coroutine)

    async def wind_down(self, give_up: Callable[[], None]) -> None:
        """After the end, when all were asked to stop: wait ``HANDLERS_END`` seconds for the handlers. If some still run
        then, call ``give_up()``, which undoes what they have done, and wait as long again for that.

        Threads are waited for only where there is something to undo: the others may run on.
        """
        with anyio.move_on_after(leaving.HANDLERS_END):
            while self._errands or any(map(_counts, self._busy.values())):
                await self._next_end()
            return
        names = ", ".join(sorted({job.call.name for job in self._busy.values() if _counts(job)}))
        log.warning(
            "%s: it still runs %g s after the session has ended, and is not waited for any longer",
            names or "an undo or a hook",
            leaving.HANDLERS_END,
        )
        give_up()
        with anyio.move_on_after(leaving.HANDLERS_END):  # an undo that began late is not cut off either
            while self._errands:
                await self._next_end()

    async def _next_end(self) -> None:
        """Until a handler or an errand has ended."""
        if self._ended is None:
            self._ended = make_wake()
        await self._ended.wait()

    def close(self) -> None:
        """Let the threads go, and end all that runs. What is started after that is ended at once."""
        self._runner.shutdown()
        self._closed = True
        for code in (*self._busy.values(), *self._errands):
            code.end()

    async def _serve(self, job: Job) -> None:
        """Run a handler, and report how it ended: not after the end of the session.

        A handler that was stopped before its task came round does not begin.
        """
        SERVING.set(job)
        runner, desk = self._runner, self._runner.desk
        handle = runner.handle_with_hooks if job.hooks else runner.handle
        try:
            done = None if job.cancelled else await job.perform(handle(job))
        finally:
            del self._busy[job.run]
            if self._ended is not None:
                self._ended.set()
        if self._closed:
            return
        done = done or cancelled()
        if done.error is not None or log.isEnabledFor(logging.INFO):
            note(job, done, time.perf_counter() - job.since)
        # The machine undoes what has begun only.
        done.began = job.began
        reason = desk.reason(job.run) if job.cancelled else None
        unwritten = desk.settled(job.run, done)
        if job.cancelled:
            self.errand(ended_early(job, reason))
        if unwritten:
            await desk.flush()

    def _start_errand(self, code: UserCode, coroutine: Coroutine[Any, Any, None]) -> None:
        self._errands.add(code)
        if self._closed:
            code.end()
        self._starter.start(self._run_errand(code, coroutine), self._context.copy())

    async def _run_errand(self, code: UserCode, coroutine: Coroutine[Any, Any, None]) -> None:
        SERVING.set(code)
        try:
            await code.perform(coroutine)
        finally:
            self._errands.remove(code)
            if self._ended is not None:
                self._ended.set()

    async def _ask(self, job: Job) -> None:
        """Ask whether a call may run, and report the answer. The hooks learn of it in an errand of their own, which is
        not cancelled with this one."""
        verdict = await self._runner.ask(job)
        if job.cancelled:
            return
        desk = self._runner.desk
        if isinstance(verdict, Outcome):
            # Taken out before the call is settled: that stops the asking, and would report a cancellation to the hooks.
            self._asked.pop(job.run, None)
            desk.settled(job.run, verdict)
            self.errand(tell_all(job.hooks, "on_error", job.call, verdict.error))
            await desk.flush()
        else:
            desk.approved(job.run, verdict)
            if not verdict:  # the tool's own rule lets it run: nobody is asked
                self.errand(tell_all(job.hooks, "on_allowed", job.call))


def _counts(job: Job) -> bool:
    """Whether the end of a session waits for this handler: it runs in the loop, or can be undone."""
    return job.future is None or job.tool.options["undo"] is not None
