"""Traces and metrics of function calls, in OpenTelemetry's GenAI conventions (as of 2026-11, in development).

::

    from livetools.integrations import opentelemetry

    async with livetools.connect(model, tools=tools, hooks=[opentelemetry.tracing()]) as session: ...

Each run of a tool is a span ``execute_tool NAME``, below the one that was current when the session was opened, and a
value of the histogram ``gen_ai.execute_tool.duration``. The span is current while the tool runs, in threads too: what
the tool traces itself hangs below it. Calls that no tool served (unknown, refused, over the limit) have none. Needs
the extra ``livetools[otel]``, and an SDK of your choice to send what is recorded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextvars import Token
from typing import Any, NamedTuple

from livetools.protocol.events import Call
from livetools.tools import Hooks

try:
    from opentelemetry import context, metrics, trace
except ImportError as error:
    raise ImportError("tracing needs OpenTelemetry: pip install 'livetools[otel]'") from error

BUCKETS = (
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
)  # the conventions'
CANCELLED = "cancelled"  # error.type of a call that was taken back


def tracing(
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    *,
    capture_content: bool = False,
) -> Hooks:
    """Hooks that record every run of a tool; one object serves any number of sessions and toolsets.

    Providers: the global ones if ``None``. ``capture_content`` adds what may be private: the arguments, the response,
    the texts of errors and their tracebacks. Without it there are names, ids, times, and in ``error.type`` the class of
    what was raised, or ``cancelled`` for a call that was taken back (whose status is not an error).
    """
    return _Tracing(
        trace.get_tracer("livetools", tracer_provider=tracer_provider),
        metrics.get_meter("livetools", meter_provider=meter_provider),
        capture_content,
    )


class _Run(NamedTuple):
    call: Call  # held, so that its id() is no other's
    span: trace.Span
    token: Token[context.Context]
    wall: int  # when it began, in ns of the epoch
    began: int  # the same on a clock that is not set back


class _Tracing(Hooks):
    def __init__(self, tracer: trace.Tracer, meter: metrics.Meter, capture_content: bool) -> None:
        self._tracer, self._content = tracer, capture_content
        self._duration = meter.create_histogram(
            "gen_ai.execute_tool.duration",
            unit="s",
            description="The duration of a single tool execution.",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._runs: dict[int, _Run] = {}  # by id(call): two sessions may use one id at once

    def before(self, call: Call) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.id,
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = _json(call.args)
        wall, began = time.time_ns(), time.perf_counter_ns()
        span = self._tracer.start_span(f"execute_tool {call.name}", attributes=attributes, start_time=wall)
        token = context.attach(trace.set_span_in_context(span))
        self._runs[id(call)] = _Run(call, span, token, wall, began)

    def after(self, call: Call, response: Mapping[str, Any]) -> None:
        run = self._runs.get(id(call))
        if run is not None and self._content:
            run.span.set_attribute("gen_ai.tool.call.result", _json(response))
        self._end(call)

    def on_error(self, call: Call, error: Exception) -> None:
        run = self._runs.get(id(call))
        if run is None:  # a hook before this one refused the call
            return
        if self._content:
            run.span.record_exception(error)
        run.span.set_status(trace.StatusCode.ERROR, str(error) if self._content else None)
        self._end(call, type(error).__qualname__)

    def on_cancel(self, call: Call) -> None:
        self._end(call, CANCELLED)

    def _end(self, call: Call, error_type: str | None = None) -> None:
        run = self._runs.pop(id(call), None)
        if run is None:
            return
        taken = time.perf_counter_ns() - run.began
        attributes = {"gen_ai.tool.name": call.name, "gen_ai.tool.type": "function"}
        if error_type is not None:
            attributes["error.type"] = error_type
            run.span.set_attribute("error.type", error_type)
        self._duration.record(taken / 1e9, attributes)  # while the span is current, for exemplars
        run.span.end(run.wall + taken)
        context.detach(run.token)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str)
