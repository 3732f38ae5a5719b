"""Checks the type of each configuration value, as google-genai's ``LiveConnectConfig`` does.

The SDK's types are not imported (they take a second); a test compares this table with them. Values are read as
they read them: ``"0.5"`` is a number, ``"yes"`` a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from livetools.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_OBJECT = "an object"
_FIELDS: Mapping[str, str] = {
    "a number": "temperature topP topK presencePenalty frequencyPenalty",
    "a whole number": """maxOutputTokens seed candidateCount thinkingBudget prefixPaddingMs silenceDurationMs
        triggerTokens targetTokens audioBitrateBps videoBitrateBps""",
    "True or False": """enableAffectiveDialog explicitVadSignal disabled includeThoughts transparent proactiveAudio
        proactiveVideo echoTargetLanguage initialHistoryInClientContent interimTranscriptTimestampEnabled
        diarization wordTimestamp enableEnhancedCivicAnswers""",
    "a string": """mediaResolution thinkingLevel activityHandling turnCoverage startOfSpeechSensitivity
        endOfSpeechSensitivity voiceName voice languageCode targetLanguageCode handle avatarName imageMimeType
        sourceText""",
    "a list of strings": "responseModalities languageCodes adaptationPhrases customVocabulary",
    _OBJECT: """generationConfig speechConfig thinkingConfig translationConfig sessionResumption
        inputAudioTranscription outputAudioTranscription realtimeInputConfig automaticActivityDetection
        contextWindowCompression slidingWindow proactivity historyConfig avatarConfig customizedAvatar voiceConfig
        prebuiltVoiceConfig replicatedVoiceConfig multiSpeakerVoiceConfig voiceConsentSignature languageAuto
        languageHints labels""",
}
#: By the camelCase name of a field: what it holds.
KINDS: Mapping[str, str] = {name: kind for kind, names in _FIELDS.items() for name in names.split()}
#: 64-bit integers are strings in JSON's mapping of protocol buffers.
INT64 = frozenset({"triggerTokens", "targetTokens"})
_OF_VOICE = frozenset(
    {"speechConfig", "voiceConfig", "prebuiltVoiceConfig"}
)  # people put a voice's name there
_APART = frozenset({"systemInstruction", "labels", "tools"})  # have rules, or names, of their own


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    """What reads values of this kind. pydantic is imported here: ``import livetools`` does not pay for it."""
    from pydantic import Field, TypeAdapter

    types: Mapping[str, Any] = {
        "a number": int | Annotated[float, Field(allow_inf_nan=False)],
        "a whole number": int,
        "True or False": bool,
        "a string": str,
        "a list of strings": list[str],
        _OBJECT: dict[str, Any],
    }
    return TypeAdapter(types[kind])


def checked(value: Any, snake: Callable[[str], str], key: str = "", path: str = "config") -> Any:  # any JSON
    """``value``, which stands under ``key``, with each field of the kind it should be.

    ``snake`` names a field as the user wrote it. Raises :class:`ConfigError` for what cannot be read as that.
    """
    kind = KINDS.get(key)
    if kind is not None:
        try:
            value = _adapter(kind).validate_python(value)
        except ValueError:  # pydantic's ValidationError is one
            shown = f", {value!r:.40}" if isinstance(value, int | float) or kind != "a string" else ""
            hint = (
                f"; for a voice alone: connect(voice={value!r:.40})"
                if key in _OF_VOICE and isinstance(value, str)
                else ""
            )
            raise ConfigError(
                f"{path} is a {type(value).__name__}{shown}: {kind} is expected{hint}"
            ) from None
    if key in INT64:
        return str(value)
    if key == "labels" and (odd := [name for name, label in value.items() if not isinstance(label, str)]):
        raise ConfigError(f"{path}[{odd[0]!r}] is a {type(value[odd[0]]).__name__}: a string is expected")
    if not isinstance(value, dict) or key in _APART:
        return value
    inside = (
        "config" if key == "generationConfig" else path
    )  # most of its fields stand in the config itself as well
    return {name: checked(inner, snake, name, f"{inside}.{snake(name)}") for name, inner in value.items()}
