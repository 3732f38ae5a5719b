"""Spans and metrics, as the SDK's own in-memory exporters have them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import livetools
from livetools import Call, Hooks, ToolError, Toolset
from livetools.integrations import opentelemetry
from livetools.testing import FakeClock, FakeLiveServer

pytestmark = pytest.mark.anyio
MODEL = "gemini-3.8-live"


class Records:
    """The hooks, and what was recorded through them."""

    def __init__(self, **options: Any) -> None:
        self._spans, self._metrics = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracer_provider = TracerProvider(shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meter_provider = MeterProvider([self._metrics], shutdown_on_exit=False)
        self.hooks = opentelemetry.tracing(self.tracer_provider, self.meter_provider, **options)
        self.tracer = self.tracer_provider.get_tracer("tests")

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._spans.get_finished_spans()

    @property
    def span(self) -> ReadableSpan:
        (span,) = self.spans
        return span

    def points(self) -> list[Any]:
        data = self._metrics.get_metrics_data()
        (metric,) = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        assert (metric.name, metric.unit) == ("gen_ai.execute_tool.duration", "s")
        return list(metric.data.data_points)


@asynccontextmanager
async def talking(tools: Any, model: Any, *hooks: Hooks, **options: Any) -> AsyncIterator[livetools.Session]:
    async with FakeLiveServer() as server:
        server.model(model)
        async with livetools.connect(MODEL, tools=tools, hooks=hooks, **server.options, **options) as session:
            yield session


def calling(name: str, **args: Any) -> Any:
    """A model that calls this once."""

    async def model(turn: Any) -> None:
        await turn.say(str(await turn.call(name, **args)))

    return model


async def asked(tools: Any, model: Any, *hooks: Hooks) -> str:
    async with talking(tools, model, *hooks) as session:
        return str(await session.ask("go", timeout=5))


async def weather(city: str) -> str:
    return f"rain in {city}"


async def test_a_call_is_a_span_without_what_was_said() -> None:
    records = Records()
    await asked([weather], calling("weather", city="Oslo"), records.hooks)
    assert records.span.name == "execute_tool weather"
    assert records.span.kind is trace.SpanKind.INTERNAL
    assert records.span.status.status_code is StatusCode.UNSET
    attributes = dict(records.span.attributes or {})
    assert attributes.pop("gen_ai.tool.call.id")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
    }


async def test_content_is_captured_only_when_asked_for() -> None:
    records = Records(capture_content=True)
    await asked([weather], calling("weather", city="Malmö"), records.hooks)
    attributes = records.span.attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == '{"city": "Malmö"}'
    assert attributes["gen_ai.tool.call.result"] == '{"output": "rain in Malmö"}'


def book() -> None:
    raise LookupError("Ann's table")


@pytest.mark.parametrize("capture_content", [False, True])
async def test_an_error_is_told_by_its_class_and_its_text_only_when_asked_for(capture_content: bool) -> None:
    records = Records(capture_content=capture_content)
    await asked([book], calling("book"), records.hooks)
    assert records.span.status.status_code is StatusCode.ERROR
    assert (records.span.attributes or {})["error.type"] == "LookupError"
    assert ("Ann" in records.span.to_json()) is capture_content
    assert [event.name for event in records.span.events] == ["exception"] * capture_content


async def test_arguments_that_do_not_fit_are_an_error_too() -> None:
    records = Records()
    await asked([weather], calling("weather", town="Oslo"), records.hooks)
    assert (records.span.attributes or {})["error.type"] == "InvalidArguments"


@pytest.mark.parametrize("end", ["cancelled", "ToolTimeout"])
async def test_a_call_that_is_over_before_its_tool_says_how_and_only_lateness_is_an_error(end: str) -> None:
    records, began, clock = Records(), anyio.Event(), FakeClock()

    async def wait() -> None:
        began.set()
        await anyio.sleep_forever()

    async def model(turn: Any) -> None:
        id = await turn.start_call("wait")
        await began.wait()
        if end == "cancelled":
            await turn.cancel(id)
        else:
            clock.advance(61)
            await turn.answer(id)
        await turn.say("never mind")

    async with talking([wait], model, records.hooks, clock=clock) as session:
        await session.ask("go")
    assert (records.span.attributes or {})["error.type"] == end
    assert (records.span.status.status_code is StatusCode.ERROR) is (end == "ToolTimeout")


@pytest.mark.parametrize("threaded", [False, True])
async def test_what_a_tool_traces_hangs_below_its_call_and_that_below_the_session(threaded: bool) -> None:
    records = Records()

    def inner() -> None:
        with records.tracer.start_as_current_span("query"):
            pass

    async def inner_async() -> None:
        inner()

    tool = livetools.Tool(inner if threaded else inner_async, name="look")
    with records.tracer.start_as_current_span("conversation"):
        await asked([tool], calling("look"), records.hooks)
    query, call, conversation = records.spans
    assert query.parent == call.context
    assert call.parent == conversation.context


async def test_calls_side_by_side_and_one_after_another_are_siblings() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.calls(("weather", {"city": "a"}), ("weather", {"city": "b"}))
        await turn.call("weather", city="c")
        await turn.say("done")

    await asked([weather], model, records.hooks)
    assert [span.parent for span in records.spans] == [None] * 3
    assert len({span.context.trace_id for span in records.spans}) == 3


async def test_the_histogram_has_the_duration_of_the_span() -> None:
    records = Records()
    await asked([weather, book], calling("weather", city="Oslo"), records.hooks)
    (point,) = records.points()
    assert dict(point.attributes) == {"gen_ai.tool.name": "weather", "gen_ai.tool.type": "function"}
    assert point.sum == ((records.span.end_time or 0) - (records.span.start_time or 0)) / 1e9
    assert point.explicit_bounds[:2] == (0.01, 0.02)
    await asked([weather, book], calling("book"), records.hooks)
    assert sorted(p.attributes.get("error.type", "") for p in records.points()) == ["", "LookupError"]


async def test_a_toolset_may_be_traced_by_itself() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.call("weather", city="Oslo")
        await turn.call("book")
        await turn.say("done")

    await asked([Toolset(weather, hooks=[records.hooks]), book], model)
    assert records.span.name == "execute_tool weather"


async def test_a_call_that_another_hook_refuses_has_no_span() -> None:
    class Refuse(Hooks):
        def before(self, call: Call) -> None:
            raise ToolError("not today")

    records = Records()
    assert "not today" in await asked([weather], calling("weather", city="Oslo"), Refuse(), records.hooks)
    assert records.spans == ()


async def test_two_sessions_may_use_one_id_at_once() -> None:
    records = Records(capture_content=True)
    first, second = (Call("same", "weather", {"city": city}) for city in ("a", "b"))
    for call in (first, second):
        records.hooks.before(call)
    for call in (second, first):
        records.hooks.after(call, {"output": call.args["city"]})
    got = [json.loads(str((s.attributes or {})["gen_ai.tool.call.result"])) for s in records.spans]
    assert got == [{"output": "b"}, {"output": "a"}]


async def test_without_an_sdk_nothing_is_recorded_and_nothing_breaks() -> None:
    assert "rain" in await asked([weather], calling("weather", city="Oslo"), opentelemetry.tracing())


def test_without_opentelemetry_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import livetools.integrations.opentelemetry"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'livetools[otel]'" in done.stderr
