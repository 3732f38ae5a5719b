"""Parses a frame of the server into a :class:`ServerMessage`.

:func:`parse` never raises: broken pieces are taken out one by one, each is reported in ``unknown``, and the rest is
kept. A call that is not read is a call that nobody answers, and the session waits without end (livekit/agents#6569).

The server writes camelCase, the SDKs mix it with snake_case: both are read at every level. What the service
adds, at any depth, is listed in ``unknown``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta, Struct

from livetools.events import VoiceActivity

from .field_values import FieldReader, Fields
from .lenient_json import lenient_json

RAW_ARGS = "(not an object)"
"""The key under which arguments go that are not a JSON object: no parameter can have this name."""

STATUSES = frozenset({"IN_PROGRESS", "IDLE", "REQUIRES_ACTION", "WAITING_FOR_INPUT"})
"""The values of ``interactionStatus`` seen up to 2026-10 (google-genai 3.6.1, gemini-skills#81)."""

MAX_FAULTS = 100
"""Pieces that are reported one by one; of a message with more of them the calls and cancellations are kept."""

_ACTIVITIES = {
    "ACTIVITY_START": "start",
    "ACTIVITY_END": "end",
    "VAD_SIGNAL_TYPE_SOS": "start",
    "VAD_SIGNAL_TYPE_EOS": "end",
}


class PlainCall(Struct, forbid_unknown_fields=True):
    """A call as it came; ``id`` is ``None`` and ``name`` is ``""`` where the server gave none.

    ``args`` that are absent, null or empty are ``{}``; what is not an object goes under :data:`RAW_ARGS`,
    so that the call is answered with a refusal instead of not at all.
    """

    id: Annotated[str, Meta(min_length=1)] | None = None
    name: str = ""
    args: dict[str, Any] = {}  # any JSON value


class FunctionCall(PlainCall):
    """A call, or a piece of one, where it comes in pieces."""

    partial_args: list[Any] = []  # raw: pieces of arguments
    will_continue: bool = False  # it is not whole yet


@dataclass(slots=True)
class ServerMessage:
    """One frame from the server. Every attribute is always there; a bare ``{}`` leaves all of them empty.

    ``fields`` are those of the message, by their camelCase names, but for what the other attributes hold. ``content``
    is its ``serverContent``; on 3.x many of its fields come together, and every one is to be handled. ``calls``
    holds those of ``toolCall`` and then those among the parts of ``modelTurn``: the same call may stand in both
    (mastra-ai/mastra#22969). ``status`` is ``interactionStatus``, from any place in the message. ``unknown`` holds what
    was not understood: ``{path: value}``, or the whole frame where it is not a JSON object. ``works``: the model has
    sent something beside text (a thought signature, say), which shows that it works.
    """

    fields: Fields = field(default_factory=dict)
    content: Fields = field(default_factory=dict)
    calls: list[FunctionCall] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    voice_activity: VoiceActivity | None = None
    status: str | None = None
    unknown: list[object] = field(default_factory=list)
    works: bool = False


def parse(data: bytes | str) -> ServerMessage:
    """Read one frame. Never raises: what cannot be read is in ``unknown`` of the message returned."""
    value, rest = lenient_json(data)
    if not isinstance(value, dict):
        return ServerMessage(unknown=[data])
    reader = FieldReader()
    if rest:
        reader.left_out.append(rest)
    fields = reader.read(value, "LiveServerMessage")
    message = ServerMessage(fields, fields.get("serverContent", {}), unknown=reader.left_out)
    # toolCall is read before the parts: of a call that is in both the first one counts, and the ledger drops the other.
    _read_calls(fields.pop("toolCall", {}).get("functionCalls"), message, reader)
    for part in message.content.get("modelTurn", {}).get("parts", ()):
        _read_calls(part.get("functionCall"), message, reader)
        message.works = message.works or bool(part.keys() - {"text"})
    message.works = message.works or any(place.startswith("part.") for place in reader.places)
    message.cancelled = [id for id in fields.pop("toolCallCancellation", {}).get("ids", ()) if id]
    # Each piece would be an event of its own.
    if reader.broken > MAX_FAULTS:
        return ServerMessage(calls=message.calls, cancelled=message.cancelled, unknown=[data])
    _read_voice(message)
    # The status may be in the content or at the top (3.8 extended thinking sends both); the top one is read last.
    for status in (message.content.get("interactionStatus"), fields.pop("interactionStatus", None)):
        # UNSPECIFIED is proto3's default, and says nothing.
        if status and not status.endswith("_UNSPECIFIED"):
            message.status = status
            # An unknown status still counts beside turnComplete, where all but IN_PROGRESS end the turn.
            if status not in STATUSES:
                message.unknown.append({"interactionStatus": status})
    return message


def _read_calls(raw: object, message: ServerMessage, reader: FieldReader) -> None:
    for entry in _listed(raw):
        inside = FieldReader()
        # An entry that is not an object has neither id nor name to answer with: it can only be reported.
        if isinstance(entry, dict):
            call = inside.read(entry, "FunctionCall")
            id, name, args = call.get("id") or None, call.get("name", ""), _args(call.get("args"))
            pieces, continues = _listed(call.get("partialArgs")), bool(call.get("willContinue"))
            inside.look_into(pieces, "PartialArg", ())
            message.calls.append(FunctionCall(id, name, args, pieces, continues))
        # The whole entry is reported, once, and not only the field that is unknown.
        if inside.places or not isinstance(entry, dict):
            reader.left_out.append({"functionCall": entry})


def _args(raw: object) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    # Empty in any spelling is no arguments; proto3 JSON leaves an empty object out or writes null.
    return {} if raw is None or raw == "" or raw == [] else {RAW_ARGS: raw}


def _listed(raw: object) -> list[Any]:
    """A lone value is a list of one, and nothing is an empty one."""
    if raw is None:
        return []
    return raw if isinstance(raw, list) else [raw]


def _read_voice(message: ServerMessage) -> None:
    activity: Fields = message.fields.pop("voiceActivity", {})
    signal: Fields = message.fields.pop("voiceActivityDetectionSignal", {})
    # Two messages say the same (voiceActivity, and on Vertex voiceActivityDetectionSignal), and one recording spells
    # the field voiceActivityType.
    said = activity.get("type") or activity.get("voiceActivityType") or signal.get("vadSignalType")
    if said in _ACTIVITIES:
        message.voice_activity = VoiceActivity(_ACTIVITIES[said], activity.get("audioOffset"))
    elif said:
        message.unknown.append({"voiceActivity.type": said})
