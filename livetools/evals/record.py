"""The record of one conversation: turns, calls and their times, as the caller saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Event,
    Interrupted,
    OutputTranscript,
    Reconnected,
    Reconnecting,
    TextChunk,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolStarted,
    Usage,
)

CallState = Literal["running", "finished", "failed", "cancelled", "lost"]


@dataclass(slots=True)
class CallRecord:
    """One function call. ``began`` and ``ended`` are seconds from the start of the conversation."""

    id: str
    name: str
    args: Mapping[str, Any]
    turn: int
    began: float
    ended: float | None = None
    state: CallState = "running"
    response: Mapping[str, Any] | None = None
    asked: bool = False  # a person was asked for approval


@dataclass(slots=True)
class TurnRecord:
    """What the caller said, and what came of it. Times are seconds from the start of the conversation.

    ``first``: the first word or sound of the answer. ``trouble``: why there is no proper answer, in words.
    """

    said: str
    began: float
    first: float | None = None
    ended: float | None = None
    text: str = ""
    language: str | None = None  # as the service tells it
    interrupted: bool = False
    trouble: str | None = None

    @property
    def latency(self) -> float | None:
        """Seconds from the end of what the caller said to the first word or sound."""
        return None if self.first is None else self.first - self.began


@dataclass(slots=True)
class Note:
    """Something else that a timeline shows: a reconnection, an interruption, a fault that was switched on."""

    at: float
    text: str


@dataclass(slots=True)
class Conversation:
    """One conversation, played to its end.

    ``error``: why the session ended early, in words. ``cost``: in US dollars, where the price is known.
    """

    name: str = ""
    turns: list[TurnRecord] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    error: str | None = None
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """Everything the model said, a line a turn."""
        return "\n".join(turn.text for turn in self.turns)

    def render(self) -> str:
        """The conversation as a person or a judge reads it: who said what, with every call between."""
        lines: list[str] = []
        for number, turn in enumerate(self.turns, 1):
            lines.append(f"caller: {turn.said}")
            for call in self.calls:
                if call.turn == number:
                    given = ", ".join(f"{name}={value!r}" for name, value in call.args.items())
                    result = "" if call.response is None else f" -> {dict(call.response)}"
                    lines.append(f"  [{call.state}] {call.name}({given}){result}")
            cut = " (interrupted)" if turn.interrupted else ""
            lines.append(f"agent: {turn.text or '(nothing)'}{cut}")
            if turn.trouble:
                lines.append(f"  ! {turn.trouble}")
        if self.error:
            lines.append(f"! the session ended: {self.error}")
        return "\n".join(lines)

    def take(self, event: Event, now: float) -> None:
        """Note an event of the session, ``now`` seconds after the start of the conversation."""
        match event:
            case AudioChunk():
                self._answered(now)
            case TextChunk():
                self._answered(now)
            case OutputTranscript(language=language):
                self._answered(now)
                if language and self.turns:
                    self.turns[-1].language = language
            case ToolStarted(call):
                self.calls.append(CallRecord(call.id, call.name, dict(call.args), len(self.turns), now))
            case ApprovalRequested(call):
                self._call(call.id).asked = True
            case ToolFinished(call, response):
                self._end(call.id, "failed" if "error" in response else "finished", now, response)
            case ToolCancelled(call):
                self._end(call.id, "cancelled", now)
            case ToolLost(call):
                self._call(call.id).state = "lost"
            case Interrupted():
                if self.turns:
                    self.turns[-1].interrupted = True
                self.notes.append(Note(now, "interrupted"))
            case Reconnecting(_, delay, cause):
                self.notes.append(
                    Note(now, f"the connection was lost ({cause}); next attempt in {delay:.1f} s")
                )
            case Reconnected(restored):
                self.notes.append(Note(now, "resumed" if restored else "connected to a new session"))

    def _answered(self, now: float) -> None:
        if self.turns and self.turns[-1].first is None:
            self.turns[-1].first = now

    def _call(self, id: str) -> CallRecord:
        return next(call for call in reversed(self.calls) if call.id == id)

    def _end(self, id: str, state: CallState, now: float, response: Mapping[str, Any] | None = None) -> None:
        call = self._call(id)
        call.state, call.ended, call.response = state, now, response


def names(calls: Sequence[CallRecord]) -> str:
    """The names of calls, for messages."""
    return ", ".join(call.name for call in calls) or "nothing"
