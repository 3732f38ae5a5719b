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
from functools import partial
from typing import Any

import anyio

from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import AskApproval, Outcome, Start, Undo
from livetools.session.running import leaving
from livetools.session.running.task_host import Starter
from livetools.tools import SessionLike, ToolContext
from livetools.transport.loop.wake import Wake, make_wake

from .abandon import SERVING, Leavable
from .approvals import ask
from .call_hooks import ended_early, tell_all
from .job import Desk, Job
from .run_tool import ToolRunner, cancelled, note
from .user_errors import excuse

log = get_logger("livetools.calls")


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
        self._starter, self._handlers, self._desk = starter, handlers, desk
        self._deps, self._session = deps, session
        self._context = copy_context()
        self._busy: dict[int, Job] = {}  # handlers that run
        self._asked: dict[int, Job] = {}  # calls whose approval is asked, or that wait for a person
        # All code of the user's that runs, or is about to. True: an errand, whose end the session waits for.
        self._running: dict[Leavable[Any], bool] = {}
        self._ended: Wake | None = None  # set when a handler or an errand ends, once somebody waits for that
        self._closed = False

    def stats(self) -> dict[str, int | dict[str, int]]:
        """Handlers that run, threads in use, functions that wait for a thread, and how often each tool has blocked the
        event loop."""
        threads = self._handlers.threads
        return {
            "handlers": len(self._busy),
            "threads": 0 if threads is None else threads.running,
            "waiting_for_thread": 0 if threads is None else threads.waiting,
            "loop_blocks": dict(self._handlers.blocks),
        }

    def in_threads(self) -> bool:
        """Whether a handler runs in a thread, or in an executor."""
        return any(job.future is not None for job in self._busy.values())

    def serving(self) -> int | None:
        """The run whose handler or ``approval`` asks, from its own task or thread or one that it has started; ``None``:
        nobody's, or it has ended."""
        code = SERVING.get()
        return code.run if code is not None and code in self._running else None

    def inside(self) -> bool:
        """Whether code that asks here is a handler, an ``approval``, an ``undo`` or a hook: the session's end waits
        for it."""
        return SERVING.get() in self._running

    def start(self, action: Start) -> None:
        """Run the handler of this call; its outcome is reported once."""
        job = self._asked.pop(action.run, None) or self._job(action)
        job.code = code = Leavable(self._handlers.execute(job, self._desk), job.run)  # what has asked is over
        job.context = self._context_of(job) if job.tool.takes_context else None
        job.streams, job.since = action.streams, time.perf_counter()
        self._busy[job.run] = job
        variables = job.variables or self._context  # those that its hooks have set, or of the opener
        self._running[code] = False
        self._starter.start(self._run(code, job), variables.copy())

    def stop(self, run: int) -> None:
        """Stop a handler: cancel it in the loop, tell its context in a thread. It still reports its outcome."""
        if (job := self._busy.get(run)) is not None:
            job.stop()

    def ask_approval(self, action: AskApproval) -> None:
        """Ask the hooks, check the arguments of the call, and ask the tool's ``approval`` with them.

        Where a hook refuses it or they do not fit the call is settled with that error. Else, true: a person must
        approve; a ``ToolError``: it is refused with that text; false: it may run.
        """
        job = self._asked[action.run] = self._job(action)
        job.context = self._context_of(job)
        job.code = Leavable(self._ask_approval(job), job.run)
        self._errand(job.code)

    def stop_asking(self, run: int, over: bool) -> None:
        """Cancel what is asked about this call, if that still runs. ``over``: the call will never run."""
        job = self._asked.get(run)
        if job is None:
            return
        if job.code is not None and job.code.run is not None:
            job.code.cancel()
        if over:
            del self._asked[run]
            self.errand(ended_early(job, self._desk.reason(run)))

    def undo(self, action: Undo) -> None:
        """Run the tool's ``undo``; what it raises is logged."""
        self.errand(self._undo(self._job(action), action.result))

    def errand(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run code of the user's beside the calls. The session's end waits for it, as for a handler."""
        self._errand(Leavable(coroutine))

    async def wind_down(self, give_up: Callable[[], None]) -> None:
        """After the end, when all were asked to stop: give the handlers ``HANDLERS_END`` seconds, then ``give_up()``,
        which undoes what the others have done, and as much for that.

        Threads are waited for only where there is something to undo: the others may run on.
        """
        with anyio.move_on_after(leaving.HANDLERS_END):
            while self._errands() or any(map(_counts, self._busy.values())):
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
            while self._errands():
                await self._next_end()

    def _errands(self) -> bool:
        return any(self._running.values())

    async def _next_end(self) -> None:
        """Until a handler or an errand has ended."""
        if self._ended is None:
            self._ended = make_wake()
        await self._ended.wait()

    def close(self) -> None:
        """Let the threads go, and end all that runs."""
        self._handlers.shutdown()
        self._closed = True
        for code in tuple(self._running):
            code.end()

    def _job(self, action: Start | AskApproval | Undo) -> Job:
        hooks, tool = self._handlers.hooks, action.tool
        return Job(action.run, action.call, tool, (*hooks, *tool.hooks) if hooks or tool.hooks else ())

    def _context_of(self, job: Job) -> ToolContext[Any]:
        report = partial(self._desk.progress, job.run, yielded=None)
        return job.tool.context(call=job.call, deps=self._deps, session=self._session, report=report)

    def _errand(self, errand: Leavable[None]) -> None:
        self._running[errand] = True
        self._starter.start(self._run(errand), self._context.copy())

    async def _run(self, code: Leavable[Any], job: Job | None = None) -> None:
        """Run code of the user's; after the end it is ended at once, as all that ran then. Of a handler report how it
        ended. The report is not cancelled with it: it may be on its way to the model."""
        SERVING.set(code)
        if self._closed:
            code.end()
        try:
            done = await code
        finally:
            del self._running[code]
            if self._ended is not None:
                self._ended.set()
        if job is not None and not self._closed:
            await self._settle(job, done or cancelled())

    async def _settle(self, job: Job, done: Outcome) -> None:
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
            self.errand(ended_early(job, reason))

    async def _ask_approval(self, job: Job) -> None:
        verdict: bool | str | Exception
        asking = SERVING.get()  # not job.code: a handler may have taken its place before this task began
        assert asking is not None
        try:
            verdict = await ask(job, self._handlers, self._desk)
        except Exception as error:
            verdict = error
        asking.run = None  # it is not asked any more
        if asking.cancelled:
            return
        if not isinstance(verdict, Exception):
            await self._desk.approved(job.run, verdict)
            if not verdict:  # the tool's own rule lets it run: nobody is asked
                await tell_all(job.hooks, "on_allowed", job.call)
            return
        # Taken out before the call is settled, which stops the asking, and would report a cancellation to the hooks.
        waited = self._asked.pop(job.run, None) is not None
        done = self._handlers.failed(verdict, job.tool)
        done.began = False
        await self._desk.settled(job.run, done)
        if waited:
            await tell_all(job.hooks, "on_error", job.call, verdict)

    async def _undo(self, job: Job, result: object) -> None:
        undo, call = job.tool.options["undo"], job.call
        try:
            await self._handlers.user(undo, self._context_of(job), call, result)
        except BaseException as error:
            excuse(log, f"the undo of {call.name} ({call.id})", error, logging.ERROR)


def _counts(job: Job) -> bool:
    """Whether the end of a session waits for this handler: it runs in the loop, or can be undone."""
    return job.future is None or job.tool.options["undo"] is not None
