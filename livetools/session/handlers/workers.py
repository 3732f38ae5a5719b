"""Reusable worker tasks: starting a task for every call would cost more than the rest of the call.

A worker waits on a plain future (a ``trio.Event``), runs a handler, reports its outcome, and waits again. On asyncio
the first step of a handler is taken at once, in the name of a worker that waits; one that never waits itself is done
then, and no task was woken for it. Each call has its own copy of the context variables of the task that opened the
session. A worker is not used again after a cancellation.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup

from livetools.events import Call
from livetools.log import get_logger
from livetools.protocol.calls import refusals
from livetools.session.framelog import detail
from livetools.session.running import closing
from livetools.setup.secrecy import place
from livetools.tools import SessionLike, Tool, ToolContext
from livetools.tools.results import error_outcome, tool_error
from livetools.transport.loop.wake import Wake, make_wake, this_task, was_cancelled

from .eager import EagerCoroutine
from .handlers import Desk, Handlers, Job, cancelled, is_of_the_user, note

log = get_logger("livetools.calls")

MAX_IDLE_WORKERS = 64  # workers that wait for a call, as many as run at once; more are let go

GENERATORS = frozenset(
    {"generator", "async_generator"}
)  # kinds of handlers whose yields may go out one by one

SERVING: ContextVar[Job | _Asking | EagerCoroutine | None] = ContextVar("livetools_serving", default=None)


class _Asking:
    """A tool's ``approval`` that runs."""

    __slots__ = ("run", "scope")

    def __init__(self, run: int) -> None:
        self.run, self.scope = run, anyio.CancelScope()


class _Waiting:
    """A call whose hooks are asked before its approval, until it runs or never will. ``variables``: the context
    variables that the hooks have left, once all have let it run."""

    __slots__ = ("call", "tool", "variables")

    def __init__(self, call: Call, tool: Tool) -> None:
        self.call, self.tool = call, tool
        self.variables: Context | None = None


class _Worker:
    __slots__ = ("begun", "job", "runs", "scope", "task", "wake")

    def __init__(self, job: Job, scope: anyio.CancelScope, wake: Wake) -> None:
        self.job: Job | None = job
        self.scope, self.wake = scope, wake
        self.task: asyncio.Task[Any] | None = None  # in whose name first steps are taken
        self.begun: EagerCoroutine | None = None  # a first step was taken; perhaps only its report waits
        self.runs: EagerCoroutine | None = None  # what its task awaits


class Workers:
    """Runs the handlers of one session, in its task group. Its methods start something, and return.

    Made in the loop, in the context of the task that opened the session.
    """

    def __init__(
        self, group: TaskGroup, handlers: Handlers, deps: object = None, session: SessionLike | None = None
    ) -> None:
        self._group, self._handlers, self._desk = group, handlers, handlers.desk
        self._deps, self._session = deps, session
        self._context: Context = copy_context()
        self._busy: dict[int, _Worker] = {}
        self._workers: set[_Worker] = set()  # that have not ended
        self._idle: list[_Worker] = []
        self._asking: dict[int, _Asking] = {}  # approvals that run
        self._waiting: dict[int, _Waiting] = {}
        self._errands: set[EagerCoroutine] = set()
        self._stopping: set[Job] = set()  # whose hooks are still to learn that they were stopped
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

    def in_loop(self) -> list[str]:
        """The names of the handlers that run in the loop itself."""
        jobs = [worker.job for worker in self._busy.values()]
        return [job.call.name for job in jobs if job is not None and job.future is None]

    def in_threads(self) -> bool:
        """Whether a handler runs in a thread, or in an executor."""
        return any(worker.job is not None and worker.job.future is not None for worker in self._busy.values())

    def serving(self) -> int | None:
        """The run whose handler or ``approval`` asks, from its own task or thread or one that it has started; ``None``:
        nobody's, or it has ended."""
        serving = SERVING.get()
        if isinstance(serving, _Asking):
            return serving.run if self._asking.get(serving.run) is serving else None
        if not isinstance(serving, Job):
            return None
        worker = self._busy.get(serving.run)
        return serving.run if worker is not None and worker.job is serving else None

    def inside(self) -> bool:
        """Whether a handler, an ``approval``, an ``undo`` or a hook of a call asks: the session's end waits for it."""
        return self.serving() is not None or SERVING.get() in (*self._errands, *self._stopping)

    def start(self, run: int, call: Call, tool: Tool) -> None:
        """Run the handler of this call; its outcome is reported once."""
        context = self._context_of(run, call, tool) if tool.takes_context else None
        streams = tool.kind in GENERATORS and self._desk.streams(run)
        job = Job(run, call, tool, context, streams, time.perf_counter())
        if (waited := self._waiting.pop(run, None)) is not None:
            job.variables = waited.variables
        while self._idle and was_cancelled(self._idle[-1].task):  # by what has kept its task: it ends
            self._idle.pop()
        if not self._idle:
            worker = self._busy[run] = _Worker(job, anyio.CancelScope(), make_wake())
            self._context.run(self._group.start_soon, _apart, partial(self._work, worker))
            return
        worker = self._busy[run] = self._idle.pop()
        worker.job = job
        if worker.task is not None:
            serving = EagerCoroutine(self._serve(worker, job), self._variables(job))
            if serving.begin(worker.task):
                self._rests(worker)
                return
            worker.begun = serving
        worker.wake.set()

    def stop(self, run: int) -> None:
        """Stop a handler: cancel it in the loop, tell its context in a thread. It still reports its outcome."""
        worker = self._busy.get(run)
        job = None if worker is None else worker.job
        if worker is None or job is None:
            return
        if job.stop():
            worker.scope.cancel()
        elif job.future is not None:
            self._errand(self._abandon, job.future)

    def ask_approval(self, run: int, call: Call, tool: Tool) -> None:
        """Ask the hooks, check the arguments of the call, and ask the tool's ``approval`` with them.

        Where a hook refuses it or they do not fit the call is settled with that error. Else, true: a person must
        approve; a ``ToolError``: it is refused with that text; false: it may run.
        """
        self._waiting[run] = _Waiting(call, tool)
        self._errand(self._ask_approval, run, call, tool)

    def stop_asking(self, run: int, over: bool) -> None:
        """Cancel what is asked about this call, if that still runs. ``over``: the call will never run."""
        if (asking := self._asking.get(run)) is not None:
            asking.scope.cancel()
        if over and (waited := self._waiting.pop(run, None)) is not None:
            self._errand(self._never_ran, waited, self._desk.reason(run))

    def undo(self, run: int, call: Call, tool: Tool, result: object) -> None:
        """Run the tool's ``undo``; what it raises is logged."""
        self._errand(self._undo, run, call, tool, result)

    async def wind_down(self, give_up: Callable[[], None]) -> None:
        """After the end, when all were asked to stop: give the handlers ``HANDLERS_END`` seconds, then ``give_up()``,
        which undoes what the others have done, and as much for that.

        Threads are waited for only where there is something to undo: the others may run on.
        """
        with anyio.move_on_after(closing.HANDLERS_END):
            return await self._handlers_ended()
        names = (
            ", ".join(sorted({w.job.call.name for w in self._busy.values() if w.job and _counts(w)}))
            or "an undo"
        )
        log.warning(
            "%s: it still runs %g s after the session has ended, and is not waited for any longer",
            names,
            closing.HANDLERS_END,
        )
        give_up()
        with anyio.move_on_after(closing.HANDLERS_END):
            while self._errands:
                await self._next_end()
        return None

    async def _handlers_ended(self) -> None:
        while self._errands or any(map(_counts, self._busy.values())):
            await self._next_end()

    async def _next_end(self) -> None:
        """Until a handler or an errand has ended."""
        if self._ended is None:
            self._ended = make_wake()
        await self._ended.wait()

    def close(self) -> None:
        """Let the threads go, and soon what runs on though it is cancelled: the caller cancels everything now."""
        self._handlers.shutdown()
        self._closed = True
        for running in (*self._errands, *(worker.runs for worker in self._workers)):
            if running is not None:
                running.leave_soon()

    def _variables(self, job: Job) -> Context:
        """The context variables of a call: those of the task that opened the session, and what its hooks have set."""
        return (job.variables or self._context).copy()

    def _context_of(self, run: int, call: Call, tool: Tool) -> ToolContext[Any]:
        report = _Report(self._desk, run)
        return tool.context(call=call, deps=self._deps, session=self._session, report=report)

    async def _serve(self, worker: _Worker, job: Job) -> None:
        """One call, in a context of its own."""
        SERVING.set(job)
        job.done = await self._handlers.execute(job)
        if not (job.stopped and worker.scope.cancel_called):  # else nothing can be awaited inside the scope
            worker.job = None
            await self._settle(job)

    async def _work(self, worker: _Worker) -> None:
        """One call after another, until one leaves a cancellation."""
        self._workers.add(worker)
        try:
            with worker.scope:
                worker.task = this_task()
                while True:
                    await (await self._next(worker))
                    if not self._rests(worker):
                        break
            if worker.job is not None:
                context = self._context.copy()
                context.run(SERVING.set, worker.job)
                worker.runs = self._eager(self._settle(worker.job), context)
                await worker.runs
        finally:
            self._workers.remove(worker)
            if worker in self._idle:
                self._idle.remove(worker)

    def _rests(self, worker: _Worker) -> bool:
        """Whether this worker may have another job, and waits for it. One that was cancelled ends, though its call took
        that back: what it waits on is cancelled."""
        ends = worker.scope.cancel_called or was_cancelled(worker.task) or worker.wake.cancelled
        rests = not ends and len(self._idle) < MAX_IDLE_WORKERS
        if rests:
            self._idle.append(worker)
        return rests

    async def _next(self, worker: _Worker) -> EagerCoroutine:
        """The next call that is to be served, or gone on with."""
        try:
            while worker.begun is None and worker.job is None:
                await worker.wake.wait()
        except BaseException as error:  # a cancellation, after the first step of a call and before the second
            if worker.begun is None:
                raise
            worker.begun.cancel(error)
        begun, worker.begun = worker.begun, None
        if begun is None:
            assert worker.job is not None
            begun = self._eager(self._serve(worker, worker.job), self._variables(worker.job))
        worker.runs = begun
        return begun

    def _eager(self, coroutine: Coroutine[Any, Any, None], context: Context) -> EagerCoroutine:
        """What runs next. After the end it is cancelled at once, as all that ran then."""
        made = EagerCoroutine(coroutine, context)
        if self._closed:
            made.leave_soon()
        return made

    async def _settle(self, job: Job) -> None:
        done = job.done or cancelled()
        del self._busy[job.run]
        if self._ended is not None:
            self._ended.set()
        if done.error is not None or log.isEnabledFor(logging.INFO):
            note(job, done, time.perf_counter() - job.since)
        done.began = job.began
        reason = self._desk.reason(job.run) if job.stopped else None
        await self._desk.settled(job.run, done)
        if job.stopped:
            self._stopping.add(job)
            try:
                await self._handlers.stopped(job, reason)
            finally:
                self._stopping.discard(job)

    def _errand(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        async def called() -> None:
            SERVING.set(errand)
            await function(*args)

        errand = self._eager(called(), self._context.copy())

        async def run() -> None:
            try:
                await errand
            finally:
                self._errands.discard(errand)
                if self._ended is not None:
                    self._ended.set()

        self._errands.add(errand)
        self._context.run(self._group.start_soon, _apart, run)

    async def _abandon(self, future: Future[Any]) -> None:
        """Give its place to another thread. As an errand: all calls that are stopped together are stopped first."""
        self._handlers.threads.abandon(future)

    async def _ask_approval(self, run: int, call: Call, tool: Tool) -> None:
        asking = self._asking[run] = _Asking(run)
        SERVING.set(asking)  # of this task alone
        verdict: bool | str = True
        failed: Exception | None = None
        with asking.scope:
            try:
                call, args = await self._decided(run, call, tool)
                if tool.options["approval"] is not True:
                    verdict = await self._verdict(tool, run, call, args)
            except Exception as error:
                failed = error
            finally:
                del self._asking[run]
        if asking.scope.cancel_called:
            return
        if failed is None:
            await self._desk.approved(run, verdict)
            if not verdict:
                await self._handlers.allowed(tool, call)
            return
        waited = self._waiting.pop(run, None)
        done = self._handlers.failed(failed, tool)
        done.began = False
        await self._desk.settled(run, done)
        if waited is not None:
            await self._handlers.refused(tool, waited.call, failed)
        return

    async def _decided(self, run: int, call: Call, tool: Tool) -> tuple[Call, Mapping[str, Any]]:
        """Ask the hooks. The call with the arguments that are shown and run, and these arguments, validated."""
        decided = await self._handlers.decide(call, tool)
        if decided is not call:
            self._desk.decided(run, decided)
        args = tool.arguments(decided.args)
        if (waited := self._waiting.get(run)) is not None:
            waited.call, waited.variables = decided, copy_context()
        return decided, args

    async def _never_ran(self, waited: _Waiting, reason: Exception | None) -> None:
        if reason is None or reason is refusals.CANCELLED.error:
            await self._handlers.withdrawn(waited.tool, waited.call)
        else:
            await self._handlers.refused(waited.tool, waited.call, reason)

    async def _verdict(self, tool: Tool, run: int, call: Call, args: Mapping[str, Any]) -> bool | str:
        """What the tool's ``approval`` says: whether a person must decide, or why the call is refused."""
        try:
            return bool(
                await self._handlers.user(tool.options["approval"], self._context_of(run, call, tool), args)
            )
        except BaseException as error:
            if not is_of_the_user(error):
                raise
            if tool_error(error) is not None:
                return str(error_outcome(error, call.name).response["error"])
            log.error("the approval of %s failed: %s", call.name, place(error), exc_info=detail(error))
            return "its approval failed"

    async def _undo(self, run: int, call: Call, tool: Tool, result: object) -> None:
        try:
            await self._handlers.user(tool.options["undo"], self._context_of(run, call, tool), call, result)
        except BaseException as error:
            if not is_of_the_user(error):
                raise
            where = place(error)
            log.error("the undo of %s (%s) failed: %s", call.name, call.id, where, exc_info=detail(error))


async def _apart(run: Callable[[], Awaitable[None]]) -> None:
    """Run code of the user's in a task of the session's. If other code than the session cancels that
    task (the function itself, or code that kept the task), only that task ends."""
    try:
        await run()
        await anyio.lowlevel.cancel_shielded_checkpoint()  # where one that is pending is raised
    except anyio.get_cancelled_exc_class() as error:
        if not is_of_the_user(error):
            raise


def _counts(worker: _Worker) -> bool:
    """Whether the end of a session waits for what this worker does: it runs in the loop, or can be undone."""
    job = worker.job
    return job is not None and (job.future is None or job.tool.options["undo"] is not None)


class _Report:
    """What ``context.progress`` calls."""

    __slots__ = ("_desk", "_run")

    def __init__(self, desk: Desk, run: int) -> None:
        self._desk, self._run = desk, run

    async def __call__(self, value: object) -> None:
        await self._desk.progress(self._run, value, None)
