"""Validates a ``generateContent`` conversation as the service does, with its order and its texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from livetools.testing.wire import Message

_Fault: TypeAlias = str | None

_AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response "
    "turn."
)
_AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
AS_MANY = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of "
    "the function call turn."
)
SIGNATURE = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
    "correctly, and missing thought_signature may lead to degraded model performance."
)


def parts_of(content: Message, kind: str) -> list[Any]:  # objects, or strings where the kind is text
    """The parts of a content that hold ``kind``, unwrapped."""
    return [part[kind] for part in content.get("parts") or [] if kind in part]


def merged(contents: Sequence[Message]) -> list[Message]:
    """The conversation with the model's contents that follow each other made one.

    google-genai 3.6.1 sends the chunks of a stream back as contents of their own.
    """
    result: list[Message] = []
    for content in contents:
        if result and content.get("role") == result[-1].get("role") == "model":
            result[-1] = {
                **result[-1],
                "parts": [*(result[-1].get("parts") or []), *(content.get("parts") or [])],
            }
        else:
            result.append(content)
    return result


def contents_fault(contents: Sequence[Message], *, signatures: bool = False) -> _Fault:
    """What the service would say to this conversation; ``None`` if it would answer it.

    ``signatures``: the model wants its thought signature back on the first call of each step (Gemini 3).
    """
    if not contents:
        return "* GenerateContentRequest.contents: contents is not specified\n"
    if fault := next((fault for n, each in enumerate(contents) if (fault := _content_fault(n, each))), None):
        return fault
    contents = merged(contents)
    for n, content in enumerate(contents):
        if fault := _order_fault(contents, n):
            return fault
        calls = [part for part in content.get("parts") or [] if "functionCall" in part]
        if signatures and calls and "thoughtSignature" not in calls[0]:
            return SIGNATURE
    if parts_of(contents[-1], "functionCall"):
        return AS_MANY  # nothing answers the last call
    return None


def _content_fault(n: int, content: Message) -> _Fault:
    role = content.get("role", "user")
    if role not in ("user", "model", "function"):
        return "Please use a valid role: user, model."
    if not content.get("parts"):
        return f"* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty.\n"
    if role == "model" and parts_of(content, "functionResponse"):
        return "Content with role 'model' can't contain 'functionResponse' part"
    if role != "model" and parts_of(content, "functionCall"):
        return f"Content with role '{role}' can't contain 'functionCall' part"
    return None


def _order_fault(contents: Sequence[Message], n: int) -> _Fault:
    calls, responses = (parts_of(contents[n], kind) for kind in ("functionCall", "functionResponse"))
    before = contents[n - 1] if n else None
    if calls and (before is None or before.get("role", "user") == "model"):
        return _AFTER_USER
    asked = parts_of(before, "functionCall") if before is not None else []
    if responses and not asked:
        return _AFTER_CALL
    if len(responses) != len(asked):
        return AS_MANY
    known = {call.get("id") for call in asked} - {None}
    given = {response.get("id") for response in responses} - {None}
    if known and given - known:
        return "functionResponse.id does not match functionCall.id"
    return None


def last_turn(contents: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The user's last turn that is not an answer, and the calls and answers that follow it."""
    for n in range(len(contents) - 1, -1, -1):
        content = contents[n]
        if content.get("role", "user") == "user" and not parts_of(content, "functionResponse"):
            return [content], list(contents[n + 1 :])
    return [], list(contents)
