"""Parses a frame of the server into a :class:`ServerMessage`.

:func:`parse` never raises. A frame takes the fast path (one pass in Rust, base64 included) unless
something in it is broken; then the salvage path takes the broken pieces out one by one, tells each in
``unknown``, and keeps the rest: a call that is not read is a call that nobody answers, and the session
waits without end (livekit/agents#6569).

The server writes camelCase, the SDKs mix it with snake_case: both are read at every level. What the service
adds, at any depth, is listed in ``unknown``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from pydantic import AliasChoices, BeforeValidator, Field
from pydantic.alias_generators import to_camel

from livetools.events import VoiceActivity

from .salvage import salvage
from .unknown_fields import WireObject, find_unknown

RAW_ARGS = "(not an object)"
"""The key under which arguments go that are not a JSON object: no parameter can have this name."""

STATUSES = frozenset({"IN_PROGRESS", "IDLE", "REQUIRES_ACTION", "WAITING_FOR_INPUT"})
"""The values of ``interactionStatus`` seen up to 2026-10 (google-genai 3.6.1, gemini-skills#81)."""

_ACTIVITIES = {
    "ACTIVITY_START": "start",
    "ACTIVITY_END": "end",
    "VAD_SIGNAL_TYPE_SOS": "start",
    "VAD_SIGNAL_TYPE_EOS": "end",
}


def seconds(value: object) -> float | None:
    """Read a Duration (``"50s"``, ``"12.5s"``, ``"50"``, ``50``); ``None`` for anything else."""
    # bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value.strip().removesuffix("s") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return max(number, 0.0) if math.isfinite(number) else None  # what is past is now


Seconds: TypeAlias = Annotated[float | None, BeforeValidator(seconds)]


class ConsentSignature(WireObject):
    """What a voice whose owner has consented is used with from now on."""

    signature: str | None = None


class SetupComplete(WireObject):
    """The session is open. Only Vertex sends ``session_id``."""

    session_id: str | None = None
    voice_consent_signature: ConsentSignature | None = None


class Blob(WireObject):
    """Bytes with a MIME type; where the type is absent (seen with 3.8), it is audio."""

    data: bytes = b""
    mime_type: str | None = None


class ExecutableCode(WireObject):
    """Code that the model runs at the service."""

    id: str | None = None
    code: str = ""
    language: str = ""


class CodeExecutionResult(WireObject):
    """What that code printed; ``outcome`` is ``OUTCOME_OK``, ``OUTCOME_FAILED`` …"""

    id: str | None = None
    output: str = ""
    outcome: str = ""


class Part(WireObject):
    """One part of the model's turn. ``function_call`` is as it came; read :attr:`ServerMessage.calls`."""

    PLACE = "part"
    TOLD = frozenset({"fileData", "functionResponse"})
    text: str = ""
    thought: bool = False
    thought_signature: Any = None  # handed to nobody
    inline_data: Blob | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    function_call: Any = None  # raw: a broken call must be answered too
    tool_call: dict[str, Any] | None = None  # of a tool that the service runs itself; handed on as it came
    tool_response: dict[str, Any] | None = None  # the same


class ModelTurn(WireObject):
    """What the model says, in parts."""

    parts: list[Part] = Field(default=[])


class WordInfo(WireObject):
    """A word with its time in the audio, in seconds."""

    word: str = ""
    start_offset: Seconds = None
    end_offset: Seconds = None
    speaker_label: str | None = None


class Transcription(WireObject):
    """A fragment of a transcript. ``finished`` is often never true (js-genai#1429)."""

    text: str = ""
    finished: bool = False
    language_code: str | None = None
    speaker_label: str | None = None
    start_offset: Seconds = None
    end_offset: Seconds = None
    words: list[WordInfo] = Field(default=[])


class ServerContent(WireObject):
    """What happens in the model's turn; on 3.x many of these come together (every field is to be handled).

    ``interim_input_transcription`` is a guess that replaces the one before it, not a fragment.
    """

    model_turn: ModelTurn | None = None
    generation_complete: bool = False
    turn_complete: bool = False
    interrupted: bool = False
    turn_complete_reason: str | None = None
    waiting_for_input: bool = False
    interaction_status: str | None = None
    input_transcription: Transcription | None = None
    output_transcription: Transcription | None = None
    interim_input_transcription: Transcription | None = None
    grounding_metadata: dict[str, Any] | None = None  # handed on as it came
    url_context_metadata: dict[str, Any] | None = None  # handed on as it came


class GoAwayNotice(WireObject):
    """The connection will be cut in ``time_left`` seconds (``None``: not said, or not legibly)."""

    time_left: Seconds = None


class ResumptionUpdate(WireObject):
    """A handle, good only while ``resumable``.

    ``last_consumed`` is the index of the last client message in the handle's state (Vertex, transparent).
    """

    new_handle: str | None = None
    resumable: bool = False
    last_consumed: int | None = Field(
        default=None,
        validation_alias=AliasChoices("lastConsumedClientMessageIndex", "last_consumed_client_message_index"),
    )


@dataclass(slots=True)
class FunctionCall:
    """A call as it came; ``id`` is ``None`` and ``name`` is ``""`` where the server gave none.

    ``args`` that are absent, null or empty are ``{}``; what is not an object goes under :data:`RAW_ARGS`,
    so that the call is answered with a refusal instead of not at all.
    """

    id: str | None
    name: str
    args: dict[str, Any]  # any JSON value
    partial_args: Sequence[Any] = ()  # raw: pieces of arguments, where the call comes in pieces
    will_continue: bool = False  # it is not whole yet


@dataclass(slots=True)
class ServerMessage:
    """One frame from the server. Every attribute is always there; a bare ``{}`` leaves all of them empty.

    ``calls`` holds those of ``toolCall`` and then those among the parts of ``modelTurn``: the same call
    may stand in both (mastra-ai/mastra#22969). ``usage`` is ``usageMetadata`` as it came. ``status`` is
    ``interactionStatus``, from any place in the message. ``unknown`` holds what was not understood: ``{path:
    value}``, or the whole frame where it is not a JSON object. ``works``: the model has sent something beside text (a
    thought signature, say), which shows that it works.
    """

    setup_complete: SetupComplete | None = None
    content: ServerContent | None = None
    calls: list[FunctionCall] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    go_away: GoAwayNotice | None = None
    resumption: ResumptionUpdate | None = None
    usage: dict[str, Any] | None = None  # any JSON value
    voice_activity: VoiceActivity | None = None
    status: str | None = None
    unknown: list[object] = field(default_factory=list)
    works: bool = False


class _ToolCall(WireObject):
    function_calls: Any = None  # raw, for the same reason as in a part


class _Cancellation(WireObject):
    ids: Any = None  # raw: one odd id must not hide the others


class _VoiceActivity(WireObject):
    type: str | None = None
    voice_activity_type: str | None = None
    audio_offset: Seconds = None


class _DetectionSignal(WireObject):
    vad_signal_type: str | None = None


class _Frame(WireObject):
    setup_complete: SetupComplete | None = None
    server_content: ServerContent | None = None
    tool_call: _ToolCall | None = None
    tool_call_cancellation: _Cancellation | None = None
    go_away: GoAwayNotice | None = None
    session_resumption_update: ResumptionUpdate | None = None
    usage_metadata: dict[str, Any] | None = None
    voice_activity: _VoiceActivity | None = None
    voice_activity_detection_signal: _DetectionSignal | None = None
    interaction_status: str | None = None


def parse(data: bytes | str) -> ServerMessage:
    """Read one frame. Never raises: what cannot be read is in ``unknown`` of the message returned."""
    try:
        frame = _Frame.model_validate_json(data)
    except ValueError:  # pydantic's ValidationError among them
        rest, broken = salvage(_Frame, data, _vital)
        return ServerMessage(unknown=broken) if rest is None else _message(rest, broken)
    return _message(frame, [])


def _vital(message: Mapping[str, Any]) -> dict[str, Any]:
    """What must be answered, and what must not be any more: the calls and the cancellations of a message."""
    kept = {name: message[name] for name in message if to_camel(name) in ("toolCall", "toolCallCancellation")}
    turn = _either(_either(message, "server_content"), "model_turn")
    # A call is answered even if everything else in its message is lost: an unanswered one blocks the session.
    calls = [call for part in _listed(_either(turn, "parts")) if (call := _either(part, "function_call"))]
    if calls:
        kept["serverContent"] = {"modelTurn": {"parts": [{"functionCall": call} for call in calls]}}
    return kept


def _either(value: object, name: str) -> object:
    """A field of an object, in either casing; ``None`` where it is absent."""
    return value.get(to_camel(name), value.get(name)) if isinstance(value, dict) else None


def _message(frame: _Frame, unknown: list[object]) -> ServerMessage:
    message = ServerMessage(
        setup_complete=frame.setup_complete,
        content=frame.server_content,
        go_away=frame.go_away,
        resumption=frame.session_resumption_update,
        usage=frame.usage_metadata,
        unknown=unknown,
    )
    find_unknown(frame, "LiveServerMessage", "", unknown)
    # toolCall is read before the parts: of a call that is in both the first one counts, and the ledger drops the other.
    if frame.tool_call is not None:
        _read_calls(frame.tool_call.function_calls, message)
    if frame.server_content is not None:
        _read_content(frame.server_content, message)
    if frame.tool_call_cancellation is not None:
        _read_cancellation(frame.tool_call_cancellation.ids, message)
    if frame.voice_activity is not None or frame.voice_activity_detection_signal is not None:
        _read_voice(frame, message)
    # The status may be in the content or at the top (3.8 extended thinking sends both); the top one is read last.
    if frame.interaction_status is not None:
        _read_status(frame.interaction_status, message)
    return message


def _read_content(content: ServerContent, message: ServerMessage) -> None:
    if content.interaction_status is not None:
        _read_status(content.interaction_status, message)
    if content.model_turn is not None:
        for part in content.model_turn.parts:
            if part.function_call is not None:
                _read_calls(part.function_call, message)
            if part.__pydantic_extra__ or part.__pydantic_fields_set__ - {"text"}:
                message.works = True


def _read_calls(raw: object, message: ServerMessage) -> None:
    for entry in _listed(raw):
        # An entry that is not an object has neither id nor name to answer with: it can only be reported.
        if isinstance(entry, dict):
            id, name, args = _text(entry.get("id")), _text(entry.get("name")) or "", _args(entry.get("args"))
            pieces = _listed(_either(entry, "partial_args")) or ()
            message.calls.append(FunctionCall(id, name, args, pieces, bool(_either(entry, "will_continue"))))
        news: list[object] = []
        find_unknown(entry, "FunctionCall", "functionCall", news)
        # The whole entry is reported, once, and not only the field that is unknown.
        if news or not isinstance(entry, dict):
            message.unknown.append({"functionCall": entry})


def _args(raw: object) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    # Empty in any spelling is no arguments; proto3 JSON leaves an empty object out or writes null.
    return {} if raw is None or raw == "" or raw == [] else {RAW_ARGS: raw}


def _read_cancellation(raw: object, message: ServerMessage) -> None:
    for entry in _listed(raw):
        if id := _text(entry):
            message.cancelled.append(id)
        else:
            message.unknown.append({"toolCallCancellation.ids": entry})


def _read_voice(frame: _Frame, message: ServerMessage) -> None:
    activity, signal = frame.voice_activity or _VoiceActivity(), frame.voice_activity_detection_signal
    # Two messages say the same (voiceActivity, and on Vertex voiceActivityDetectionSignal), and one recording spells
    # the field voiceActivityType.
    said = activity.type or activity.voice_activity_type or (signal.vad_signal_type if signal else None)
    if said in _ACTIVITIES:
        message.voice_activity = VoiceActivity(_ACTIVITIES[said], activity.audio_offset)
    elif said:
        message.unknown.append({"voiceActivity.type": said})


def _read_status(status: str, message: ServerMessage) -> None:
    # UNSPECIFIED is proto3's default, and says nothing.
    if status and not status.endswith("_UNSPECIFIED"):
        message.status = status
        # An unknown status still counts beside turnComplete, where all but IN_PROGRESS end the turn.
        if status not in STATUSES:
            message.unknown.append({"interactionStatus": status})


def _listed(raw: object) -> list[Any]:
    """A lone value is a list of one."""
    return raw if isinstance(raw, list) else [] if raw is None else [raw]


def _text(raw: object) -> str | None:
    """An id or a name: a string, or the digits of a number; ``None`` if it is empty or of another kind."""
    if isinstance(raw, str):
        return raw or None
    # An id that is a number is answered with its digits: no answer at all would be worse.
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else None
