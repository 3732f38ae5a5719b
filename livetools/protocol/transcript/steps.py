"""The steps of a transcript, and how ``contents`` are built from them.

A step is something that one side said, or a batch of calls. A batch becomes two contents, the calls and their
responses, so that no list of steps can make a history in which a call has no response.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from livetools.events import Call

Content: TypeAlias = dict[str, Any]  # {"role": "user" | "model", "parts": [...]}, any JSON below
Part: TypeAlias = dict[str, Any]

PENDING = {"error": "no result yet"}

STEP_OVERHEAD = 64  # what a step weighs beside its text

# In place of speech without a transcript: a function call may not open a conversation.
UNHEARD = "(The user spoke; there is no transcript of it.)"


_SAID = ("text", "inlineData", "fileData")  # what of a part is words or media
_SMALL = frozenset({int, float, bool, type(None)})  # values that weigh nothing by themselves


@dataclass(slots=True, eq=False)
class Utterance:
    """Something one side said: whole parts, or text that comes in pieces."""

    exchange: int
    role: str
    parts: list[Part] = field(default_factory=list)
    text: str = ""
    heard: bool = False  # from an input transcript
    finished: bool = False  # what follows is another utterance
    aside: bool = False  # text beside speech, which counts only if its turn ends without a transcript
    weight: int = 0

    def rendered(self) -> list[Part]:
        """Its parts, the text last."""
        return [*self.parts, {"text": self.text}] if self.text else list(self.parts)


@dataclass(slots=True, eq=False)
class Slot:
    """A call, and what answered it."""

    key: str
    name: str
    id: str | None
    call: Call | Part  # made into a part when it is asked for: calls are served more often than read
    response: Mapping[str, Any] | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)  # what stood beside a response that was given
    final: bool = False  # later answers change nothing

    def call_part(self) -> Part:
        """The part of the model's content."""
        if isinstance(self.call, Call):
            return {"functionCall": {"id": self.id, "name": self.name, "args": dict(self.call.args)}}
        return self.call

    def response_part(self) -> Part:
        """The part of the user's content, which always is there."""
        named = {"id": self.id, "name": self.name} if self.id else {"name": self.name}
        response = PENDING if self.response is None else self.response
        return {"functionResponse": {**self.rest, **named, "response": dict(response)}}


@dataclass(slots=True, eq=False)
class Batch:
    """Calls that the model made together."""

    exchange: int
    slots: list[Slot] = field(default_factory=list)
    weight: int = 0


Step: TypeAlias = Utterance | Batch


def weigh(part: Mapping[str, Any]) -> int:
    """Its approximate size in bytes as JSON, with the object around it.

    On the path of every call: flat values are not printed.
    """
    size = STEP_OVERHEAD + 32 * len(part)
    for value in part.values():
        if type(value) is str:
            size += len(value)
        elif type(value) not in _SMALL:
            size += _length(value)
    return size


def _length(value: object) -> int:
    """About the length of a value as text: as JSON, which takes a fifth of the time of a ``repr``."""
    try:
        return len(msgspec.json.encode(value))
    except Exception:  # not every dict of a user's is JSON
        return len(repr(value))


def render(steps: Iterable[Step]) -> list[Content]:
    """The steps as ``contents``. What was said to begin a batch shares a content with its calls."""
    out: list[Content] = []
    for step in steps:
        if isinstance(step, Utterance):
            if not step.aside and (parts := step.rendered()):
                _append(out, step.role, parts)
            continue
        _append(out, "model", [slot.call_part() for slot in step.slots])
        if len(out) == 1:
            out.insert(0, {"role": "user", "parts": [{"text": UNHEARD}]})
        out.append({"role": "user", "parts": [slot.response_part() for slot in step.slots]})
    return out


def without_functions(contents: Iterable[Content]) -> list[Content]:
    """The words and media alone; turns of one side that are neighbours now become one. Thoughts are left out, and
    code that the service ran."""
    out: list[Content] = []
    for content in contents:
        said = [
            {key: part[key] for key in _SAID if part.get(key)}
            for part in content["parts"]
            if not part.get("thought") and any(part.get(key) for key in _SAID)
        ]
        if said and out and out[-1]["role"] == content["role"]:
            out[-1]["parts"].extend(said)
        elif said:
            out.append({"role": content["role"], "parts": said})
    return out


def _append(out: list[Content], role: str, parts: list[Part]) -> None:
    """Add a content. The model's share one: a function-call turn may not follow another turn of the model."""
    if role == "model" and out and out[-1]["role"] == "model":
        out[-1]["parts"].extend(parts)
    else:
        out.append({"role": role, "parts": list(parts)})
