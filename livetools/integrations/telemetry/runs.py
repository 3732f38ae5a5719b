"""The span of one run of a tool. It begins when code asks for it, and otherwise when its turn ends.

A span of the SDK costs half as many instructions as the call itself, and nobody needs it while the call waits for its
answer, unless the tool uses it: for a child span, for the ids in a log line, for an attribute. So a stand-in is
current while the tool runs. It begins the real span, with the earlier time, in the context of that time and through the
tracer's public methods alone, at its first use; a tool that never uses it is answered sooner.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Final, TypeAlias

from opentelemetry import context, trace
from opentelemetry.util import types

from livetools.events import Call

from .attributes import Attributes, of_call
from .instruments import Instruments

#: Runs of one turn that have ended and are not recorded yet, so that what is put off does not hold up the loop (5 ms):
#: each of those behind is recorded at its end.
MAX_LATE_RUNS: Final = 64

#: A run that has ended: its span and the context in which that was current (no span: below a turn that is not
#: recorded); the tool's name, the class of its error; when it ended, in ns of the epoch, and how many it took; what is
#: left to say of it (``None``: nothing). A plain tuple: one with names costs ten times as much to make.
EndedRun: TypeAlias = tuple[
    trace.Span | None, context.Context | None, str, str | None, int, int, Callable[[trace.Span], None] | None
]


def attributes_of(call: Call, told: Attributes | None) -> Attributes:
    """The attributes of a run's span: those of every call, and those of this one."""
    return {**of_call(call), **told} if told else of_call(call)


def begin(
    tracer: trace.Tracer, call: Call, parent: context.Context | None, told: Attributes | None, wall: int
) -> trace.Span:
    """The span of a run that began at ``wall`` ns of the epoch."""
    return tracer.start_span(
        f"execute_tool {call.name}", parent, attributes=attributes_of(call, told), start_time=wall
    )


def record(instruments: Instruments, run: EndedRun) -> None:
    """End the span of a run, and count it."""
    span, below, tool, error_type, wall, taken, say = run
    if span is not None:
        if say is not None:
            say(span)
        if error_type is not None:
            span.set_attribute("error.type", error_type)
        span.end(wall)
    instruments.ran(taken / 1e9, tool, error_type, below)


def is_plain(tracer: trace.Tracer) -> bool:
    """Whether this is the SDK's own tracer. One that wraps it, as Logfire's, may show what is still under way, and
    gets the span of each run when it begins."""
    try:
        from opentelemetry.sdk.trace import Tracer
    except ImportError:
        return False
    return type(tracer) is Tracer


class LateSpan(trace.Span):
    """A stand-in for the span of a run. Thread-safe: threads of the tool may use it while it is recorded."""

    def __init__(
        self, tracer: trace.Tracer, call: Call, parent: context.Context, told: Attributes | None, wall: int
    ) -> None:
        self._how = tracer, call, parent, told, wall
        self._when = copy_context()  # what processors and samplers read there is as it was
        self._lock = threading.Lock()
        self._begun: trace.Span | None = None

    def begun(self) -> trace.Span:
        """The real span."""
        if self._begun is None:
            with self._lock:
                if self._begun is None:
                    self._begun = self._when.run(begin, *self._how)
        return self._begun

    def end(self, end_time: int | None = None) -> None:
        self.begun().end(end_time)

    def get_span_context(self) -> trace.SpanContext:
        return self.begun().get_span_context()

    def is_recording(self) -> bool:
        return self.begun().is_recording()

    def set_attributes(self, attributes: Any) -> None:
        self.begun().set_attributes(attributes)

    def set_attribute(self, key: str, value: types.AttributeValue) -> None:
        self.begun().set_attribute(key, value)

    def add_event(self, name: str, attributes: types.Attributes = None, timestamp: int | None = None) -> None:
        self.begun().add_event(name, attributes, timestamp)

    def add_link(self, context: trace.SpanContext, attributes: types.Attributes = None) -> None:
        self.begun().add_link(context, attributes)

    def update_name(self, name: str) -> None:
        self.begun().update_name(name)

    def set_status(self, status: trace.Status | trace.StatusCode, description: str | None = None) -> None:
        self.begun().set_status(status, description)

    def record_exception(
        self,
        exception: BaseException,
        attributes: types.Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        self.begun().record_exception(exception, attributes, timestamp, escaped)

    def __getattr__(self, name: str) -> Any:
        """What the SDK's spans have beyond the API: ``attributes``, ``name``, ``parent``."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.begun(), name)
