"""The record of one conversation: turns, calls and their times, as the caller saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from livetools.events import Usage

_CallState = Literal["running", "finished", "failed", "cancelled", "lost"]


@dataclass(slots=True)
class CallRecord:
    """One function call. ``began`` and ``ended`` are seconds from the start of the conversation."""

    id: str
    name: str
    args: Mapping[str, Any]
    turn: int
    began: float
    ended: float | None = None
    state: _CallState = "running"
    response: Mapping[str, Any] | None = None
    asked: bool = False  # a person was asked for approval
    ran: bool | None = None  # the tool's function began to run; None while nothing is known of it
    refused: bool = False  # by a person, the tool's `approval`, a hook, or a limit of the session

    @property
    def has_run(self) -> bool:
        """Whether the function ran, or is running: what is not known of a call that never ended counts as such."""
        return self.ran is not False


@dataclass(slots=True)
class TurnRecord:
    """What the caller said, and everything the model said until the caller spoke again.

    Times are seconds from the start of the conversation. ``first``: the first word or sound of the answer.
    ``trouble``: why there is no proper answer, in words. ``silent``: the caller said nothing, and expects nothing.
    """

    said: str
    began: float
    first: float | None = None
    ended: float | None = None
    text: str = ""
    language: str | None = None  # as the service tells it
    interrupted: bool = False
    trouble: str | None = None
    silent: bool = False

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

    ``error``: why the conversation ended early, in words. ``cost``: in US dollars, where the price is known.
    ``reached``: whether a caller with a goal says that it was reached; ``None`` if nobody said.
    """

    name: str = ""
    turns: list[TurnRecord] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    error: str | None = None
    seconds: float = 0.0
    reached: bool | None = None

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
            lines.append(f"! the conversation ended: {self.error}")
        return "\n".join(lines)


def names(calls: Sequence[CallRecord]) -> str:
    """The names of calls, for messages."""
    return ", ".join(call.name for call in calls) or "nothing"
