"""The spans of one session: its own, and one for each turn. What happens in between are events of these.

A turn's span begins where the user has ended to say what it answers, which is known only when the answer begins: it is
made then, with the earlier time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from opentelemetry import context, trace

from livetools.events import (
    SETTLED,
    AudioChunk,
    Call,
    CodeChunk,
    Event,
    InputTranscript,
    Interrupted,
    OutputTranscript,
    SessionStarted,
    Stalled,
    TextChunk,
    ThoughtChunk,
    ToolCancelled,
    ToolFinished,
    ToolStarted,
    TurnComplete,
    Usage,
    UsageUpdate,
    VideoChunk,
)
from livetools.protocol.transcript.spoken_text import Words
from livetools.session.listening.frame_tap import awaited_for
from livetools.session.session import Session

from .attributes import SPAN_EVENTS, Attributes, as_json, messages, of_usage, span_event
from .instruments import Instruments
from .runs import MAX_LATE_RUNS, EndedRun, is_plain, record

OF_A_TURN = (AudioChunk, CodeChunk, OutputTranscript, TextChunk, ThoughtChunk, VideoChunk)
TO_THE_TURN = (Interrupted, Stalled)  # events that are recorded on the current turn, if there is one


class _TurnSpan:
    """A turn under way."""

    def __init__(self, span: trace.Span, began: int, late: bool) -> None:
        self.span, self.began = span, began
        self.late = late  # whether the spans of the runs below it may be begun when it ends
        self.recorded = span.is_recording()  # what is below it is not, unless it is
        self.context = trace.set_span_in_context(span)
        self.interrupted = False


class SessionSpans:
    """Observes one session (:class:`livetools.tools.hooks.Observer`). Create it in the context of the
    caller who opens the session: that caller's span is the parent of the session's."""

    def __init__(
        self, session: Session, tracer: trace.Tracer, instruments: Instruments, capture_content: bool
    ) -> None:
        self._session, self._tracer, self._instruments = session, tracer, instruments
        self._content = capture_content
        plan, gemini = session.plan, session.model.startswith("models/")
        self._about: Attributes = {
            "gen_ai.provider.name": "gcp.gemini" if gemini else "gcp.vertex_ai",
            "gen_ai.request.model": session.model.rpartition("/")[2],
        }
        self._wall, self._clock = time.time_ns(), time.perf_counter_ns()
        self.span = tracer.start_span(
            "invoke_agent", attributes={**self._about, "gen_ai.operation.name": "invoke_agent"},
            start_time=self._wall,
        )  # fmt: skip
        if self._content and (instructions := plan.setup.get("systemInstruction")):
            self.span.set_attribute("gen_ai.system_instructions", as_json(instructions))
        self.context = trace.set_span_in_context(self.span)
        self._late = is_plain(tracer)
        self._ended: list[EndedRun] = []  # the runs of tools that are recorded when the turn ends
        self._turn: _TurnSpan | None = None
        self._free = self._wall  # the end of the last turn: the next one cannot have begun before
        self._usage, self._turn_usage = Usage(), Usage()
        self._calls: dict[int, tuple[Call, _TurnSpan]] = {}  # the turn of each call that is open, by id(call)
        self._id: Attributes = {}
        self._said: list[str] = []
        self._words, self._answer = Words(plan.transcribed), [""]
        self._listeners: dict[type[Any], Callable[[Any], None]] = {
            **dict.fromkeys(SPAN_EVENTS, self._note),
            **dict.fromkeys(OF_A_TURN, self._on_output),
            SessionStarted: self._on_started,
            InputTranscript: self._on_heard,
            ToolStarted: self._on_call,
            ToolFinished: self._on_call_end,
            ToolCancelled: self._on_call_cancelled,
            UsageUpdate: self._on_usage,
            Interrupted: self._on_interrupted,
            TurnComplete: self._on_turn_complete,
        }

    # What the session tells

    def typed(self, text: str) -> None:
        """The user has sent a text."""
        if self._content:
            self._said.append(text)

    def event(self, event: Event) -> None:
        """Something has happened."""
        listener = self._listeners.get(type(event))
        if listener is not None:
            listener(event)

    def ended(self, error: Exception | None) -> None:
        """The session is over."""
        if self._turn is not None:
            self._end_turn(self._turn, "error" if error is not None else "session_ended")
        failed: Attributes = {}
        if error is not None:
            failed = {"error.type": type(error).__qualname__}
            self.span.set_status(trace.StatusCode.ERROR, str(error))
        self.span.set_attributes({**of_usage(self._usage), **failed})
        end = self._now()
        self._instruments.session.record((end - self._wall) / 1e9, {**self._about, **failed})
        self.span.end(end)

    def turn_of(self, call: Call) -> _TurnSpan:
        """The turn that has made this call; one begins with it, if none is under way."""
        known = self._calls.get(id(call))
        if known is None:
            known = self._calls[id(call)] = call, self._begin()
        return known[1]

    def put_off(self, run: EndedRun) -> bool:
        """Whether this run, which has ended, is recorded when the turn ends, and not now by the caller."""
        if self._turn is None or not self._turn.late or len(self._ended) >= MAX_LATE_RUNS:
            return False
        self._ended.append(run)
        return True

    # Turns

    def _begin(self) -> _TurnSpan:
        if self._turn is None:
            ago, now = awaited_for(self._session), self._now()
            began = now if ago is None else max(now - int(ago * 1e9), self._free)
            span = self._tracer.start_span(
                f"realtime_inference {self._about['gen_ai.request.model']}",
                self.context,
                trace.SpanKind.CLIENT,
                {**self._about, **self._id, "gen_ai.operation.name": "realtime_inference"},
                start_time=began,
            )
            self._turn = _TurnSpan(span, began, self._late)
        return self._turn

    def _on_output(self, event: Event) -> None:
        self._begin()
        if self._content:
            self._answer.append(self._words.take(event))

    def _on_started(self, event: SessionStarted) -> None:
        if event.id is not None:
            self._id = {"gen_ai.realtime_session.id": event.id, "gen_ai.conversation.id": event.id}
            self.span.set_attributes(self._id)
        self.span.add_event("livetools.session_started", timestamp=self._now())

    def _on_heard(self, event: InputTranscript) -> None:
        if self._content and not event.interim:
            self._said.append(event.text)

    def _on_call(self, event: ToolStarted) -> None:
        self.turn_of(event.call)

    def _on_call_end(self, event: ToolFinished) -> None:
        self._calls.pop(id(event.call), None)

    def _on_call_cancelled(self, event: ToolCancelled) -> None:
        self._calls.pop(id(event.call), None)
        self._note(event)

    def _on_usage(self, event: UsageUpdate) -> None:
        self._turn_usage = event.usage  # the last count of a turn holds

    def _on_interrupted(self, event: Interrupted) -> None:
        if self._turn is not None:
            self._turn.interrupted = True
        self._note(event)

    def _on_turn_complete(self, event: TurnComplete) -> None:
        if event.status == "IN_PROGRESS" or event.reason == SETTLED:  # the model thinks on; no turn has ended
            return
        if self._turn is None and not self._turn_usage.total_tokens:
            return  # an empty turn
        turn = self._begin()
        if self._content:
            self._answer.append(self._words.take(event))
        if event.first_output is not None:
            turn.span.set_attribute("gen_ai.response.time_to_first_chunk", event.first_output)
            self._instruments.first_output.record(event.first_output, self._labels())
        self._end_turn(turn, event.reason or ("interrupted" if turn.interrupted else "stop"))

    def _end_turn(self, turn: _TurnSpan, reason: str) -> None:
        usage, self._turn_usage = self._turn_usage, Usage()
        self._usage = self._usage + usage
        self._record_runs()
        told = of_usage(usage)
        told["gen_ai.response.finish_reasons"] = [reason]
        if self._content:
            told["gen_ai.input.messages"] = messages("user", "".join(self._said))
            told["gen_ai.output.messages"] = messages("assistant", "".join(self._answer), reason)
            self._said.clear()
            self._answer.clear()
        turn.span.set_attributes(told)
        labels = self._labels()
        token = context.attach(turn.context)  # for exemplars
        self._instruments.used(usage, labels)
        self._free = self._now()
        self._instruments.turn.record((self._free - turn.began) / 1e9, labels)
        context.detach(token)
        turn.span.end(self._free)
        self._turn = None

    def _record_runs(self) -> None:
        ended, self._ended = self._ended, []
        for run in ended:
            record(self._instruments, run)

    def _note(self, event: Event) -> None:
        """Keep it as an event of a span."""
        if (told := span_event(event)) is not None:
            turn = self._turn if isinstance(event, TO_THE_TURN) else None
            (turn.span if turn is not None else self.span).add_event(*told, timestamp=self._now())

    def _labels(self) -> Attributes:
        return {**self._about, "gen_ai.operation.name": "realtime_inference"}

    def _now(self) -> int:
        """Nanoseconds of the epoch, by a clock that is not set back."""
        return self._wall + time.perf_counter_ns() - self._clock
