"""Runs one call of one tool, from its arguments to its ``Outcome``. Everything that a handler can do ends as one.

So does its ``approval`` before it, and its ``undo`` behind it.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_tb
from types import GeneratorType, TracebackType
from typing import Any

from livetools.errors import ToolError
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Outcome, Undo
from livetools.session.frame_log import detail
from livetools.setup.secrecy import place
from livetools.tools import Hooks, SessionLike, Tool, ToolContext, ToolResult
from livetools.tools.definition.callbacks import with_context
from livetools.tools.results.outcomes import error_outcome, outcome, tool_error
from livetools.tools.run_offline import awaited, closing, is_async_iterable
from livetools.transport.loop.wake import was_cancelled

from . import call_hooks
from .from_thread import FromThread
from .job import Desk, Job
from .threads import DaemonThreads, result_of
from .user_code import excuse, is_of_the_user, turn_of_the_loop

log = get_logger("livetools.calls")

_END = object()

#: What most handlers return: nothing that is awaited, or that yields.
RESULTS = frozenset({Outcome, str, int, float, bool, dict, list, type(None)})


def cancelled() -> Outcome:
    """Of a handler that was stopped. The machine has the reason and the answer already; this only ends the run."""
    return error_outcome(ToolError("cancelled"), "")


@dataclass(slots=True)
class ToolRunner:
    """How calls are run: whom they report to, the response key, the hooks of the session, what their contexts hold, and
    where sync functions go."""

    desk: Desk
    key: str = "output"
    hooks: Sequence[Hooks] = ()
    deps: object = None
    session: SessionLike | None = None
    threads: DaemonThreads | None = None  # made when there is something for them
    aside: DaemonThreads | None = None  # for what no tool may hold up; likewise
    blocks: dict[str, int] = field(default_factory=dict)  # how often each tool has blocked the event loop
    # How often each tool has failed in a row, as far as the model could correct it.
    failures: dict[str, int] = field(default_factory=dict)

    async def handle(self, job: Job) -> Outcome:
        """Run the handler. Raises nothing but cancellation, and that only if this very task is cancelled."""
        tool = job.tool
        handler = tool.handler
        assert handler is not None  # the machine starts no call that is only declared
        try:
            positional, keyword = tool.bind(job.call.args, job.context)
            if tool.kind == "async":
                job.began = True
                value = await handler(*positional, **keyword)
            elif tool.kind == "sync":
                value = await self._in_thread(job, partial(handler, *positional, **keyword))
            else:
                job.began = tool.kind == "async_generator"
                value = handler(*positional, **keyword)
            if type(value) not in RESULTS:
                value = await self._end_of(job, value)
            most = tool.options["max_result_bytes"]
            done: Outcome = value if type(value) is Outcome else outcome(value, self.key, most)
        except BaseException as error:  # sys.exit() in a tool ends the tool, not the session
            # Somebody cancelled this very task: the handler itself, or the loop that ends, which cancels the session
            # too. After a turn of the loop it is known which.
            if was_cancelled():
                await turn_of_the_loop()
            if not is_of_the_user(error):
                raise
            # A future that no thread had taken up was cancelled: the handler has not failed, it never began.
            withdrawn = job.cancelled and isinstance(error, CancelledError)
            return cancelled() if withdrawn else self.failed(error, tool)
        if self.failures and done.error is None:
            self.failures.pop(tool.name, None)
        return done

    async def handle_with_hooks(self, job: Job) -> Outcome:
        """Ask the hooks whether the handler may run, unless they have let it run already, and for what it returns."""
        try:
            if job.variables is None:
                await call_hooks.decide(job, self.desk)
        except BaseException as error:
            if not is_of_the_user(error):
                raise
            done = self.failed(error, job.tool)
        else:
            done = cancelled() if job.cancelled else await self.handle(job)
        # Of a call that was stopped the hooks learn from ``ended_early``, which knows the reason.
        return done if job.cancelled else await call_hooks.review(job, done, self.key)

    def failed(self, error: BaseException, tool: Tool) -> Outcome:
        """The outcome of a failed call. Past the tool's ``retries`` the error tells the model to stop trying."""
        retries, stop = tool.options["retries"], False
        if retries is not None and tool_error(error) is not None:
            self.failures[tool.name] = count = self.failures.get(tool.name, 0) + 1
            stop = count > retries
        return error_outcome(error, tool.name, stop)

    async def _end_of(self, job: Job, value: Any) -> Any:
        """What becomes of a value that may be waited for, or that may yield."""
        value = await awaited(value)
        # The yields of a generator, which the tool is itself, or a function that it called has made.
        if inspect.isgenerator(value):
            value = self._steps(job, value)
        return await self._stream(job, aiter(value)) if is_async_iterable(value) else value

    async def _in_thread(self, job: Job, function: partial[Any]) -> Any:
        executor = job.tool.options["executor"]
        if executor is None:
            most = job.tool.options["max_result_bytes"]
            return await self._threaded(job, partial(copy_context().run, self._made, function, most))
        run: Callable[..., Any] = function.func
        # With the context variables of the call, which threads can be given; other processes take no closures, and get
        # what hooks make of them.
        if isinstance(executor, ThreadPoolExecutor):
            run = partial(copy_context().run, run)
        else:
            for hook in job.hooks:
                if (wrap := getattr(hook, "elsewhere", None)) is not None:
                    run = wrap(job.call, run)
        return await self._submitted(job, executor.submit(run, *function.args, **function.keywords))

    def _made(self, function: Callable[[], Any], most: int | None) -> Any:
        """The outcome of a sync function, put into words in its thread: a lazy or a large result takes time."""
        value = function()
        # These need the loop; everything else is put into words here, beside it.
        waits = inspect.isawaitable(value) or inspect.isgenerator(value) or is_async_iterable(value)
        return value if waits else outcome(value, self.key, most)

    async def _threaded(self, job: Job, function: Callable[[], Any]) -> Any:
        """Run a part of a handler in a thread of the session's."""
        job.way_back = job.way_back or FromThread()
        self.threads = self.threads or DaemonThreads()
        return await self._submitted(job, job.way_back.submit(self.threads, function))

    async def _unhindered(self, function: Callable[[], Any]) -> Any:
        """Run a sync function in a thread that no handler can have taken."""
        self.aside = self.aside or DaemonThreads()
        return await result_of(FromThread().submit(self.aside, function))

    async def _submitted(self, job: Job, future: Future[Any]) -> Any:
        job.future = future
        try:
            return await result_of(future)
        finally:
            job.future = None
            job.began = job.began or not (future.cancelled() or future.cancel())

    async def _steps(self, job: Job, generator: GeneratorType[Any, Any, Any]) -> AsyncIterator[Any]:
        """A sync generator as an async one: each step is taken in a thread, all in one context."""
        run = copy_context().run
        try:
            while (value := await self._threaded(job, partial(run, next, generator, _END))) is not _END:
                yield value
        finally:
            if not generator.gi_running:  # no thread is inside it: its own ``finally`` can run
                await self._unhindered(partial(run, generator.close))

    async def _stream(self, job: Job, values: AsyncIterator[Any]) -> Outcome:
        """Report each yield; gather them where the model takes no response bit by bit."""
        gathered: list[object] = []
        streamed = False
        most = job.tool.options["max_result_bytes"]
        ends_session, handoff = False, None  # what the yields ask of the session
        try:
            async with closing(values):
                async for value in values:
                    plain = value = await awaited(value)
                    if isinstance(value, ToolResult):
                        plain = value.value
                        ends_session = ends_session or value.ends_session
                        handoff = value.handoff or handoff
                    part = outcome(value, self.key, most) if job.streams else None
                    if part is None:
                        gathered.append(value)  # the media of a ToolResult go along
                    await self.desk.progress(job.run, plain, part)
                    streamed = job.streams
                    if job.cancelled:
                        break
        except Exception as error:
            if not gathered:
                raise
            # The model has seen none of it, and gets it with the error.
            done, failed = outcome(gathered, self.key, most), self.failed(error, job.tool)
            failed.response, failed.parts = {**done.response, **failed.response}, done.parts
            return failed
        # The end says nothing of its own. Without a single yield it is the result: an empty list, to be spoken of.
        done = Outcome({}) if streamed else outcome(gathered, self.key, most)
        done.ends_session, done.handoff = ends_session, handoff
        return done

    def context_of(self, job: Job | Undo) -> ToolContext[Any]:
        """What the handler, the ``approval`` or the ``undo`` of a call gets as its context."""
        tool: Tool = job.tool
        report = partial(self.desk.progress, job.run, yielded=None)
        return tool.context(call=job.call, deps=self.deps, session=self.session, report=report)

    async def ask(self, job: Job) -> bool | str | Outcome:
        """Ask the hooks, which may replace the arguments, and the tool's ``approval``. True: a person must decide; a
        text: it is refused with that; false: it may run.

        An outcome: a hook has refused it, or its arguments do not fit.
        """
        job.context = self.context_of(job)
        try:
            await call_hooks.decide(job, self.desk)
            # Those with which the call is shown and run, validated.
            args = job.tool.arguments(job.call.args)
        except Exception as error:
            done = self.failed(error, job.tool)
            done.began = False
            return done
        job.variables = copy_context()
        approval = job.tool.options["approval"]
        if approval is True:
            return True
        try:
            return bool(await self._user(approval, job.context, args))
        except BaseException as error:
            # The text of a ToolError is meant for the model; of another error it reads nothing.
            if is_of_the_user(error) and tool_error(error) is not None:
                return str(error_outcome(error, job.call.name).response["error"])
            excuse(log, f"the approval of {job.call.name}", error, logging.ERROR)
            return "its approval failed"

    async def undo(self, action: Undo) -> None:
        """Run the tool's ``undo``; what it raises is logged."""
        call = action.call
        try:
            await self._user(action.tool.options["undo"], self.context_of(action), call, action.result)
        except BaseException as error:
            excuse(log, f"the undo of {call.name} ({call.id})", error, logging.ERROR)

    async def _user(self, function: Callable[..., Any], context: ToolContext[Any], *args: object) -> Any:
        """Run a callable of the user (``undo``, ``approval``), sync or async; an awaitable that it returns is awaited.

        It gets the context if it takes one.
        """
        positional, keyword = with_context(function, args, context)
        # A coroutine function runs in the loop. A sync one could hold that up, and gets a thread.
        if inspect.iscoroutinefunction(function):
            return await function(*positional, **keyword)
        value = await self._unhindered(partial(copy_context().run, function, *positional, **keyword))
        return await value if inspect.isawaitable(value) else value

    def shutdown(self) -> None:
        """Let the threads go."""
        for threads in (self.threads, self.aside):
            if threads is not None:
                threads.shutdown()


def warn_unread(name: str, seconds: float) -> None:
    """Say that a call of this tool waits for a person, and that no loop of the program would tell one."""
    log.warning(
        "%s waits up to %g s for an approval, and nobody reads the session's events: approve it in a loop, "
        "async for event in session, with: case ApprovalRequested(call): await session.approve(call)",
        name,
        seconds,
    )


def note(job: Job, done: Outcome, elapsed: float) -> None:
    """Log how a call ended: names, ids and times, no arguments and no results."""
    call, error = job.call, done.error
    level = logging.INFO if error is None or isinstance(error, ToolError) else logging.ERROR
    if not log.isEnabledFor(level):
        return
    how = "done" if error is None else type(error).__name__
    extra = {"call_id": call.id, "tool": call.name, "duration": elapsed, "outcome": how}
    if error is None or level == logging.INFO:
        log.log(level, "%s (%s): %s in %.3f s", call.name, call.id, how, elapsed, extra=extra)
        return
    error = error.with_traceback(_of_the_user(error.__traceback__))
    shown, advice = detail(error), _advice(job, error)
    if shown is None:
        advice += " (message hidden; see ToolFinished.error, or set LIVETOOLS_LOG=frames)"
    message = "%s (%s): %s, after %.3f s%s"
    log.log(level, message, call.name, call.id, place(error), elapsed, advice, extra=extra, exc_info=shown)


def _advice(job: Job, error: Exception) -> str:
    """What to do where a tool used ``context.deps`` and there are none; nothing for any other error."""
    if job.context is None or job.context.deps is not None:
        return ""
    used_none = (isinstance(error, AttributeError) and error.obj is None and error.name is not None) or (
        type(error) is TypeError and "'NoneType' object" in str(error)
    )
    if used_none and any("deps" in frame.f_code.co_names for frame, _ in walk_tb(error.__traceback__)):
        return ": context.deps is None, pass connect(deps=...)"
    return ""


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that is the user's."""
    ours = ("livetools.", "concurrent.futures")
    while trace is not None and trace.tb_next is not None:
        if not str(trace.tb_frame.f_globals.get("__name__", "")).startswith(ours):
            break
        trace = trace.tb_next
    return trace
