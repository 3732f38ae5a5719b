"""The vocabulary of the table: what a step sends and waits for, what a conversation is, what an answer holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from livetools.setup.model_profiles import ModelProfile

from .outcome import JsonObject, StepResult, TalkOutcome


@dataclass(frozen=True, slots=True)
class Answer:
    """The values of a field that agree with what was seen, the likeliest first, and what was seen, in words.

    There are several where a conversation cannot tell them apart: a setting that is accepted may be ignored.
    """

    values: tuple[object, ...]
    seen: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing can be said of a field, and why."""

    why: str


Facts: TypeAlias = dict[str, Answer | Undecided]


def value(facts: Mapping[str, Answer | Undecided], name: str) -> object:
    """The likeliest value of a field that was found; ``None`` where nothing was."""
    found = facts.get(name)
    return found.values[0] if isinstance(found, Answer) else None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a step may need to know: how text reaches this model, and the calls that the model has made."""

    channel: str | None
    calls: list[JsonObject]


def nothing(scene: Scene) -> Iterable[JsonObject]:
    """Send nothing."""
    return ()


def never(part: StepResult) -> bool:
    """Wait the whole time."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Frames to send, then a wait of ``wait`` seconds at most, which ends as soon as ``until`` holds.

    ``pace`` is the pause behind each frame in seconds. ``says``: the step makes the model answer, which costs tokens.
    ``answers``: it answers a call, so it is played only where the model has made one.
    """

    send: Callable[[Scene], Iterable[JsonObject]] = nothing
    until: Callable[[StepResult], bool] = never
    wait: float
    pace: float = 0.0
    says: bool = False
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: what is added to the setup (``None`` takes a field out), and its steps.

    ``early``: it needs API version v1alpha of the Gemini API.
    """

    setup: Mapping[str, object] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    early: bool = False


Read: TypeAlias = Callable[[Mapping[str, TalkOutcome], Mapping[str, Answer | Undecided], ModelProfile], Facts]
"""The answers, from the outcomes by the names of the talks, from the facts that are known by now, and from the profile
that is known of the model (to tell which of two values was expected that look alike)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One line of the table: the fields that it decides, the conversations that it needs, how they are read.

    ``needs`` says why it cannot be done with the facts that are known by then; empty if it can.
    """

    fields: tuple[str, ...]
    asks: str
    talks: Callable[[Mapping[str, Answer | Undecided]], Mapping[str, Talk]]
    read: Read
    needs: Callable[[Mapping[str, Answer | Undecided]], str] = lambda facts: ""


def fixed(**talks: Talk) -> Callable[[Mapping[str, Answer | Undecided]], Mapping[str, Talk]]:
    """The same conversations, independent of the facts."""
    return lambda facts: talks
