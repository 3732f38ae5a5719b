"""Turns a configuration (a ``LiveConnectConfig`` or its dict) into the fields of the setup message.

Only shapes are known here, no model: names are read in both casings and written in camelCase, bytes become
base64, enums their value, int64 strings, and each field of google-genai 3.6.1's ``LiveConnectConfig`` goes to
its place. google-genai itself is not imported: its types are pydantic models, and dump themselves.
"""

from __future__ import annotations

import base64
import enum
import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any, TypeAlias

from livetools.errors import ConfigError

from . import config_values
from .near_names import near_names

Json: TypeAlias = Any  # whatever JSON can say

# Where each field of LiveConnectConfig stands in the setup: "" for the top, otherwise inside that object.
# None: it is not part of the setup, and somebody else's (http_options the endpoint's, tools the plan's).
PLACES: Mapping[str, str | None] = {
    "httpOptions": None,
    "tools": None,
    "generationConfig": "",
    "responseModalities": "generationConfig",
    "temperature": "generationConfig",
    "topP": "generationConfig",
    "topK": "generationConfig",
    "maxOutputTokens": "generationConfig",
    "mediaResolution": "generationConfig",
    "seed": "generationConfig",
    "speechConfig": "generationConfig",
    "thinkingConfig": "generationConfig",
    "enableAffectiveDialog": "generationConfig",
    "translationConfig": "generationConfig",
    "systemInstruction": "",
    "sessionResumption": "",
    "inputAudioTranscription": "",
    "outputAudioTranscription": "",
    "realtimeInputConfig": "",
    "contextWindowCompression": "",
    "proactivity": "",
    "explicitVadSignal": "",
    "historyConfig": "",
    "avatarConfig": "",
    "safetySettings": "",
    "labels": "",
}

_TRANSCRIPTION = """languageCodes customVocabulary wordTimestamp diarization mode sourceText languageAuto languageHints
    adaptationPhrases"""

# The fields of the objects inside, for a dict is checked by nobody else, and an unknown name closes 1007.
# A test compares them with google-genai's types.
NESTED: Mapping[str, frozenset[str]] = {
    key: frozenset(names.split())
    for key, names in {
        "inputAudioTranscription": _TRANSCRIPTION,
        "outputAudioTranscription": _TRANSCRIPTION,
        "generationConfig": """responseModalities temperature topP topK maxOutputTokens mediaResolution seed
            speechConfig thinkingConfig enableAffectiveDialog translationConfig candidateCount presencePenalty
            frequencyPenalty audioTranscriptionConfig enableEnhancedCivicAnswers modelSelectionConfig responseFormat
            audioTimestamp logprobs responseJsonSchema responseLogprobs responseMimeType responseSchema routingConfig
            stopSequences""",
        "thinkingConfig": "includeThoughts thinkingBudget thinkingLevel",
        "speechConfig": "voiceConfig languageCode multiSpeakerVoiceConfig",
        "voiceConfig": "prebuiltVoiceConfig replicatedVoiceConfig voice",
        "prebuiltVoiceConfig": "voiceName",
        "replicatedVoiceConfig": "mimeType voiceSampleAudio consentAudio voiceConsentSignature",
        "voiceConsentSignature": "signature",
        "translationConfig": "echoTargetLanguage targetLanguageCode",
        "languageHints": "languageCodes",
        "sessionResumption": "handle transparent",
        "contextWindowCompression": "triggerTokens slidingWindow",
        "slidingWindow": "targetTokens",
        "proactivity": "proactiveAudio proactiveVideo",
        "historyConfig": "initialHistoryInClientContent",
        "avatarConfig": "avatarName customizedAvatar audioBitrateBps videoBitrateBps",
        "customizedAvatar": "imageMimeType imageData",
        "realtimeInputConfig": """automaticActivityDetection activityHandling turnCoverage
            interimTranscriptTimestampEnabled""",
        "automaticActivityDetection": """disabled startOfSpeechSensitivity endOfSpeechSensitivity prefixPaddingMs
            silenceDurationMs""",
        "safetySettings": "category threshold method",
        "httpOptions": "baseUrl apiVersion headers",
        # contents
        "systemInstruction": "role parts",
        "parts": """text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode
            codeExecutionResult videoMetadata mediaResolution mediaProcessing partMetadata audioMetadata
            audioTranscription documentMetadata speechMetadata spreadsheetMetadata toolCall toolResponse""",
        "inlineData": "mimeType data displayName",
        "fileData": "mimeType fileUri displayName",
        "functionCall": "id name args partialArgs willContinue",
        "functionResponse": "id name response scheduling willContinue parts",
        "executableCode": "id language code",
        "codeExecutionResult": "id outcome output",
        # what the service runs itself
        "tools": """functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext googleMaps
            enterpriseWebSearch retrieval computerUse fileSearch exaAiSearch parallelAiSearch mcpServers""",
        "googleSearch": "searchTypes timeRangeFilter excludeDomains blockingConfidence",
        "googleSearchRetrieval": "dynamicRetrievalConfig",
        "codeExecution": "",
        "urlContext": "",
        "googleMaps": "authConfig enableWidget groundingTypes",
        "enterpriseWebSearch": "excludeDomains blockingConfidence",
    }.items()
}

# Documented as not supported in Live (ai.google.dev/api/live, 2026-09).
NOT_LIVE = frozenset(
    {
        "responseLogprobs",
        "responseMimeType",
        "logprobs",
        "responseSchema",
        "responseJsonSchema",
        "stopSequences",
        "routingConfig",
        "audioTimestamp",
    }
)

_FREE = frozenset(  # what lies under these is the user's own, names included
    {
        "labels",
        "args",
        "response",
        "parametersJsonSchema",
        "responseJsonSchema",
        "headers",
        "default",
        "example",
        "partMetadata",
    }
)
_NAMED = frozenset({"properties", "defs"})  # names of the user's own over schemas


def camel(name: str) -> str:
    """``response_modalities`` → ``responseModalities``; camelCase stays as it is."""
    return re.sub(r"(?<=[a-zA-Z0-9])_([a-z0-9])", lambda m: m[1].upper(), name)


def snake(name: str) -> str:
    """``responseModalities`` → ``response_modalities``: how messages name a field."""
    return re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)


def plain(value: object, key: str = "") -> Json:
    """``value`` as the wire writes it; ``key`` is the camelCase name that it stands under.

    Pydantic models dump themselves; bytes become base64 (standard alphabet), enums their value, int64
    strings. ``None`` in an object is left out. Raises :class:`ConfigError` for what JSON cannot say.
    """
    value = _dumped(value)
    if isinstance(value, Mapping):
        if key in _FREE:
            return {str(k): plain(v, key) for k, v in value.items()}
        if key in _NAMED:
            return {str(k): plain(v) for k, v in value.items()}
        pairs = ((camel(str(k)), v) for k, v in value.items() if v is not None)
        return {k: plain(v, k) for k, v in pairs}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v, key) for v in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value) if key in config_values.INT64 else value
    if isinstance(value, float):
        return int(value) if key == "topK" and value.is_integer() else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (date, time)):
        return value.isoformat()
    raise ConfigError(
        f"{snake(key) or 'the configuration'} holds a {type(value).__name__}, which JSON cannot say"
    )


def _dumped(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) and not isinstance(value, type) else value


def wire_model(model: str, *, vertexai: bool, project: str | None = None, location: str | None = None) -> str:
    """``model`` as the setup names it: ``models/…``, on Vertex AI ``projects/…/publishers/google/models/…``.

    Without a project and a location (a key for Vertex's express mode) the path begins with ``publishers``.
    """
    if not model.strip("/ "):
        raise ConfigError("model is empty: pass a name such as 'gemini-3.8-live'")
    if any(c.isspace() or c in "?&#" for c in model) or ".." in model:
        raise ConfigError(f"{model!r} is not a model's name")
    if not vertexai:
        return model if "/" in model else f"models/{model}"
    if model.startswith("projects/"):
        return model
    path = model.removeprefix("models/")
    if not path.startswith("publishers/"):
        path = f"publishers/google/models/{path}" if "/" not in path else path
    return f"projects/{project}/locations/{location}/{path}" if project and location else path


def read(config: object) -> dict[str, object]:
    """The fields that ``config`` sets, by their camelCase names; the values as they were given.

    ``config`` is a ``LiveConnectConfig``, its dict in either casing, or ``None``. A field set to ``None`` by
    hand is there, as ``None``: it says no to a default. Raises :class:`ConfigError` for an unknown or a
    doubled name.
    """
    if config is None:
        return {}
    fields: Iterable[tuple[str, object]]
    if isinstance(config, Mapping):
        fields = config.items()
    elif hasattr(config, "model_fields_set"):
        fields = [(name, getattr(config, name)) for name in sorted(config.model_fields_set)]
    else:
        raise ConfigError(
            f"config is a {type(config).__name__}: pass a google.genai.types.LiveConnectConfig or a dict"
        )
    found: dict[str, object] = {}
    for name, value in fields:
        key = camel(name)
        if key not in PLACES:
            raise ConfigError(_unknown(name, key))
        if key in found:
            raise ConfigError(f"config names {snake(key)} twice, in both casings")
        found[key] = value
    return found


def _unknown(name: str, key: str) -> str:
    if key in {"toolConfig", "toolChoice", "functionCallingConfig"}:
        return (
            f"config.{name}: a Live session cannot force or forbid calls (python-genai#468). "
            "Use allowed=[...]: a call to another tool is answered with an error."
        )
    near = near_names(key, PLACES, count=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(snake(n) for n in near)}?" if near else ""
    if not near:
        hint = "; a field of generation_config belongs inside config.generation_config"
    return f"config has no field {name!r}{hint}"


def with_speech(
    fields: Mapping[str, object], voice: object = None, language: object = None
) -> Mapping[str, object]:
    """The fields with a prebuilt voice and a language (BCP-47) in their ``speech_config``.

    Raises :class:`ConfigError` when either is given twice, or is not a name.
    """
    if voice is None and language is None:
        return fields
    generation = plain(fields.get("generationConfig") or {}, "generationConfig")
    given = plain(fields.get("speechConfig") or {}, "speechConfig")
    speech = {**generation.get("speechConfig", {}), **given}
    prebuilt = {"prebuiltVoiceConfig": {"voiceName": voice}}
    for name, value, key, said in (
        ("voice", voice, "voiceConfig", prebuilt),
        ("language", language, "languageCode", language),
    ):
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip():
            example = "Kore" if name == "voice" else "en-US"
            raise ConfigError(f"{name}={value!r:.60}: pass a name, such as {example!r}")
        if key in speech:
            raise ConfigError(f"{name} and config.speech_config.{snake(key)} are both given: say it once")
        speech[key] = said
    if "speechConfig" in generation and not given:
        return {**fields, "generationConfig": {**generation, "speechConfig": speech}}
    return {**fields, "speechConfig": speech}


def setup(fields: Mapping[str, object], instructions: object = None) -> dict[str, Json]:
    """The setup object of the fields that :func:`read` gave, each at its place, without model and tools.

    Raises :class:`ConfigError` for a field given twice (at the top and in ``generation_config``), for an
    unknown name inside, and for what Live does not take (``response_schema`` …).
    """
    out: dict[str, Json] = {}
    generation = plain(fields.get("generationConfig") or {}, "generationConfig")
    for key, value in fields.items():
        place = PLACES[key]
        if place is None or value is None or value is False or key == "generationConfig":
            continue  # False is every flag's default
        target = generation if place else out
        if key in target:
            raise ConfigError(f"{snake(key)} stands in config and in config.generation_config: say it once")
        target[key] = _field(key, value)
    if unsupported := sorted(NOT_LIVE & generation.keys()):
        names = ", ".join(snake(n) for n in unsupported)
        raise ConfigError(f"config.generation_config: the Live API does not support {names}; leave it out")
    if generation:
        out["generationConfig"] = generation
    if instructions:
        if "systemInstruction" in out:
            raise ConfigError("instructions and config.system_instruction are both given: say it once")
        out["systemInstruction"] = content(instructions, "instructions")
    check_names(out, "config")
    out = config_values.checked(out, snake)
    _check_values(out)
    return out


def _field(key: str, value: object) -> Json:
    if key == "systemInstruction":
        return content(value, "config.system_instruction")
    if key in {"inputAudioTranscription", "outputAudioTranscription"} and value is True:
        return {}
    if key == "responseModalities":
        many = value if isinstance(value, (list, tuple)) else [value]
        plainly = [plain(m) for m in many]
        return [m.upper() if isinstance(m, str) else m for m in plainly]
    return plain(value, key)


def check_names(value: Json, path: str, key: str = "") -> None:
    """Raise :class:`ConfigError` for a name in ``value``, which stands under ``key``, that the service does not know.

    ``path`` is where it stands, for the message.
    """
    if isinstance(value, list):
        for item in value:
            check_names(item, path, key)
    if not isinstance(value, dict) or key in _FREE:
        return
    known = NESTED.get(key)
    for name, inner in value.items():
        if known is not None and name not in known:
            near = near_names(name, known, cutoff=0.5)
            hint = (
                f"did you mean {snake(near[0])}?"
                if near
                else f"known: {', '.join(map(snake, sorted(known))) or 'none'}"
            )
            raise ConfigError(f"{path} has no field {snake(name)!r}; {hint}")
        check_names(inner, f"{path}.{snake(name)}", name)


def _check_values(setup: Mapping[str, Json]) -> None:
    compression = setup.get("contextWindowCompression", {})
    if "triggerTokens" in compression and "slidingWindow" not in compression:
        raise ConfigError(
            "context_window_compression.trigger_tokens does nothing without sliding_window: "
            "add 'sliding_window': {}"
        )
    if "multiSpeakerVoiceConfig" in setup.get("generationConfig", {}).get("speechConfig", {}):
        raise ConfigError("speech_config.multi_speaker_voice_config: a Live session has one voice")


def http_options(fields: Mapping[str, object]) -> dict[str, Json]:
    """``config.http_options``: ``baseUrl``, ``apiVersion``, ``headers``; as google-genai, no more in Live."""
    value = fields.get("httpOptions")
    given = _dumped(value) if value is not None else {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"config.http_options is an object, not {type(value).__name__}")
    given = {camel(str(k)): v for k, v in given.items() if v is not None}
    if more := sorted(given.keys() - NESTED["httpOptions"]):
        names = ", ".join(snake(n) for n in more)
        raise ConfigError(
            f"config.http_options: a Live session takes base_url, api_version and headers, not {names}. "
            "Proxies, certificates and timeouts belong to transport=WebSocket(...)"
        )
    return {k: plain(v, k) for k, v in given.items()}


def wants_v1alpha(fields: Mapping[str, object]) -> bool:
    """Whether the configuration asks for what the Gemini API takes in v1alpha only (2026-10-22, four models).

    Anywhere else: ``Unknown name "proactivity" at 'setup'``.
    """
    generation = plain(fields.get("generationConfig") or {}, "generationConfig")
    affective = fields.get("enableAffectiveDialog") or generation.get("enableAffectiveDialog")
    return bool(affective) or fields.get("proactivity") is not None


def content(value: object, where: str) -> Json:
    """Text, a part, a list of these, or a content → ``{"parts": [...]}``, with a role where one was given."""
    if isinstance(value, str):
        return {"parts": [{"text": value}]}
    if isinstance(value, (list, tuple)):
        return {"parts": [_part(item, where) for item in value]}
    given = plain(value)
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: expected text, a part or a content, not {type(value).__name__}")
    if "parts" not in given:
        return {"parts": [_part(given, where)]}
    parts = given["parts"]
    return {**given, "parts": [_part(p, where) for p in (parts if isinstance(parts, list) else [parts])]}


def _part(value: object, where: str) -> Json:
    if isinstance(value, str):
        return {"text": value}
    given = plain(value)
    if isinstance(given, dict) and "uri" in given and "name" in given:  # google.genai.types.File
        return {"fileData": {"fileUri": given["uri"], **_only(given, "mimeType")}}
    if not isinstance(given, dict) or not given:
        raise ConfigError(f"{where}: a part is text or an object such as {{'text': ...}}, not {value!r:.60}")
    for name in given.keys() & _PART:
        kind, called = _PART[name]
        if not isinstance(given[name], kind):
            raise ConfigError(f"{where}: {name} is a {type(given[name]).__name__}: {called} is expected")
    check_names(given, where, "parts")
    data = given.get("inlineData", {}).get("data", "")
    if not (isinstance(data, str) and is_base64(data)):
        raise ConfigError(
            f"{where}: inlineData.data is not base64: give the bytes themselves, or base64.b64encode(...)"
        )
    return given


def is_base64(text: str) -> bool:
    """Whether the service decodes this: either alphabet, padded or not. Line breaks and the rest close with 1007."""
    digits = text.rstrip("=")
    return len(digits) % 4 != 1 and len(text) - len(digits) <= 2 and not _NOT_BASE64.search(digits)


_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/_-]")


_MEMBERS = (
    "inlineData fileData functionCall functionResponse executableCode codeExecutionResult videoMetadata"
)
#: The fields of a part: what each holds, and what that is called.
_PART: Mapping[str, tuple[type, str]] = {
    "text": (str, "a string"),
    "thought": (bool, "True or False"),
    **dict.fromkeys(_MEMBERS.split(), (dict, "an object")),
}


def _only(given: Mapping[str, Json], *names: str) -> dict[str, Json]:
    return {n: given[n] for n in names if n in given}


def history(contents: object) -> tuple[dict[str, Json], ...]:
    """A conversation as ``contents``: each with ``role`` (``user`` or ``model``) and ``parts``, in camelCase.

    Takes dicts and google-genai's ``Content``. Raises :class:`ConfigError` that names the entry.
    """
    if contents is None:
        return ()
    if isinstance(contents, (str, bytes, Mapping)) or not isinstance(contents, Iterable):
        raise ConfigError("history is a list of contents: [{'role': 'user', 'parts': [{'text': ...}]}, ...]")
    return tuple(_turn(entry, f"history[{n}]") for n, entry in enumerate(contents))


def _turn(entry: object, where: str) -> dict[str, Json]:
    given = plain(entry)
    if not isinstance(given, dict) or "parts" not in given:
        raise ConfigError(f"{where}: expected {{'role': ..., 'parts': [...]}}, not {entry!r:.60}")
    if given.get("role") not in ("user", "model"):
        raise ConfigError(f"{where}: role is 'user' or 'model', not {given.get('role')!r}")
    if not given["parts"]:
        raise ConfigError(f"{where} has no parts; leave it out")
    turn: dict[str, Json] = content(given, where)
    return turn
