"""What is told of tokens, calls and events: names of the conventions, and values that OpenTelemetry takes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from livetools.events import Call, HandedOff, Reconnecting, TextChunk, ToolLost, Usage
from livetools.integrations.telemetry import attributes

CALL = Call("c1", "weather", {"city": "Oslo"})
SAMPLES: dict[str, Any] = {
    "attempt": 2, "delay": 0.5, "cause": "1006", "state_restored": True, "time_left": 5.0, "waiting_for": "an answer",
    "seconds": 20.0, "count": 3, "reason": "the connection is away", "call": CALL, "delivery": "text", "name": "cook",
}  # fmt: skip


def test_nothing_is_told_of_a_turn_without_tokens() -> None:
    assert attributes.of_usage(Usage()) == {}
    assert list(attributes.by_kind(Usage())) == []


def test_tool_use_is_input_thoughts_are_output_and_what_is_not_told_apart_is_text() -> None:
    usage = Usage(
        100, 40, 165, thoughts_tokens=5, tool_use_tokens=20, cached_tokens=7,
        modalities={"prompt_audio": 60, "prompt_image": 10, "response_audio": 40, "cached_audio": 7, "prompt_odd": 1},
    )  # fmt: skip
    assert attributes.of_usage(usage) == {
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 45,
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "gen_ai.usage.audio.input_tokens": 60,
        "gen_ai.usage.image.input_tokens": 10,
        "gen_ai.usage.audio.output_tokens": 40,
        "gen_ai.usage.audio.cache_read.input_tokens": 7,
    }
    kinds = sorted(attributes.by_kind(usage))
    assert kinds == [
        ("input", "audio", 60), ("input", "image", 10), ("input", "text", 50),
        ("output", "audio", 40), ("output", "text", 5),
    ]  # fmt: skip
    assert sum(count for _, _, count in kinds) == 165


def test_counts_that_do_not_add_up_are_never_negative() -> None:
    usage = Usage(10, 0, 10, modalities={"prompt_audio": 30})
    assert list(attributes.by_kind(usage)) == [("input", "audio", 30)]


@pytest.mark.parametrize("kind", attributes.SPAN_EVENTS)
def test_the_attributes_of_each_event_are_values_that_opentelemetry_takes(kind: type[Any]) -> None:
    event = kind(**{field.name: SAMPLES[field.name] for field in dataclasses.fields(kind)})
    told = attributes.span_event(event)
    assert told is not None
    name, values = told
    assert name.startswith("livetools.")
    assert all(isinstance(value, str | bool | int | float) for value in values.values())
    assert "Oslo" not in str(values)


def test_what_an_event_says_is_in_its_attributes() -> None:
    assert attributes.span_event(Reconnecting(2, 0.5, "1006")) == (
        "livetools.reconnecting",
        {"livetools.attempt": 2, "livetools.delay": 0.5, "livetools.cause": "1006"},
    )
    lost = attributes.span_event(ToolLost(CALL, "text"))
    assert lost is not None
    assert lost[1]["gen_ai.tool.call.id"] == "c1"
    assert attributes.span_event(HandedOff(None)) == ("livetools.handed_off", {"gen_ai.agent.name": ""})
    assert attributes.span_event(TextChunk("secret")) is None


def test_a_message_is_as_the_conventions_have_it() -> None:
    assert json.loads(attributes.messages("assistant", "Grüße", "stop")) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Grüße"}], "finish_reason": "stop"}
    ]
    assert "ü" in attributes.messages("user", "Grüße")
