"""The span of a run: begun when somebody asks for it, and else when its turn ends; as the SDK makes it either way."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import StatusCode
from support.traced import Records, asked, calling, talking

import livetools
from livetools import Hooks
from livetools.integrations import opentelemetry
from livetools.integrations.telemetry import session_spans

pytestmark = pytest.mark.anyio


class Watched(SpanProcessor):
    """A processor of the user's, which writes down when spans of runs begin and end."""

    def __init__(self, records: Records) -> None:
        self.told: list[str] = []
        records.tracer_provider.add_span_processor(self)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if span.name.startswith("execute_tool"):
            self.told.append("begun")

    def on_end(self, span: ReadableSpan) -> None:
        if (span.name or "").startswith("execute_tool"):
            self.told.append("ended")


async def weather(city: str) -> str:
    return f"rain in {city}"


async def test_the_span_of_a_run_that_nobody_asks_for_is_begun_when_its_turn_ends() -> None:
    records = Records()
    watched = Watched(records)

    async def model(turn: Any) -> None:
        await turn.call("weather", city="Oslo")
        watched.told.append("answered")
        await turn.say("done")

    async with talking([weather], model, records.hooks) as session:
        await session.ask("go", timeout=30)
        assert watched.told == ["answered", "begun", "ended"]
        (point,) = records.points()
        assert point.count == 1
    (turn, *_) = [span for span in records.of("realtime_inference") if span.context == records.tool.parent]
    assert turn.start_time <= records.tool.start_time <= records.tool.end_time <= turn.end_time  # type: ignore[operator]


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("works", [True, False])
async def test_what_a_tool_came_to_is_recorded_behind_its_answer_too(capture: bool, works: bool) -> None:
    records = Records(capture_content=capture)
    watched = Watched(records)

    async def bake() -> str:
        if not works:
            raise ValueError("no flour")
        return "bread"

    async def model(turn: Any) -> None:
        await turn.call("bake")
        watched.told.append("answered")
        await turn.say("done")

    await asked([bake], model, records.hooks)
    assert watched.told == ["answered", "begun", "ended"]
    span = records.tool
    assert (span.status.status_code is trace.StatusCode.ERROR) == (not works)
    assert (span.status.description == "no flour") == (capture and not works)
    assert ("gen_ai.tool.call.result" in (span.attributes or {})) == (capture and works)
    assert [event.name for event in span.events] == ["exception"] * (capture and not works)
    for event in span.events:
        assert span.start_time <= event.timestamp <= span.end_time  # type: ignore[operator]


def link() -> trace.SpanContext:
    return trace.SpanContext(1, 2, is_remote=True, trace_flags=trace.TraceFlags(1))


#: What a tool may ask of the current span, and what comes of it.
ASKED: dict[str, tuple[Callable[[trace.Span], object], Callable[[ReadableSpan], object], object]] = {
    "set_attribute": (
        lambda span: span.set_attribute("rows", 3),
        lambda span: (span.attributes or {})["rows"],
        3,
    ),
    "set_attributes": (
        lambda span: span.set_attributes({"rows": 4}),
        lambda span: (span.attributes or {})["rows"],
        4,
    ),
    "add_event": (
        lambda span: span.add_event("hit", {"a": 1}, 5),
        lambda span: [(e.name, dict(e.attributes or {}), e.timestamp) for e in span.events],
        [("hit", {"a": 1}, 5)],
    ),
    "add_link": (
        lambda span: span.add_link(link(), {"b": 2}),
        lambda span: [(each.context.span_id, dict(each.attributes or {})) for each in span.links],
        [(2, {"b": 2})],
    ),
    "update_name": (
        lambda span: span.update_name("execute_tool other"),
        lambda span: span.name,
        "execute_tool other",
    ),
    "set_status": (
        lambda span: span.set_status(StatusCode.ERROR, "no"),
        lambda span: (span.status.status_code, span.status.description),
        (StatusCode.ERROR, "no"),
    ),
    "record_exception": (
        lambda span: span.record_exception(ValueError("odd")),
        lambda span: [(e.name, (e.attributes or {})["exception.message"]) for e in span.events],
        [("exception", "odd")],
    ),
}


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("what", ASKED)
async def test_what_a_tool_does_with_the_current_span_is_done_with_its_span(
    what: str, threaded: bool
) -> None:
    ask, seen, expected = ASKED[what]
    records = Records()
    watched = Watched(records)

    def look() -> None:
        assert trace.get_current_span().is_recording()
        ask(trace.get_current_span())
        watched.told.append("asked")

    async def look_async() -> None:
        look()

    tool = livetools.Tool(look if threaded else look_async, name="look")
    await asked([tool], calling("look"), records.hooks)
    assert watched.told == ["begun", "asked", "ended"]
    assert seen(records.tool) == expected


async def test_what_the_sdks_spans_have_beyond_the_api_is_there_for_a_tool_too() -> None:
    records, got = Records(), []

    async def look() -> None:
        span: Any = trace.get_current_span()
        got.append((span.name, dict(span.attributes), span.start_time))
        assert not hasattr(span, "colour")

    await asked([look], calling("look"), records.hooks)
    tool = records.tool
    assert got == [(tool.name, dict(tool.attributes or {}), tool.start_time)]


async def test_a_tool_may_end_its_span_itself(caplog: pytest.LogCaptureFixture) -> None:
    records = Records()

    async def look() -> None:
        trace.get_current_span().end(7)

    with caplog.at_level(logging.WARNING):
        await asked([look], calling("look"), records.hooks)
    assert records.tool.end_time == 7
    assert "ended span" in caplog.text  # as the SDK says whenever a span is ended twice


WHO = contextvars.ContextVar("WHO", default="nobody")


async def test_processors_see_what_they_would_have_seen_when_the_run_began() -> None:
    class Tenant(Hooks):
        def before(self, call: Any) -> None:
            WHO.set(f"tenant of {call.args['city']}")

    class Stamp(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            above = trace.get_current_span(parent_context).get_span_context()
            current = trace.get_current_span().get_span_context()
            span.set_attributes({"who": WHO.get(), "above": above.span_id, "current": current.span_id})

    records = Records()
    records.tracer_provider.add_span_processor(Stamp())

    async def model(turn: Any) -> None:
        await turn.calls(("weather", {"city": "a"}), ("weather", {"city": "b"}))
        await turn.say("done")

    await asked([weather], model, Tenant(), records.hooks)
    stamps = [dict(span.attributes or {}) for span in records.tools]
    assert {stamp["who"] for stamp in stamps} == {"tenant of a", "tenant of b"}
    assert {stamp["above"] for stamp in stamps} == {span.parent.span_id for span in records.tools}  # type: ignore[union-attr]
    assert {stamp["current"] for stamp in stamps} == {records.session.context.span_id}


class NoTools(Sampler):
    """Samples all but the runs of tools."""

    def should_sample(
        self, parent_context: Any, trace_id: int, name: str, *args: Any, **keywords: Any
    ) -> Any:
        sampled = not name.startswith("execute_tool")
        return SamplingResult(Decision.RECORD_AND_SAMPLE if sampled else Decision.DROP)

    def get_description(self) -> str:
        return "no tools"


@pytest.mark.parametrize("asks", [False, True])
async def test_a_sampler_that_drops_runs_is_heard(asks: bool) -> None:
    records, recording = Records(sampler=NoTools()), []

    async def look() -> None:
        if asks:
            recording.append(trace.get_current_span().is_recording())

    await asked([look], calling("look"), records.hooks)
    assert recording == [False] * asks
    assert records.tools == []
    assert [point.count for point in records.points()] == [1]


@pytest.mark.parametrize("asks", [False, True])
async def test_limits_that_the_user_has_set_hold(asks: bool) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(span_limits=SpanLimits(max_span_attributes=2))
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def look() -> None:
        if asks:
            trace.get_current_span().set_attribute("rows", 3)

    await asked([look], calling("look"), opentelemetry.tracing(provider))
    (tool,) = [span for span in exporter.get_finished_spans() if span.name.startswith("execute_tool")]
    assert (len(tool.attributes or {}), tool.dropped_attributes) == (2, 2 + asks)


class Wrapper(trace.TracerProvider):
    """As Logfire's: its tracers are of a class of their own, and show what is under way."""

    def __init__(self, inner: trace.TracerProvider) -> None:
        self._inner = inner

    def get_tracer(self, *args: Any, **keywords: Any) -> trace.Tracer:
        return WrappedTracer(self._inner.get_tracer(*args, **keywords))


class WrappedTracer(trace.Tracer):
    def __init__(self, inner: trace.Tracer) -> None:
        self._inner = inner

    def start_span(self, *args: Any, **keywords: Any) -> trace.Span:
        return self._inner.start_span(*args, **keywords)

    def start_as_current_span(self, *args: Any, **keywords: Any) -> Any:
        return self._inner.start_as_current_span(*args, **keywords)


async def test_who_wraps_the_sdk_gets_the_span_of_a_run_when_it_begins_and_when_it_ends() -> None:
    records = Records()
    watched = Watched(records)
    hooks = opentelemetry.tracing(Wrapper(records.tracer_provider), records.meter_provider)

    async def look() -> None:
        assert isinstance(trace.get_current_span(), Span)  # what the tracer has made, and no stand-in
        watched.told.append("runs")

    async def model(turn: Any) -> None:
        await turn.call("look")
        watched.told.append("answered")
        await turn.say("done")

    await asked([look], model, hooks)
    assert watched.told == ["begun", "runs", "ended", "answered"]


async def test_two_threads_that_ask_at_once_get_one_span() -> None:
    records, ids = Records(), []
    watched = Watched(records)
    together = threading.Barrier(2)

    class Slow(SpanProcessor):
        """Begins a span slowly, so that both threads are there."""

        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            if span.name.startswith("execute_tool"):
                begun.wait(0.05)

    begun = threading.Event()
    records.tracer_provider.add_span_processor(Slow())

    def ask(span: trace.Span) -> None:
        together.wait(10)
        ids.append(span.get_span_context().span_id)

    def look() -> None:
        span = trace.get_current_span()
        others = [threading.Thread(target=ask, args=(span,)) for _ in range(2)]
        for other in others:
            other.start()
        for other in others:
            other.join()

    await asked([look], calling("look"), records.hooks)
    assert ids == [records.tool.context.span_id] * 2
    assert watched.told == ["begun", "ended"]


@pytest.mark.parametrize("recorded", [False, True])
async def test_what_a_tool_has_left_behind_gets_the_same_span_before_and_after_it_is_recorded(
    recorded: bool,
) -> None:
    records, ids = Records(), []
    watched, left = Watched(records), []

    async def look() -> None:
        left.append(trace.get_current_span())

    async def model(turn: Any) -> None:
        await turn.call("look")
        if not recorded:
            ids.append(left[0].get_span_context().span_id)
        await turn.say("done")

    await asked([look], model, records.hooks)
    if recorded:
        ids.append(left[0].get_span_context().span_id)
    assert ids == [records.tool.context.span_id]
    assert watched.told == ["begun", "ended"]
    assert not left[0].is_recording()


async def test_no_more_runs_than_a_bound_wait_for_the_end_of_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_spans, "MAX_LATE_RUNS", 1)
    records, counted = Records(), []

    async def model(turn: Any) -> None:
        for city in ("a", "b", "c"):
            await turn.call("weather", city=city)
            counted.append(len(records.tools))
        await turn.say("done")

    await asked([weather], model, records.hooks)
    assert counted == [0, 1, 2]
    assert len(records.tools) == 3


async def test_a_run_that_ends_when_no_turn_is_under_way_is_recorded_then() -> None:
    records, gate = Records(), anyio.Event()

    @livetools.tool(behavior="non_blocking")
    async def slow() -> str:
        await gate.wait()
        return "at last"

    async def model(turn: Any) -> None:
        id = await turn.start_call("slow")
        await turn.say("It runs.")
        await turn.answer(id)

    async with talking([slow], model, records.hooks) as session:
        await session.send_text("go")
        async for event in session:
            if isinstance(event, livetools.TurnComplete) and not gate.is_set():
                assert records.tools == []
                gate.set()
            if isinstance(event, livetools.ToolFinished):
                break
    assert len(records.tools) == 1


async def test_a_session_that_ends_in_the_middle_of_a_turn_records_its_runs() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.call("weather", city="Oslo")
        await anyio.sleep_forever()

    async with talking([weather], model, records.hooks) as session:
        await session.send_text("go")
        async for event in session:
            if isinstance(event, livetools.ToolFinished):
                break
        assert records.tools == []
    assert len(records.tools) == 1
    assert [point.count for point in records.points()] == [1]


async def test_a_provider_that_is_set_after_the_hooks_were_made_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hooks, records = opentelemetry.tracing(), Records()
    watched = Watched(records)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: records.tracer_provider)

    async def model(turn: Any) -> None:
        await turn.call("weather", city="Oslo")
        watched.told.append("answered")
        await turn.say("done")

    await asked([weather], model, hooks)
    assert watched.told == ["answered", "begun", "ended"]
