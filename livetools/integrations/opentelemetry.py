"""Traces and metrics of sessions, turns and function calls, in OpenTelemetry's GenAI conventions (2026-11, in
development).

::

    from livetools.integrations import opentelemetry

    async with livetools.connect(model, tools=tools, hooks=[opentelemetry.tracing()]) as session: ...

A session is a span ``invoke_agent``, below the one that was current when it was opened; a turn of the model is a span
``realtime_inference MODEL`` below that, from the end of what the user said to the end of the answer; a run of a tool is
a span ``execute_tool NAME`` below the turn that has called it. The tool's span is current while it runs, in threads and
executors too, other processes included: what the tool traces itself hangs below it. Reconnections, goAway,
interruptions, dropped input and stalls are events of these spans; tokens by kind, price and the time to the first sound
are attributes, and metrics as well. Calls that no tool served (unknown, refused, over the limit) have no span.

Needs the extra ``otel``, and an SDK of your choice to send what is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from functools import partial
from typing import Any, TypeAlias

from livetools.events import Call
from livetools.session.session import Session
from livetools.setup import price
from livetools.setup.install_hints import install
from livetools.tools import Hooks, SessionLike

try:
    from opentelemetry import context, metrics, propagate, trace
except ImportError as error:
    raise ImportError(f"tracing needs OpenTelemetry: {install('otel')}") from error

from .telemetry.attributes import ERROR_OF_CANCELLED, Attributes, as_json
from .telemetry.instruments import Instruments
from .telemetry.runs import LateSpan, begin, record
from .telemetry.session_spans import SessionSpans

_NAME = "livetools"  # of the tracer and the meter

#: The session that a handler serves, as each tracer knows it: it is set where the session is opened, and inherited.
_CONVERSATION: ContextVar[Mapping[int, SessionSpans]] = ContextVar("livetools_conversation")
_NONE: Mapping[int, SessionSpans] = {}


def tracing(
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    *,
    capture_content: bool = False,
) -> Hooks:
    """Hooks that trace a session, its turns and every run of a tool. One object serves any number of sessions.

    In the ``hooks`` of a :class:`~livetools.Toolset` they trace only the runs of its tools. ``None`` as a provider
    means the global one.

    ``capture_content`` also records what may be private: what the user and the model say, the instructions, arguments
    and responses, the texts of a tool's errors and their tracebacks. Without it, names, ids, times and counts are
    recorded, and in ``error.type`` the class of an error, or ``cancelled`` for a cancelled call (whose status is not an
    error).

    A call does not wait for the SDK: while its tool runs, the current span is a placeholder, which begins the real span
    when your code uses it. Otherwise span and metrics are recorded when the turn ends (at once outside a turn, or if
    the tracer is not the SDK's own). ``NoOpMeterProvider()`` (from ``opentelemetry.metrics``) as ``meter_provider``
    turns the metrics off. If a turn is not sampled, its tools get no spans, and run in the trace of the session.

    ::

        async with connect(MODEL, tools=[get_weather], hooks=[tracing()]) as session:
            print(await session.ask("Weather in Oslo?"))
    """
    price.load()  # now, and not in the middle of a conversation
    return _Tracing(tracer_provider, metrics.get_meter(_NAME, meter_provider=meter_provider), capture_content)


#: A run of a tool: its call (held, so that no other object gets its id()) and its session; its span, the context in
#: which that is current and the token for what was current before (no span: below a turn that is not recorded); when it
#: began, in ns of the epoch and of a clock that is not set back. A plain tuple, as :data:`Ended` is.
_Run: TypeAlias = tuple[
    Call,
    SessionSpans | None,
    trace.Span | None,
    context.Context | None,
    Token[context.Context] | None,
    int,
    int,
]


class _Tracing(Hooks):
    """What it does for a call lies on the call's path: what can be done when its turn ends is put off until then."""

    def __init__(
        self, tracer_provider: trace.TracerProvider | None, meter: metrics.Meter, capture_content: bool
    ) -> None:
        self._tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        self._content = capture_content
        self._instruments = Instruments(meter)
        self._runs: dict[int, _Run] = {}  # by id(call): two sessions may use one id at once

    def on_session(self, session: SessionLike) -> SessionSpans | None:
        if not isinstance(session, Session):
            return None
        if isinstance(self._tracer, trace.ProxyTracer):  # a provider was perhaps set since
            self._tracer = trace.get_tracer(_NAME)
        conversation = SessionSpans(session, self._tracer, self._instruments, self._content)
        _CONVERSATION.set({**_CONVERSATION.get(_NONE), id(self): conversation})
        context.attach(conversation.context)  # of the session's own task, and of the handlers in it
        return conversation

    def before(self, call: Call) -> None:
        if id(call) in self._runs:  # these hooks are the session's and the toolset's
            return
        conversation = _CONVERSATION.get(_NONE).get(id(self))
        turn = None if conversation is None else conversation.turn_of(call)
        wall, began = time.time_ns(), time.perf_counter_ns()
        span: trace.Span | None = None
        below, token = None, None
        if turn is None or turn.recorded:
            told: Attributes | None = None
            if self._content:
                told = {"gen_ai.tool.call.arguments": as_json(dict(call.args))}
            if turn is not None and turn.late:
                span = LateSpan(self._tracer, call, turn.context, told, wall)
            else:
                span = begin(self._tracer, call, None if turn is None else turn.context, told, wall)
            below = trace.set_span_in_context(span)
            token = context.attach(below)
        self._runs[id(call)] = call, conversation, span, below, token, wall, began

    def replaced(self, call: Call, by: Call) -> None:
        if (run := self._runs.pop(id(call), None)) is not None:
            self._runs[id(by)] = (by, *run[1:])

    def after(self, call: Call, response: Mapping[str, Any]) -> None:
        self._end(call, None, partial(_say_result, as_json(dict(response))) if self._content else None)

    def on_error(self, call: Call, error: Exception) -> None:
        say = partial(_say_error, error if self._content else None, time.time_ns())
        self._end(call, type(error).__qualname__, say)

    def on_cancel(self, call: Call) -> None:
        self._end(call, ERROR_OF_CANCELLED)

    def elsewhere(self, call: Call, function: Callable[..., Any]) -> Callable[..., Any]:
        run = self._runs.get(id(call))
        if run is None:
            return function
        carrier: dict[str, str] = {}
        propagate.inject(carrier, run[3])  # None: the current one, the session's
        return partial(_below, carrier, function)

    def _end(
        self, call: Call, error_type: str | None = None, say: Callable[[trace.Span], None] | None = None
    ) -> None:
        run = self._runs.pop(id(call), None)
        if run is None:  # also where a hook before this one refused the call
            return
        _, conversation, span, below, token, wall, began = run
        taken = time.perf_counter_ns() - began
        ended = span, below, call.name, error_type, wall + taken, taken, say
        if conversation is None or not conversation.put_off(ended):
            record(self._instruments, ended)
        if token is not None:
            context.detach(token)


def _say_result(result: str, span: trace.Span) -> None:
    span.set_attribute("gen_ai.tool.call.result", result)


def _say_error(error: Exception | None, at: int, span: trace.Span) -> None:
    """``error``: where its text may be recorded; ``at``: when it was raised, in ns of the epoch."""
    if error is not None:
        span.record_exception(error, timestamp=at)
    span.set_status(trace.StatusCode.ERROR, None if error is None else str(error))


def _below(carrier: Mapping[str, str], function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Run a part of a tool in another process, below the tool's span."""
    token = context.attach(propagate.extract(carrier))
    try:
        return function(*args, **keywords)
    finally:
        context.detach(token)
