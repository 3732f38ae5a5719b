"""The ``contents`` of a conversation, made from the steps of its transcript.

A step is something that one side said, or a batch of calls. A batch becomes two contents, the calls and their
responses, so that no list of steps can make a history in which a call has no response.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Content: TypeAlias = dict[str, Any]  # {"role": "user" | "model", "parts": [...]}, any JSON below
Part: TypeAlias = dict[str, Any]

PENDING = {"error": "no result yet"}

# In place of speech without a transcript: a function call may not open a conversation.
UNHEARD = "(The user spoke; there is no transcript of it.)"


_SAID = ("text", "inlineData", "fileData")  # what of a part is words or media


@dataclass(slots=True, eq=False)
class Passage:
    """Something one side said: whole parts, or text that comes in pieces."""

    role: str
    parts: list[Part] = field(default_factory=list)
    text: str = ""
    heard: bool = False  # from an input transcript
    finished: bool = False  # what follows is another utterance


@dataclass(slots=True, eq=False)
class Slot:
    """A call, and what answered it."""

    id: str | None
    name: str
    part: Part  # of the model's content
    response: Part | None = None
    rest: Part = field(default_factory=dict)  # what stood beside a response that was given
    final: bool = False  # later answers change nothing

    def response_part(self) -> Part:
        """The part of the user's content, which always is there."""
        named = {"id": self.id, "name": self.name} if self.id else {"name": self.name}
        # A history with an unpaired call is refused by the next model that reads it (pydantic-ai#7977).
        response = PENDING if self.response is None else self.response
        return {"functionResponse": {**self.rest, **named, "response": response}}


Batch: TypeAlias = list[Slot]  # calls that the model made together
TranscriptStep: TypeAlias = Passage | Batch


def render(steps: Iterable[TranscriptStep]) -> list[Content]:
    """The steps as ``contents``. What was said to begin a batch shares a content with its calls."""
    out: list[Content] = []
    for step in steps:
        if isinstance(step, Passage):
            text = [{"text": step.text}] if step.text else []
            if parts := step.parts + text:
                _append(out, step.role, parts)
            continue
        _append(out, "model", [slot.part for slot in step])
        # A function-call turn may only follow a user or a function-response turn: generateContent refuses it otherwise.
        if len(out) == 1:
            out.insert(0, {"role": "user", "parts": [{"text": UNHEARD}]})
        out.append({"role": "user", "parts": [slot.response_part() for slot in step]})
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
        if said:  # neighbours appear where the contents between them held only functions
            _append(out, content["role"], said, joined=("model", "user"))
    return out


def _append(out: list[Content], role: str, parts: list[Part], joined: Collection[str] = ("model",)) -> None:
    """Add a content. The model's share one: a function-call turn may not follow another turn of the model."""
    if role in joined and out and out[-1]["role"] == role:
        out[-1]["parts"].extend(parts)
    else:
        out.append({"role": role, "parts": list(parts)})
