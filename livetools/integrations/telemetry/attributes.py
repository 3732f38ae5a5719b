"""The attributes of a session, by OpenTelemetry's GenAI conventions (2026-11, in development): names and values.

A turn is a ``realtime_inference``, as the conventions call one generation of a live session. Attributes that the
conventions lack begin with ``livetools.``, except the price, which has the names that Langfuse (``gen_ai.usage.cost``)
and Logfire (``operation.cost``) read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from livetools.events import (
    ApprovalRequested,
    Call,
    Event,
    GoAway,
    HandedOff,
    InputDropped,
    Interrupted,
    Reconnected,
    Reconnecting,
    Stalled,
    ToolCancelled,
    ToolLost,
    Usage,
)

Value: TypeAlias = str | bool | int | float | list[str]
Attributes: TypeAlias = dict[str, Value]

ERROR_OF_CANCELLED: Final = "cancelled"  # error.type of a call that was taken back
SIDES: Final = {
    "prompt": "input",
    "response": "output",
    "cached": "cache_read.input",
}  # as Usage.modalities has them
_MODALITIES: Final = ("audio", "text", "image", "video")


def of_call(call: Call) -> Attributes:
    """Of the span ``execute_tool``."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
    }


def of_usage(usage: Usage) -> Attributes:
    """The tokens of a turn or of several by kind, and their price where it is known. Without tokens there is nothing.

    What tools bring counts as input, and thoughts as output, as they are billed.
    """
    if not usage.total_tokens:
        return {}
    told: Attributes = {
        "gen_ai.usage.input_tokens": usage.prompt_tokens + usage.tool_use_tokens,
        "gen_ai.usage.output_tokens": usage.response_tokens + usage.thoughts_tokens,
    }
    if usage.cached_tokens:
        told["gen_ai.usage.cache_read.input_tokens"] = usage.cached_tokens
    if usage.thoughts_tokens:
        told["gen_ai.usage.reasoning.output_tokens"] = usage.thoughts_tokens
    for kind, count in usage.modalities.items():
        side, _, modality = kind.partition("_")
        if modality in _MODALITIES:
            told[f"gen_ai.usage.{modality}.{SIDES[side]}_tokens"] = count
    if (cost := usage.cost) is not None:
        told["gen_ai.usage.cost"] = told["operation.cost"] = cost
    return told


def by_kind(usage: Usage) -> Iterable[tuple[str, str, int]]:
    """(``gen_ai.token.type``, modality, tokens): what the service tells apart, and the rest as text."""
    totals = {
        "prompt": usage.prompt_tokens + usage.tool_use_tokens,
        "response": usage.response_tokens + usage.thoughts_tokens,
    }
    for side, total in totals.items():
        known = {
            modality: count
            for modality in _MODALITIES
            if modality != "text" and (count := usage.modalities.get(f"{side}_{modality}", 0))
        }
        rest = max(0, total - sum(known.values()))
        yield from ((SIDES[side], modality, count) for modality, count in known.items())
        if rest:
            yield SIDES[side], "text", rest


def _call(call: Call) -> Attributes:
    return {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}


#: What becomes an event of a span: its name, and its attributes.
SPAN_EVENTS: Final[Mapping[type[Any], tuple[str, Callable[[Any], Attributes]]]] = {
    Interrupted: ("livetools.interrupted", lambda e: {}),
    Reconnecting: (
        "livetools.reconnecting",
        lambda e: {"livetools.attempt": e.attempt, "livetools.delay": e.delay, "livetools.cause": e.cause},
    ),
    Reconnected: ("livetools.reconnected", lambda e: {"livetools.state_restored": e.state_restored}),
    GoAway: (
        "livetools.go_away",
        lambda e: {} if e.time_left is None else {"livetools.time_left": e.time_left},
    ),
    Stalled: (
        "livetools.stalled",
        lambda e: {"livetools.waiting_for": e.waiting_for, "livetools.seconds": e.seconds},
    ),
    InputDropped: (
        "livetools.input_dropped",
        lambda e: {"livetools.count": e.count, "livetools.reason": e.reason},
    ),
    ToolLost: ("livetools.tool_lost", lambda e: {**_call(e.call), "livetools.delivery": e.delivery}),
    ToolCancelled: ("livetools.tool_cancelled", lambda e: _call(e.call)),
    ApprovalRequested: ("livetools.approval_requested", lambda e: _call(e.call)),
    HandedOff: ("livetools.handed_off", lambda e: {"gen_ai.agent.name": e.name or ""}),
}


def span_event(event: Event) -> tuple[str, Attributes] | None:
    """The name and the attributes of the span event for this event of the session, if it is worth one."""
    told = SPAN_EVENTS.get(type(event))
    return None if told is None else (told[0], told[1](event))


def messages(role: str, text: str, finish: str | None = None) -> str:
    """One message of the conventions' ``gen_ai.input.messages`` and ``gen_ai.output.messages``, as JSON."""
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": text}]}
    if finish is not None:
        message["finish_reason"] = finish
    return as_json([message])


def as_json(value: object) -> str:
    """Any value as JSON text."""
    return json.dumps(value, ensure_ascii=False, default=str)
