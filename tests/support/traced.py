"""A session that is traced, and what was recorded of it by the SDK's own in-memory exporters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

import livetools
from livetools import Hooks
from livetools.integrations import opentelemetry
from livetools.testing import FakeLiveServer

MODEL = "gemini-3.8-live"


class Records:
    """The hooks, and what was recorded through them."""

    def __init__(self, sampler: Sampler | None = None, **options: Any) -> None:
        self._spans, self._metrics = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracer_provider = TracerProvider(sampler, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meter_provider = MeterProvider([self._metrics], shutdown_on_exit=False)
        self.hooks = opentelemetry.tracing(self.tracer_provider, self.meter_provider, **options)
        self.tracer = self.tracer_provider.get_tracer("tests")

    def of(self, operation: str) -> list[ReadableSpan]:
        """The spans that have ended of one kind, in the order of their ends."""
        ended = self._spans.get_finished_spans()
        return [span for span in ended if span.name.partition(" ")[0] == operation]

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        return self._spans.get_finished_spans()

    @property
    def tools(self) -> list[ReadableSpan]:
        return self.of("execute_tool")

    @property
    def tool(self) -> ReadableSpan:
        (span,) = self.tools
        return span

    @property
    def session(self) -> ReadableSpan:
        (span,) = self.of("invoke_agent")
        return span

    def metric(self, name: str) -> list[Any]:
        """The points of one metric: a list, for the SDK gives each reader its points once."""
        data = self._metrics.get_metrics_data()
        found = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        return [point for m in found if m.name == name for point in m.data.data_points]

    def points(self) -> list[Any]:
        return self.metric("gen_ai.execute_tool.duration")


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
        return str(await session.ask("go", timeout=30))
