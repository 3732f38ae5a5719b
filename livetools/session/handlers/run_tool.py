"""Runs one call of one tool, from its arguments to its ``Outcome``. Everything that a handler can do ends as one."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_tb
from types import TracebackType
from typing import Any

from livetools.errors import ToolError
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Outcome
from livetools.session.frame_log import detail
from livetools.setup.secrecy import place
from livetools.tools import Hooks, Tool, ToolContext, ToolResult
from livetools.tools.callbacks import with_context
from livetools.tools.offline import closing, is_async_iterable
from livetools.tools.results import error_outcome, outcome, tool_error
from livetools.transport.loop.wake import was_cancelled

from . import call_hooks
from .from_thread import FromThread
from .job import Desk, Job
from .threads import DaemonThreads, result_of
from .user_errors import is_of_the_user, turn_of_the_loop

log = get_logger("livetools.calls")

CANCELLED_TEXT = "cancelled"
_END = object()

#: What most handlers return: nothing that is awaited, or that yields.
RESULTS = frozenset({Outcome, str, int, float, bool, dict, list, type(None)})


def cancelled() -> Outcome:
    """Of a handler that was stopped. The machine has the reason and the answer already; this only ends the run."""
    error = ToolError(CANCELLED_TEXT)
    return Outcome({"error": CANCELLED_TEXT}, error)


@dataclass(slots=True)
class ToolRunner:
    """How calls are run: the response key, the hooks of the session, and where sync functions go."""

    key: str = "output"
    hooks: Sequence[Hooks] = ()
    threads: DaemonThreads | None = None  # made when there is something for them
    aside: DaemonThreads | None = None  # for what no tool may hold up; likewise
    blocks: dict[str, int] = field(default_factory=dict)  # how often each tool has blocked the event loop
    # How often each tool has failed in a row, as far as the model could correct it.
    failures: dict[str, int] = field(default_factory=dict)

    async def execute(self, job: Job, desk: Desk) -> Outcome:
        """Run the handler, which reports to ``desk``. Raises nothing but cancellation, and that only if this very
        task is cancelled.

        A handler that was stopped before its task came round does not begin.
        """
        tool = job.tool
        try:
            if job.hooks and not job.stopped and job.variables is None:
                await call_hooks.decide(job, desk)
            done = cancelled() if job.stopped else await self._handle(job, tool, desk)
        except BaseException as error:  # sys.exit() in a tool ends the tool, not the session
            # by itself, or because the loop ends: then the session is cancelled as well
            if was_cancelled():
                await turn_of_the_loop()
            if not is_of_the_user(error):
                raise
            # A future that no thread had taken up was cancelled: the handler has not failed, it never began.
            withdrawn = job.stopped and isinstance(error, CancelledError)
            done = cancelled() if withdrawn else self.failed(error, tool)
        else:
            if self.failures and done.error is None:
                self.failures.pop(tool.name, None)
        # ``ended_early`` tells the hooks why a call was stopped
        return await call_hooks.review(job, done, self.key) if job.hooks and not job.stopped else done

    def failed(self, error: BaseException, tool: Tool) -> Outcome:
        """The outcome of a failed call. Past the tool's ``retries`` the error tells the model to stop trying."""
        retries, stop = tool.options["retries"], False
        if retries is not None and tool_error(error) is not None:
            self.failures[tool.name] = count = self.failures.get(tool.name, 0) + 1
            stop = count > retries
        return error_outcome(error, tool.name, stop)

    async def _handle(self, job: Job, tool: Tool, desk: Desk) -> Outcome:
        handler = tool.handler
        assert handler is not None  # the machine starts no call that is only declared
        positional, keyword = tool.bind(job.call.args, job.context)
        job.began = tool.kind in ("async", "async_generator")
        match tool.kind:
            case "async":
                value = await handler(*positional, **keyword)
            case "async_generator" | "generator":
                value = handler(*positional, **keyword)
            case _:
                value = await self._in_thread(job, tool, partial(handler, *positional, **keyword))
        if type(value) not in RESULTS:
            while inspect.isawaitable(value):  # what a function hands on: a coroutine, a task, a future
                value = await value
            # The yields of a generator, which the tool is itself, or a function that it called has made.
            if inspect.isgenerator(value):
                return await self._stream(job, tool, _Steps(self, job, value), desk)
            if is_async_iterable(value):
                return await self._stream(job, tool, aiter(value), desk)
        return value if type(value) is Outcome else outcome(value, self.key, tool.options["max_result_bytes"])

    async def _in_thread(self, job: Job, tool: Tool, function: partial[Any]) -> Any:
        executor = tool.options["executor"]
        if executor is None:
            most = tool.options["max_result_bytes"]
            return await self.threaded(job, partial(copy_context().run, self._made, function, most))
        run = self._elsewhere(job, function.func, isinstance(executor, ThreadPoolExecutor))
        return await self._submitted(job, executor.submit(run, *function.args, **function.keywords))

    def _elsewhere(self, job: Job, function: Callable[..., Any], thread: bool) -> Callable[..., Any]:
        """What the tool's own executor runs: with the context variables of the call, which threads can be given; other
        processes take no closures, and get what hooks make of them."""
        if thread:
            return partial(copy_context().run, function)
        for hook in job.hooks:
            if (wrap := getattr(hook, "elsewhere", None)) is not None:
                function = wrap(job.call, function)
        return function

    def _made(self, function: Callable[[], Any], most: int | None) -> Any:
        """The outcome of a sync function, put into words in its thread: a lazy or a large result takes time."""
        value = function()
        # These need the loop; everything else is put into words here, beside it.
        waits = inspect.isawaitable(value) or inspect.isgenerator(value) or is_async_iterable(value)
        return value if waits else outcome(value, self.key, most)

    async def threaded(self, job: Job, function: Callable[[], Any]) -> Any:
        """Run a part of a handler in a thread of the session's."""
        job.way_back = job.way_back or FromThread()
        self.threads = self.threads or DaemonThreads()
        return await self._submitted(job, self.threads.submit(job.way_back.run, function))

    async def unhindered(self, function: Callable[[], Any]) -> Any:
        """Run a sync function in a thread that no handler can have taken."""
        self.aside = self.aside or DaemonThreads()
        return await result_of(self.aside.submit(FromThread().run, function))

    async def _submitted(self, job: Job, future: Future[Any]) -> Any:
        job.future = future
        try:
            return await result_of(future)
        finally:
            job.future = None
            job.began = job.began or not (future.cancelled() or future.cancel())

    async def _stream(self, job: Job, tool: Tool, values: Any, desk: Desk) -> Outcome:
        """Report each yield; gather them where the model takes no response bit by bit."""
        gathered: list[object] = []
        streamed = False
        most = tool.options["max_result_bytes"]
        ends_session, handoff = False, None  # what the yields ask of the session
        async with closing(values):
            async for value in values:
                plain = value
                if isinstance(value, ToolResult):
                    plain = value.value
                    ends_session = ends_session or value.ends_session
                    handoff = value.handoff or handoff
                part = outcome(value, self.key, most) if job.streams else None
                if part is None:
                    gathered.append(value)  # the media of a ToolResult go along
                await desk.progress(job.run, plain, part)
                streamed = job.streams
                if job.stopped:
                    break
        # The end says nothing of its own. Without a single yield it is the result: an empty list, to be spoken of.
        done = Outcome({}) if streamed else outcome(gathered, self.key, most)
        done.ends_session, done.handoff = ends_session, handoff
        return done

    async def user(self, function: Callable[..., Any], context: ToolContext[Any], *args: object) -> Any:
        """Run a callable of the user (``undo``, ``approval``), sync or async; an awaitable that it returns is awaited.

        It gets the context if it takes one.
        """
        positional, keyword = with_context(function, args, context)
        # A coroutine function runs in the loop. A sync one could hold that up, and gets a thread.
        if inspect.iscoroutinefunction(function):
            return await function(*positional, **keyword)
        value = await self.unhindered(partial(copy_context().run, function, *positional, **keyword))
        return await value if inspect.isawaitable(value) else value

    def shutdown(self) -> None:
        """Let the threads go."""
        for threads in (self.threads, self.aside):
            if threads is not None:
                threads.shutdown()


class _Steps:
    """A sync generator as an async one: each step is taken in a thread, all in one context."""

    def __init__(self, handlers: ToolRunner, job: Job, generator: Any) -> None:
        self._handlers, self._job, self._generator = handlers, job, generator
        self._context = copy_context()

    def __aiter__(self) -> _Steps:
        return self

    async def __anext__(self) -> object:
        step = partial(self._context.run, next, self._generator, _END)
        value = await self._handlers.threaded(self._job, step)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Run the generator's ``finally``, unless a thread is still inside it."""
        if not self._generator.gi_running:
            await self._handlers.unhindered(partial(self._context.run, self._generator.close))


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
