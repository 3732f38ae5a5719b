"""Checks that objects have no unknown names, which proto3 JSON refuses. Both casings are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from livetools.protocol.messages.lenient_json import Json

from .findings import Checklist, Spot, camel

CONTENT = ("role", "parts")
PART = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "toolCall",
    "toolResponse",
)
FUNCTION_CALL = ("id", "name", "args", "partialArgs", "willContinue")


def check_fields(
    item: Mapping[str, Json],
    spot: Spot,
    known: Collection[str],
    todo: Checklist,
    elsewhere: Mapping[str, str] | None = None,
    rule: str = "unknown-field",
) -> bool:
    """Check that every key of ``item`` is known. ``elsewhere`` says what is meant by the usual mistakes."""
    fine = True
    for key in item:
        name = camel(str(key))
        words = {"fix": f"Call it {elsewhere[name]}."} if elsewhere and name in elsewhere else {}
        message = f"{key!r} is not a field of this object"
        at = f" at '{spot.wire}'" if spot.wire else ""
        fine &= todo.expect(name in known, rule, spot / str(key), message, name=key, at=at, **words)
    if not item:
        todo.expect(True, rule, spot, "")
    return fine
