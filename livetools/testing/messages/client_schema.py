"""Checks the shape of client messages (names, types, enums), and words refusals as the service does.

The table is the protocol buffer of ``BidiGenerateContentClientMessage`` as google-genai and the public
documentation describe it (2026-10). A frame is read against it as proto3 JSON is: both casings at
any depth, a null is absent, an unknown field, a wrong type or a wrong enum is a refusal that names the path
in snake_case. What the client writes most is written down here, apart from livetools' own frame models, so that a field
that one side misspells does not pass; the rest, and what only one of the two APIs takes, is google-genai's own
(:mod:`livetools.setup.sdk.generated_tables`).
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from livetools.setup.sdk.generated_tables import tables
from livetools.testing.wire import Message, ServiceRefusal, camel, cut, snake

# `name:type`; `[type]` repeats, `{type}` is a map, `?` marks what only Vertex AI knows.
# A lower-case type is a scalar, `struct` and `any` are taken as they are, a capital is a message or an enum.
# Fields and types that are not here are google-genai's.
_MESSAGES = {
    "ClientMessage": """
        setup:Setup clientContent:ClientContent realtimeInput:RealtimeInput toolResponse:ToolResponse
        contextUpdate:ContextUpdate""",
    "GenerateContentRequest": """
        contents:[Content] tools:[Tool] toolConfig:ToolConfig systemInstruction:Content generationConfig:any
        safetySettings:[SafetySetting] cachedContent:string model:string labels:{string}""",
    "ToolConfig": """
        functionCallingConfig:FunctionCallingConfig retrievalConfig:any includeServerSideToolInvocations:any""",
    "FunctionCallingConfig": "mode:string allowedFunctionNames:[string] streamFunctionCallArguments:any",
    "Setup": """
        model:string generationConfig:GenerationConfig systemInstruction:Content tools:[Tool]
        realtimeInputConfig:RealtimeInputConfig sessionResumption:SessionResumptionConfig
        contextWindowCompression:ContextWindowCompressionConfig
        inputAudioTranscription:AudioTranscriptionConfig
        outputAudioTranscription:AudioTranscriptionConfig proactivity:ProactivityConfig
        explicitVadSignal:bool historyConfig:HistoryConfig avatarConfig:AvatarConfig
        safetySettings:[SafetySetting] labels:{string}""",
    "GenerationConfig": """
        responseModalities:[Modality] temperature:float topP:float topK:float maxOutputTokens:int32
        candidateCount:int32 presencePenalty:float frequencyPenalty:float seed:int32
        mediaResolution:MediaResolution speechConfig:SpeechConfig thinkingConfig:ThinkingConfig
        enableAffectiveDialog:bool translationConfig:TranslationConfig responseLogprobs:any
        responseMimeType:any logprobs:any responseSchema:any responseJsonSchema:any stopSequences:any
        routingConfig:any audioTimestamp:any""",
    "SpeechConfig": "voiceConfig:VoiceConfig languageCode:string multiSpeakerVoiceConfig:MultiSpeakerVoiceConfig",
    "VoiceConfig": """
        prebuiltVoiceConfig:PrebuiltVoiceConfig replicatedVoiceConfig:ReplicatedVoiceConfig voice:string""",
    "PrebuiltVoiceConfig": "voiceName:string",
    "ReplicatedVoiceConfig": """
        mimeType:string voiceSampleAudio:bytes consentAudio:bytes voiceConsentSignature:VoiceConsentSignature""",
    "ThinkingConfig": "includeThoughts:bool thinkingBudget:int32 thinkingLevel:ThinkingLevel",
    "TranslationConfig": "targetLanguageCode:string echoTargetLanguage:bool",
    "RealtimeInputConfig": """
        automaticActivityDetection:AutomaticActivityDetection activityHandling:ActivityHandling
        turnCoverage:TurnCoverage interimTranscriptTimestampEnabled:bool""",
    "AutomaticActivityDetection": """
        disabled:bool startOfSpeechSensitivity:StartSensitivity endOfSpeechSensitivity:EndSensitivity
        prefixPaddingMs:int32 silenceDurationMs:int32""",
    "SessionResumptionConfig": "handle:string transparent:bool",
    "ContextWindowCompressionConfig": "triggerTokens:int64 slidingWindow:SlidingWindow",
    "SlidingWindow": "targetTokens:int64",
    "AudioTranscriptionConfig": """
        languageCodes:[string] customVocabulary:[string] wordTimestamp:bool diarization:bool
        mode:TranscriptionMode sourceText:string adaptationPhrases:[string]""",
    "ProactivityConfig": "proactiveAudio:bool proactiveVideo:bool",
    "HistoryConfig": "initialHistoryInClientContent:bool",
    "AvatarConfig": """
        avatarName:string customizedAvatar:CustomizedAvatar audioBitrateBps:int32 videoBitrateBps:int32""",
    "CustomizedAvatar": "imageMimeType:string imageData:bytes",
    "Tool": "functionDeclarations:[FunctionDeclaration]",
    "FunctionDeclaration": """
        name:string description:string parameters:Schema parametersJsonSchema:any response:Schema
        responseJsonSchema:any behavior:Behavior""",
    "Schema": """
        type:Type format:string title:string description:string nullable:bool enum:[string] items:Schema
        minItems:int64 maxItems:int64 properties:{Schema} required:[string] propertyOrdering:[string]
        minProperties:int64 maxProperties:int64 minimum:float maximum:float minLength:int64
        maxLength:int64 pattern:string example:any anyOf:[Schema] default:any
        additionalProperties?:any defs?:any ref?:string""",
    "ClientContent": "turns:[Content] turnComplete:bool",
    "Content": "role:string parts:[Part]",
    "Part": """
        text:string inlineData:Blob fileData:FileData functionCall:FunctionCall
        functionResponse:FunctionResponse thought:bool thoughtSignature:bytes""",
    "Blob": "mimeType:string data:bytes displayName:string",
    "FileData": "mimeType:string fileUri:string displayName:string",
    "FunctionCall": "id:string name:string args:struct",
    "RealtimeInput": """
        audio:Blob video:Blob text:string audioStreamEnd:bool activityStart:Empty activityEnd:Empty
        mediaChunks:[Blob]""",
    "Empty": "",
    "ToolResponse": "functionResponses:[FunctionResponse]",
    "FunctionResponse": """
        id:string name:string response:struct scheduling:Scheduling willContinue:bool
        parts:[FunctionResponsePart]""",
    "FunctionResponsePart": "inlineData:Blob fileData:FileData",
    "ContextUpdate": "systemInstruction:Content tools:ToolsUpdate",
    "ToolsUpdate": "tools:[Tool]",
}
_ENUMS = {
    "Modality": "MODALITY_UNSPECIFIED TEXT IMAGE AUDIO VIDEO",
    "MediaResolution": """MEDIA_RESOLUTION_UNSPECIFIED MEDIA_RESOLUTION_LOW MEDIA_RESOLUTION_MEDIUM
        MEDIA_RESOLUTION_HIGH MEDIA_RESOLUTION_ULTRA_HIGH""",
    "ThinkingLevel": "THINKING_LEVEL_UNSPECIFIED MINIMAL LOW MEDIUM HIGH XHIGH",
    "ActivityHandling": "ACTIVITY_HANDLING_UNSPECIFIED START_OF_ACTIVITY_INTERRUPTS NO_INTERRUPTION",
    "TurnCoverage": """TURN_COVERAGE_UNSPECIFIED TURN_INCLUDES_ONLY_ACTIVITY TURN_INCLUDES_ALL_INPUT
        TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO""",
    "StartSensitivity": "START_SENSITIVITY_UNSPECIFIED START_SENSITIVITY_HIGH START_SENSITIVITY_LOW",
    "EndSensitivity": "END_SENSITIVITY_UNSPECIFIED END_SENSITIVITY_HIGH END_SENSITIVITY_LOW",
    "TranscriptionMode": "MODE_UNSPECIFIED VERBATIM SMART",
    "Behavior": "UNSPECIFIED BLOCKING NON_BLOCKING",
    "Scheduling": "SCHEDULING_UNSPECIFIED SILENT WHEN_IDLE INTERRUPT",
    "Type": "TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL",
}
_WRONG = object()  # replaces a value of the wrong type while a frame is read
ENUMS = {name: frozenset(values) for name, values in tables().enums.items()}
ENUMS |= {name: frozenset(values.split()) for name, values in _ENUMS.items()}


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its camelCase name, its type, how it repeats, and whether only Vertex AI has it."""

    name: str
    type: str
    repeated: bool = False
    mapped: bool = False
    vertex: bool = False


def _field(text: str) -> Field:
    name, type_ = text.split(":")
    return Field(
        name.removesuffix("?"),
        type_.strip("[]{}"),
        repeated=type_.startswith("["),
        mapped=type_.startswith("{"),
        vertex=name.endswith("?"),
    )


MESSAGES: dict[str, dict[str, Field]] = {
    name: {each.name: each for each in map(_field, fields.split())} for name, fields in _MESSAGES.items()
}


def _add_types() -> None:
    """Add what google-genai knows beside the table: types, and fields of types."""
    scalars = {"boolean": "bool", "integer": "int64", "number": "float", "object": "struct"}
    for type_, fields in tables().types.items():
        known = MESSAGES.setdefault(type_, {})
        for name, kind in fields.items():
            inner = kind.strip("[]{}")
            known.setdefault(name, _field(f"{name}:{kind.replace(inner, scalars.get(inner, inner))}"))


_add_types()
#: The paths that one API does not take, in ``snake_case``; and what it calls a field otherwise.
_REFUSED = {
    vertex: frozenset(map(snake, tables().refused[api]))
    for vertex, api in ((False, "gemini"), (True, "vertex"))
}
#: Vertex AI's spelling, and the field that it replaces.
_SPELLED = {
    snake(f"{path.rpartition('.')[0]}.{name}"): path.rpartition(".")[2]
    for path, name in tables().renamed["vertex"].items()
}
_REFUSED[True] |= {f"{path.rpartition('.')[0]}.{snake(name)}" for path, name in _SPELLED.items()}


@dataclass(slots=True)
class _Reading:
    """One frame being read: which API, and what was wrong with it (the service tells only the first)."""

    vertex: bool
    faults: list[ServiceRefusal] = field(default_factory=list)

    def unknown(self, name: str, path: str, ending: str, why: str) -> None:
        place = f" at '{path}'" if path else ""
        self.faults.append(
            ServiceRefusal(
                1007, f'Invalid JSON payload received. Unknown name "{name}"{place}: {ending}', why
            )
        )

    def invalid(self, path: str, type_: str, value: object, why: str) -> None:
        shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
        self.faults.append(
            ServiceRefusal(1007, f"Invalid value at '{path}' ({type_}), {cut(shown, 60)}", why)
        )

    def full_name(self, type_: str) -> str:
        package = "google.cloud.aiplatform.v1beta1" if self.vertex else "google.ai.generativelanguage.v1beta"
        return f"type.googleapis.com/{package}.{type_}"


def read(
    message: Mapping[str, Any], *, vertex: bool = False, root: str = "ClientMessage"
) -> tuple[Message, list[ServiceRefusal]]:
    """The message in camelCase throughout, and everything the service would close for, first things first.

    ``root`` is the message's type. For a server that forgives: fields that nobody knows stay as they came,
    values of the wrong type are left out.
    """
    reading = _Reading(vertex)
    return _message(reading, message, root, ""), reading.faults


def _message(reading: _Reading, value: Mapping[str, Any], type_: str, path: str) -> Message:
    fields, result = MESSAGES[type_], {}
    for key, item in value.items():
        if item is None:
            continue
        known, elsewhere = _known(reading, fields, key, path)
        if known is None or elsewhere:
            other = "Gemini API" if reading.vertex else "Vertex AI"
            also = f" ({other} only)" if elsewhere else ""
            reading.unknown(key, path, "Cannot find field.", f"{type_} has no field {key!r}{also}")
            result[key if known is None else known.name] = item
            continue
        value_ = _value(reading, known, item, path, key)
        if value_ is not _WRONG:
            result[known.name] = value_
    return result


def _known(reading: _Reading, fields: Mapping[str, Field], key: str, path: str) -> tuple[Field | None, bool]:
    """The field of this name, and whether only the other API has it."""
    known = fields.get(camel(key))
    if not path.startswith(_TWO_APIS):
        return known, known is not None and known.vertex and not reading.vertex
    here = f"{_INDEX.sub('', path)}.{snake(camel(key))}"
    if reading.vertex and here in _SPELLED:
        return fields[_SPELLED[here]], False
    return known, here in _REFUSED[reading.vertex] or (
        known is not None and known.vertex and not reading.vertex
    )


_TWO_APIS = ("setup", "client_content", "context_update")  # what the APIs take differently
_INDEX = re.compile(r"\[\d+\](\.value)?")


def _value(reading: _Reading, known: Field, item: object, path: str, key: str) -> object:
    here = f"{path}.{snake(known.name)}" if path else snake(known.name)
    if known.repeated:
        if known.name == "parts" and isinstance(item, dict):
            item = [item]  # a single object where `parts` is expected is tolerated
        if not isinstance(item, list):
            reading.invalid(here, reading.full_name(known.type), item, f"{here} is a list")
            return _WRONG
        read_ = [_single(reading, known, each, f"{here}[{n}]", path) for n, each in enumerate(item)]
        return [each for each in read_ if each is not _WRONG]
    if isinstance(item, list) and known.type != "any":
        ending = "Proto field is not repeating, cannot start list."
        reading.unknown(key, path, ending, f"{here} is one value, not a list")
        return _WRONG
    if known.mapped:
        return _mapping(reading, known, item, here)
    return _single(reading, known, item, here, path)


def _mapping(reading: _Reading, known: Field, item: object, here: str) -> object:
    if not isinstance(item, dict):
        reading.invalid(here, "Map", item, f"{here} is an object of {known.type}")
        return _WRONG
    # the service numbers the entries of a map: …parameters.properties[1].value
    read_ = {
        name: _single(reading, known, each, f"{here}[{n}].value", here)
        for n, (name, each) in enumerate(item.items())
    }
    return {name: each for name, each in read_.items() if each is not _WRONG}


def _single(reading: _Reading, known: Field, item: object, here: str, parent: str) -> object:
    if known.type == "any":
        return item
    if known.type == "struct":
        if not isinstance(item, dict):
            struct = "type.googleapis.com/google.protobuf.Struct"
            reading.invalid(here, struct, item, f"{here} is a JSON object, not a {type(item).__name__}")
            return _WRONG
        return item
    if known.type in MESSAGES:
        if not isinstance(item, dict):
            reading.invalid(
                here, reading.full_name(known.type), item, f"{here} is an object of type {known.type}"
            )
            return _WRONG
        return _message(reading, item, known.type, here)
    if known.type in ENUMS:
        return _enum(reading, known, item, here)
    if isinstance(item, dict | list):
        reading.invalid(parent, snake(known.name), item, f"{here} is a {known.type}, not an object")
        return _WRONG
    if not _SCALARS[known.type](item):
        reading.invalid(here, f"TYPE_{known.type.upper()}", item, f"{here} is a {known.type}")
        return _WRONG
    return item


def _enum(reading: _Reading, known: Field, item: object, here: str) -> object:
    values = ENUMS[known.type]
    if isinstance(item, str) and (item in values or (known.type == "Type" and item.upper() in values)):
        return item
    reading.invalid(
        here, reading.full_name(known.type), item, f"{here} is one of {', '.join(sorted(values))}"
    )
    return _WRONG


def _is_whole(value: object, bits: int) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"-?[0-9]{1,19}", value) is not None and _is_whole(int(value), bits)
    if isinstance(value, bool) or not (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    ):
        return False
    return -(1 << bits - 1) <= value < 1 << bits - 1


def is_int32(value: object) -> bool:
    """A whole number of 32 bits, or its digits in a string, as proto3 JSON has it."""
    return _is_whole(value, 32)


def _is_int64(value: object) -> bool:
    return _is_whole(value, 64)


def _is_float(value: object) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_base64(value: object) -> bool:
    """The standard alphabet or the URL-safe one (google-genai for Python sends the latter)."""
    if not isinstance(value, str):
        return False
    try:
        decode_base64(value)
    except (binascii.Error, ValueError):
        return False
    return True


@functools.lru_cache(maxsize=4)
def decode_base64(text: str) -> bytes:
    """The bytes of either base64 alphabet, padded or not; ``ValueError`` for anything else.

    A frame is decoded when it is checked and again when it is handled: the last results are cached.
    """
    if "-" in text or "_" in text:
        text = text.replace("-", "+").replace("_", "/")
    if len(text) % 4:
        text = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
    return base64.b64decode(text, validate=True)


_SCALARS = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int32": is_int32,
    "int64": _is_int64,
    "float": _is_float,
    "bytes": _is_base64,
}
