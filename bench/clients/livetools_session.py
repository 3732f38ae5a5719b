"""livetools: a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from worker import MICROPHONE, MODEL, Conversation, Job, Meter, Tool, memory, request, serve, work

import livetools
from livetools import ToolFinished, TurnComplete


@cache
def called_work(function: Tool) -> livetools.Tool:
    """As a tool that the server knows how to call: made once, for any number of sessions."""
    return livetools.Tool(function, name="work")


def opened(url: str, tool: Tool = work, **options: Any) -> livetools.Session:
    tools = options.pop("tools", None) or [called_work(tool)]
    return livetools.connect(MODEL, tools=tools, base_url=url, reconnect=False, **options)


async def listen(session: livetools.Session, tool: Tool = work) -> None:
    """Until the turn ends."""
    async for event in session:
        if type(event) is TurnComplete:
            return


async def answered(session: livetools.Session, n: int) -> None:
    """Until n calls have been answered; the turn may go on."""
    async for event in session:
        if type(event) is ToolFinished:
            n -= 1
            if not n:
                return


async def say(session: livetools.Session, job: str, n: int = 1, p: int = 1) -> None:
    await session.send_text(request(job, n, p))


async def exchange(session: livetools.Session, job: str, n: int = 1, p: int = 1) -> None:
    await say(session, job, n, p)
    await listen(session)


async def speak(session: livetools.Session) -> None:
    await session.send_audio(MICROPHONE)


async def ask(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url) as session:
        with meter:
            for _ in range(n):
                await session.ask(request("say"))


async def answers(url: str, n: int, p: int, meter: Meter) -> None:
    """Calls, until the last of each turn is answered."""
    async with opened(url) as session:
        await answer(session, n, p, meter)


async def answer(session: livetools.Session, n: int, p: int, meter: Meter) -> None:
    """In turns of 50 calls: what is put off until a turn ends is bounded."""
    for _ in range(0, n, 50):
        with meter:
            await say(session, "calls", min(n, 50), p)
            await answered(session, min(n, 50))
        await listen(session)


def traced(hooks: Callable[[Any, Any], Any], metrics: bool = True, turn: bool = True) -> Job:
    """Calls, recorded by OpenTelemetry's SDK, all of them, and handed to an exporter that does nothing. ``turn``: what
    is measured ends with the turn, and else when the last is answered."""

    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        from opentelemetry.metrics import NoOpMeterProvider
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

        class Nowhere(SpanExporter):
            def export(self, spans: object) -> SpanExportResult:
                return SpanExportResult.SUCCESS

        spans = TracerProvider(shutdown_on_exit=False)
        spans.add_span_processor(BatchSpanProcessor(Nowhere()))
        meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
        async with opened(url, hooks=[hooks(spans, meters if metrics else NoOpMeterProvider())]) as session:
            if turn:
                with meter:
                    await exchange(session, "calls", n, p)
            else:
                await answer(session, n, p, meter)
        spans.shutdown()

    return run


def tracing(spans: Any, meters: Any) -> Any:
    from livetools.integrations import opentelemetry

    return opentelemetry.tracing(spans, meters)


class OneSpan(livetools.Hooks):
    """The least that a traced call can cost: one span of the SDK's, with the attributes that the conventions want."""

    def __init__(self, spans: Any, meters: Any) -> None:
        self._tracer = spans.get_tracer("bench")
        self._span: Any = None  # calls come one after the other

    def before(self, call: livetools.Call) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.id,
        }
        self._span = self._tracer.start_span(f"execute_tool {call.name}", attributes=attributes)

    def after(self, call: livetools.Call, response: Any) -> None:
        self._span.end()


async def many_tools(url: str, n: int, p: int, meter: Meter) -> None:
    """Calls of one of 200 tools."""
    others = [livetools.Tool(work, name=f"work_{k}", description="Works.") for k in range(199)]
    async with opened(url, tools=[livetools.Tool(work, name="work"), *others]) as session:
        with meter:
            await exchange(session, "calls", n, p)


async def turns(url: str, n: int, p: int, meter: Meter) -> None:
    """What p turns cost after n others, and by how much these let the process grow; the transcript is bounded."""
    async with opened(url, max_history=2**14) as session:
        for _ in range(n // 2):
            await exchange(session, "say")
        half = memory()
        for _ in range(n - n // 2):
            await exchange(session, "say")
        grown = memory() - half
        with meter:
            for _ in range(p):
                await exchange(session, "say")
        meter.told["grown"] = grown


if __name__ == "__main__":
    ours = {
        "ask": ask,
        "traced": traced(tracing),
        "traced_without_metrics": traced(tracing, metrics=False),
        "answers": answers,
        "traced_answers": traced(tracing, turn=False),
        "one_span": traced(OneSpan),
        "many_tools": many_tools,
        "turns": turns,
    }
    serve("livetools", {**Conversation(opened, say, listen, speak).jobs(), **ours})
