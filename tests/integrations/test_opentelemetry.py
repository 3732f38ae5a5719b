"""Spans and metrics, as the SDK's own in-memory exporters have them."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import StatusCode
from support.traced import Records, asked, calling, talking

import livetools
from livetools import Call, Hooks, ToolError, Toolset
from livetools.integrations import opentelemetry
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio


async def weather(city: str) -> str:
    return f"rain in {city}"


async def test_a_call_is_a_span_without_what_was_said() -> None:
    records = Records()
    await asked([weather], calling("weather", city="Oslo"), records.hooks)
    assert records.tool.name == "execute_tool weather"
    assert records.tool.kind is trace.SpanKind.INTERNAL
    assert records.tool.status.status_code is StatusCode.UNSET
    attributes = dict(records.tool.attributes or {})
    assert attributes.pop("gen_ai.tool.call.id")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
    }


async def test_content_is_captured_only_when_asked_for() -> None:
    records = Records(capture_content=True)
    await asked([weather], calling("weather", city="Malmö"), records.hooks)
    attributes = records.tool.attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == '{"city": "Malmö"}'
    assert attributes["gen_ai.tool.call.result"] == '{"output": "rain in Malmö"}'


def book() -> None:
    raise LookupError("Ann's table")


@pytest.mark.parametrize("capture_content", [False, True])
async def test_an_error_is_told_by_its_class_and_its_text_only_when_asked_for(capture_content: bool) -> None:
    records = Records(capture_content=capture_content)
    await asked([book], calling("book"), records.hooks)
    assert records.tool.status.status_code is StatusCode.ERROR
    assert (records.tool.attributes or {})["error.type"] == "LookupError"
    assert ("Ann" in records.tool.to_json()) is capture_content
    assert [event.name for event in records.tool.events] == ["exception"] * capture_content


async def test_arguments_that_do_not_fit_are_an_error_too() -> None:
    records = Records()
    await asked([weather], calling("weather", town="Oslo"), records.hooks)
    assert (records.tool.attributes or {})["error.type"] == "InvalidArguments"


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
    assert (records.tool.attributes or {})["error.type"] == end
    assert (records.tool.status.status_code is StatusCode.ERROR) is (end == "ToolTimeout")


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
    (query,), call, (conversation,) = records.of("query"), records.tool, records.of("conversation")
    assert query.parent == call.context
    assert call.parent in [turn.context for turn in records.of("realtime_inference")]
    assert records.session.parent == conversation.context
    assert len({span.context.trace_id for span in (query, call, records.session, conversation)}) == 1


async def test_calls_side_by_side_and_one_after_another_are_siblings() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.calls(("weather", {"city": "a"}), ("weather", {"city": "b"}))
        await turn.call("weather", city="c")
        await turn.say("done")

    await asked([weather], model, records.hooks)
    turns = records.of("realtime_inference")
    parents = [span.parent for span in records.tools]
    assert parents[0] == parents[1]  # one message of one turn
    assert {parent.span_id for parent in parents if parent} <= {turn.context.span_id for turn in turns}
    assert all(turn.parent == records.session.context for turn in turns)


async def test_the_histogram_has_the_duration_of_the_span() -> None:
    records = Records()
    await asked([weather, book], calling("weather", city="Oslo"), records.hooks)
    (point,) = records.points()
    assert dict(point.attributes) == {"gen_ai.tool.name": "weather"}
    assert point.sum == ((records.tool.end_time or 0) - (records.tool.start_time or 0)) / 1e9
    assert point.explicit_bounds[:2] == (0.01, 0.02)
    await asked([weather, book], calling("book"), records.hooks)
    assert sorted(p.attributes.get("error.type", "") for p in records.points()) == ["", "LookupError"]


async def test_metrics_can_be_left_out_and_the_spans_stay() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooks = opentelemetry.tracing(provider, NoOpMeterProvider())
    await asked([weather], calling("weather", city="Oslo"), hooks)
    names = {span.name.partition(" ")[0] for span in exporter.get_finished_spans()}
    assert names == {"execute_tool", "realtime_inference", "invoke_agent"}


async def test_a_toolset_may_be_traced_by_itself() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.call("weather", city="Oslo")
        await turn.call("book")
        await turn.say("done")

    await asked([Toolset(weather, hooks=[records.hooks]), book], model)
    assert records.tool.name == "execute_tool weather"


async def test_a_call_that_another_hook_refuses_has_no_span() -> None:
    class Refuse(Hooks):
        def before(self, call: Call) -> None:
            raise ToolError("not today")

    records = Records()
    assert "not today" in await asked([weather], calling("weather", city="Oslo"), Refuse(), records.hooks)
    assert records.tools == []


async def test_two_sessions_may_use_one_id_at_once() -> None:
    records = Records(capture_content=True)
    first, second = (Call("same", "weather", {"city": city}) for city in ("a", "b"))
    for call in (first, second):
        records.hooks.before(call)
    for call in (second, first):
        records.hooks.after(call, {"output": call.args["city"]})
    got = [json.loads(str((s.attributes or {})["gen_ai.tool.call.result"])) for s in records.tools]
    assert got == [{"output": "b"}, {"output": "a"}]


async def test_without_an_sdk_nothing_is_recorded_and_nothing_breaks() -> None:
    assert "rain" in await asked([weather], calling("weather", city="Oslo"), opentelemetry.tracing())


def test_without_opentelemetry_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import livetools.integrations.opentelemetry"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'PATH/TO/CLONE[otel]'" in done.stderr


def here() -> str:
    """The trace and the span that are current where the tool runs."""
    current = trace.get_current_span().get_span_context()
    return f"{current.trace_id} {current.span_id}"


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """One for all, since it imports everything anew."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("kind", ["threads", "processes", "of its own"])
async def test_on_an_executor_too_the_call_is_the_parent_of_what_its_tool_traces(
    kind: str, processes: ProcessPoolExecutor
) -> None:
    executors: dict[str, Any] = {
        "threads": lambda: ThreadPoolExecutor(1),
        "processes": lambda: contextlib.nullcontext(processes),
        "of its own": lambda: Unknown(ThreadPoolExecutor(1)),
    }
    records = Records()
    with executors[kind]() as executor:
        tool = livetools.Tool(here, description="Where it runs.", executor=executor)
        said = await asked([tool], calling("here"), records.hooks)
    context = records.tool.context
    assert f"{context.trace_id} {context.span_id}" in said


@pytest.mark.parametrize("kind", ["no executor", "threads", "processes"])
async def test_below_a_turn_that_is_not_sampled_no_span_is_begun_and_the_tool_is_in_its_trace(
    kind: str, processes: ProcessPoolExecutor
) -> None:
    executors: dict[str, Any] = {
        "no executor": lambda: contextlib.nullcontext(),
        "threads": lambda: ThreadPoolExecutor(1),
        "processes": lambda: contextlib.nullcontext(processes),
    }
    asked_for: list[str] = []

    class Nothing(Sampler):
        def should_sample(
            self, parent_context: Any, trace_id: int, name: str, *args: Any, **keywords: Any
        ) -> SamplingResult:
            asked_for.append(name.partition(" ")[0])
            return SamplingResult(Decision.DROP)

        def get_description(self) -> str:
            return "nothing"

    records = Records(sampler=Nothing())
    with records.tracer.start_as_current_span("conversation") as conversation, executors[kind]() as executor:
        tool = livetools.Tool(here, description="Where it runs.", executor=executor)
        said = await asked([tool], calling("here"), records.hooks)
    assert f"{conversation.get_span_context().trace_id} " in said
    assert set(asked_for) == {"conversation", "invoke_agent", "realtime_inference"}
    (point,) = records.points()  # what is counted is counted of every run
    assert (point.count, dict(point.attributes)) == (1, {"gen_ai.tool.name": "here"})


@pytest.mark.parametrize("seconds", [0.009, 0.01])
async def test_only_a_run_that_took_ten_milliseconds_leads_from_its_metric_to_its_trace(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, now = Records(), [0]
    monkeypatch.setattr("time.perf_counter_ns", lambda: now[0])

    async def works() -> None:
        now[0] += int(seconds * 1e9)

    await asked([works], calling("works"), records.hooks)
    (point,) = records.points()
    assert point.sum == seconds
    slow = [(exemplar.trace_id, exemplar.span_id) for exemplar in point.exemplars]
    assert slow == [(records.tool.context.trace_id, records.tool.context.span_id)] * (seconds >= 0.01)


class Unknown(Executor):
    """An executor that nobody knows: it might pickle what it is given."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    def submit(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        return self._threads.submit(pickle.loads(pickle.dumps(function)), *args, **keywords)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait)


async def test_hooks_of_the_session_and_of_a_toolset_are_one_span() -> None:
    records = Records()
    tools = Toolset(weather, hooks=[records.hooks])
    await asked(tools, calling("weather", city="Oslo"), records.hooks)
    assert len(records.tools) == 1


async def test_what_is_current_for_the_user_stays_as_it_was() -> None:
    records = Records()
    async with talking([weather], calling("weather", city="Oslo"), records.hooks) as session:
        await session.ask("go")
        assert trace.get_current_span() is trace.INVALID_SPAN
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_a_real_collector_reads_what_the_exporter_sends() -> None:
    """OTLP over HTTP, as Langfuse, Logfire and Phoenix take it, parsed as the protocol has it."""
    with Collector() as collector:
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{collector.url}/v1/traces", headers={"authorization": "Basic abc"})
        provider.add_span_processor(BatchSpanProcessor(exporter))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(f"{collector.url}/v1/metrics"), export_interval_millis=math.inf
        )
        meters = MeterProvider([reader], shutdown_on_exit=False)
        hooks = opentelemetry.tracing(provider, meters)
        await asked([weather], calling("weather", city="Oslo"), hooks)
        await anyio.to_thread.run_sync(provider.shutdown)
        await anyio.to_thread.run_sync(meters.force_flush)
        await anyio.to_thread.run_sync(meters.shutdown)
    spans = {
        span.name.partition(" ")[0]: span
        for request in collector.traces
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }
    assert spans.keys() == {"invoke_agent", "realtime_inference", "execute_tool"}
    assert len({span.trace_id for span in spans.values()}) == 1
    assert {a.key: a.value.string_value for a in spans["execute_tool"].attributes}[
        "gen_ai.tool.name"
    ] == "weather"
    assert collector.authorizations == {"Basic abc"}
    names = {
        metric.name
        for request in collector.metrics
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert names >= {
        "gen_ai.execute_tool.duration",
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.time_to_first_chunk",
        "gen_ai.client.operation.duration",
        "gen_ai.invoke_agent.duration",
    }


class Collector:
    """A receiver of OTLP over HTTP, in a thread of its own."""

    def __init__(self) -> None:
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.authorizations: set[str] = set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(self.path, body, self.headers.get("authorization"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def take(self, path: str, body: bytes, authorization: str | None) -> None:
        if path == "/v1/traces":
            self.traces.append(ExportTraceServiceRequest.FromString(body))
            self.authorizations.add(authorization or "")
        else:
            self.metrics.append(ExportMetricsServiceRequest.FromString(body))

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
