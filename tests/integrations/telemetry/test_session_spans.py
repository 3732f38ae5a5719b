"""The spans of a session and of its turns, and what happens in them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode
from support.traced import Records, asked, calling, talking

import livetools
from livetools import ReconnectPolicy, TurnComplete
from livetools.session import MemoryTransport
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio


async def weather(city: str) -> str:
    return f"rain in {city}"


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def happened(span: ReadableSpan) -> dict[str, dict[str, Any]]:
    """The events of a span, by name without its prefix."""
    return {event.name.removeprefix("livetools."): dict(event.attributes or {}) for event in span.events}


async def answer(transport: MemoryTransport, usage: dict[str, Any]) -> None:
    """One turn, with these tokens."""
    server = await transport.accept()
    await server.receive()
    server.send({"setupComplete": {}})
    await server.receive()
    server.send({"serverContent": {"outputTranscription": {"text": "Hello."}}})
    server.send({"serverContent": {"turnComplete": True}, "usageMetadata": usage})


async def echo(turn: Any) -> None:
    await turn.say(f"You said {turn.text}.")


async def test_a_session_is_a_span_and_each_of_its_turns_is_one_below_it() -> None:
    records = Records()
    async with talking([], echo, records.hooks) as session:
        await session.ask("one")
        await session.ask("two")
    first, second = records.of("realtime_inference")
    assert first.name == "realtime_inference gemini-3.8-live"
    assert first.kind is SpanKind.CLIENT
    assert first.parent == second.parent == records.session.context
    about = {"gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "gemini-3.8-live"}
    assert about.items() <= attributes(first).items()
    assert about.items() <= attributes(records.session).items()
    assert attributes(records.session)["gen_ai.operation.name"] == "invoke_agent"
    assert attributes(first)["gen_ai.response.finish_reasons"] == ("stop",)
    assert records.session.status.status_code is StatusCode.UNSET


async def test_a_turn_begins_when_the_user_has_ended_and_lies_within_its_session() -> None:
    records, times = Records(), []
    async with talking([], echo, records.hooks) as session:
        await session.send_text("one")
        async for event in session:
            if isinstance(event, TurnComplete):
                times.append(event.first_output)
                break
    (turn,) = records.of("realtime_inference")
    assert attributes(turn)["gen_ai.response.time_to_first_chunk"] == times[0]
    assert records.session.start_time <= turn.start_time  # type: ignore[operator]
    assert turn.start_time + int(times[0] * 1e9) <= turn.end_time  # type: ignore[operator]
    assert turn.end_time <= records.session.end_time  # type: ignore[operator]


async def test_turns_do_not_overlap_though_one_brings_the_next() -> None:
    records = Records()
    await asked([weather], calling("weather", city="Oslo"), records.hooks)
    turns = records.of("realtime_inference")
    for one, next_one in pairwise(turns):
        assert one.end_time <= next_one.start_time  # type: ignore[operator]


async def test_tokens_by_kind_and_their_price_are_attributes_and_metrics() -> None:
    details = [{"modality": "AUDIO", "tokenCount": 30}, {"modality": "TEXT", "tokenCount": 12}]
    usage = {
        "promptTokenCount": 100,
        "responseTokenCount": 42,
        "thoughtsTokenCount": 8,
        "totalTokenCount": 150,
        "responseTokensDetails": details,
    }
    records, transport = Records(), MemoryTransport()
    session = livetools.connect(
        "gemini-3.8-live", transport=transport, base_url="ws://localhost", hooks=[records.hooks]
    )
    async with anyio.create_task_group() as group:
        group.start_soon(answer, transport, usage)
        async with session:
            await session.ask("one")
            cost = session.usage.cost
    turn = attributes(records.of("realtime_inference")[0])
    told = {name.removeprefix("gen_ai.usage."): n for name, n in turn.items() if ".usage." in name}
    assert told.pop("cost", None) == cost
    assert told == {
        "input_tokens": 100,
        "output_tokens": 50,
        "reasoning.output_tokens": 8,
        "audio.output_tokens": 30,
        "text.output_tokens": 12,
    }
    assert attributes(records.session)["gen_ai.usage.output_tokens"] == 50
    counted = records.metric("gen_ai.client.token.usage")
    kinds = {
        (p.attributes["gen_ai.token.type"], p.attributes["gen_ai.token.modality"]): p.sum for p in counted
    }
    assert kinds == {("input", "text"): 100, ("output", "audio"): 30, ("output", "text"): 20}


@pytest.fixture
def known_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """A price list that knows the model of these tests."""
    monkeypatch.setattr("livetools.events.Usage.cost", 0.25)


async def test_a_known_price_stands_where_backends_look_for_it_and_is_summed(known_price: None) -> None:
    records = Records()
    async with talking([], echo, records.hooks) as session:
        await session.ask("one")
        await session.ask("two")
    for turn in records.of("realtime_inference"):
        assert attributes(turn)["gen_ai.usage.cost"] == attributes(turn)["operation.cost"] == 0.25
    assert [point.value for point in records.metric("livetools.cost")] == [0.5]


async def test_times_are_metrics() -> None:
    records = Records()
    await asked([], echo, records.hooks)
    (point,) = records.metric("gen_ai.client.operation.time_to_first_chunk")
    (turn,) = records.of("realtime_inference")
    assert point.sum == attributes(turn)["gen_ai.response.time_to_first_chunk"]
    assert point.explicit_bounds[:2] == (0.01, 0.02)
    (whole,) = (
        (p for p in records.metric("gen_ai.invoke_agent.duration") or [None] if p) if False else (None,)
    )
    assert whole is None


async def test_what_is_said_is_told_only_on_request() -> None:
    discreet, open_ = Records(), Records(capture_content=True)
    async with talking(
        [weather], calling("weather", city="Oslo"), discreet.hooks, open_.hooks, instructions="Be a frog."
    ) as session:
        await session.ask("Where does it rain?")
    for word in ("frog", "Where does", "Oslo"):
        assert word not in "".join(span.to_json() for span in discreet.all)
        assert word in "".join(span.to_json() for span in open_.all)
    turns = [attributes(turn) for turn in open_.of("realtime_inference")]
    asking = [json.loads(turn["gen_ai.input.messages"]) for turn in turns]
    assert asking[0] == [{"role": "user", "parts": [{"type": "text", "content": "Where does it rain?"}]}]
    (answer,) = json.loads(turns[-1]["gen_ai.output.messages"])
    assert answer["role"] == "assistant"
    assert "rain in Oslo" in answer["parts"][0]["content"]
    assert answer["finish_reason"] == "stop"


async def test_an_interruption_is_an_event_of_its_turn_and_its_end() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.say("A long story ...")
        await turn.interrupt()

    async with talking([], model, records.hooks) as session:
        reply = await session.ask("one")
        assert reply.interrupted
    (turn,) = records.of("realtime_inference")
    assert "interrupted" in happened(turn)
    assert attributes(turn)["gen_ai.response.finish_reasons"] == ("interrupted",)


async def test_a_lost_connection_and_its_recovery_are_events_of_the_session() -> None:
    records = Records()
    lost = anyio.Event()

    async def model(turn: Any) -> None:
        if lost.is_set():
            await turn.say("Back.")
        else:
            lost.set()
            await turn.go_away(None)
            await turn.drop()

    policy = ReconnectPolicy(initial=0.0, maximum=0.01)
    async with talking([], model, records.hooks, reconnect=policy) as session:
        await session.ask("one")
    events = happened(records.session)
    assert {"session_started", "go_away", "reconnected"} <= events.keys()
    assert events["go_away"] == {}
    assert isinstance(events["reconnected"]["livetools.state_restored"], bool)


async def test_a_stall_is_an_event() -> None:
    records, clock, begun = Records(), FakeClock(), anyio.Event()

    async def model(turn: Any) -> None:
        await turn.send({"serverContent": {"outputTranscription": {"text": "Well ..."}}})
        begun.set()
        await anyio.sleep_forever()

    async with talking([], model, records.hooks, clock=clock, stall_timeout=5.0) as session:
        await session.send_text("one")
        await begun.wait()
        async for event in session:
            if isinstance(event, livetools.OutputTranscript):
                clock.advance(6.0)
            if isinstance(event, livetools.Stalled):
                break
    (turn,) = records.of("realtime_inference")
    assert happened(turn)["stalled"]["livetools.waiting_for"] == "the end of the model's turn"


async def test_a_session_that_fails_says_how_and_ends_the_turn_that_was_under_way() -> None:
    records = Records()

    async def model(turn: Any) -> None:
        await turn.say("Well ...")
        await turn.close(1008, "You exceeded your current quota")

    async with talking([], model, records.hooks) as session:
        with pytest.raises(livetools.QuotaExceeded):
            await session.ask("one")
    assert attributes(records.session)["error.type"] == "QuotaExceeded"
    assert records.session.status.status_code is StatusCode.ERROR
    (turn,) = records.of("realtime_inference")
    assert attributes(turn)["gen_ai.response.finish_reasons"] == ("CONNECTION_REPLACED",)
    (point,) = records.metric("gen_ai.invoke_agent.duration")
    assert point.attributes["error.type"] == "QuotaExceeded"


async def test_a_session_that_never_stood_is_a_span_with_its_error() -> None:
    records = Records()
    with pytest.raises(livetools.ConnectFailed):
        async with livetools.connect("gemini-3.8-live", base_url="ws://127.0.0.1:1", hooks=[records.hooks]):
            pass
    assert attributes(records.session)["error.type"] == "ConnectFailed"


async def test_vertex_ai_is_told_from_the_gemini_api() -> None:
    records = Records()
    session = livetools.connect(
        "gemini-live-2.5-flash", vertexai=True, project="p", location="l", base_url="ws://127.0.0.1:1",
        hooks=[records.hooks],
    )  # fmt: skip
    with pytest.raises(livetools.ConnectFailed):
        async with session:
            pass
    about = attributes(records.session)
    assert about["gen_ai.provider.name"] == "gcp.vertex_ai"
    assert about["gen_ai.request.model"] == "gemini-live-2.5-flash"


async def test_two_sessions_at_once_are_two_traces() -> None:
    records = Records()
    async with talking([weather], calling("weather", city="a"), records.hooks) as one:
        async with talking([weather], calling("weather", city="b"), records.hooks) as other:
            await other.ask("go")
            await one.ask("go")
    sessions = {span.context.trace_id for span in records.of("invoke_agent")}
    assert len(sessions) == 2
    assert {span.context.trace_id for span in records.tools} == sessions


async def test_a_call_that_runs_after_its_turn_hangs_below_that_turn() -> None:
    """Of two calls of a tool that runs one at a time, the second waits, and its turn may have ended."""
    records, gate = Records(), anyio.Event()

    @livetools.tool(behavior="non_blocking", concurrency=1)
    async def slow(n: int) -> int:
        await gate.wait()
        return n

    async def model(turn: Any) -> None:
        if "second" in turn.text:
            await turn.say("Here I am.")
            gate.set()
            return
        ids = [await turn.start_call("slow", n=n) for n in (1, 2)]
        await turn.say("They run.")
        for id in ids:
            await turn.answer(id)

    async with talking([slow], model, records.hooks) as session:
        await session.send_text("first")
        ended = 0
        async for event in session:
            if isinstance(event, livetools.OutputTranscript | livetools.TextChunk) and not ended:
                ended = 1
                gate.set()
            if isinstance(event, TurnComplete) and len(records.tools) == 2:
                break
    one, other = records.tools
    assert one.parent == other.parent
