"""The kinds of values in a configuration, held against google-genai's own types."""

from __future__ import annotations

import enum
import types as builtin
import typing
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from livetools.errors import ConfigError
from livetools.setup import configuration
from livetools.setup.config_values import KINDS

#: Objects that the service documents apart from the configuration, or that have rules of their own.
ELSEWHERE = {"Tool", "Schema", "HttpOptions", "Content", "Part", "File", "ResponseFormat", "SafetySetting"}
#: What Live does not take, and bytes, which are base64 by then.
UNCHECKED = {
    *configuration.NOT_LIVE,
    "systemInstruction",
    "tools",
    "httpOptions",
    "safetySettings",
    "responseFormat",
}


def kind_of(annotation: Any) -> str | None:
    """The word that the table has for a type of the SDK."""
    inner = [t for t in typing.get_args(annotation) if t is not type(None)]
    if typing.get_origin(annotation) in (typing.Union, builtin.UnionType):
        annotation = inner[0]
    if typing.get_origin(annotation) is list:
        (item,) = typing.get_args(annotation)
        return "a list of strings" if item is str or issubclass(item, enum.Enum) else None
    if typing.get_origin(annotation) is dict or annotation is dict:
        return "an object"
    if annotation in (float, int, bool, str):
        words = {float: "a number", int: "a whole number", bool: "True or False", str: "a string"}
        return words[annotation]
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return "a string"
    return "an object" if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def models(model: type[BaseModel], found: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """The model and the objects inside it."""
    if model.__name__ in found or model.__name__ in ELSEWHERE:
        return found
    found[model.__name__] = model
    for field in model.model_fields.values():
        for part in (field.annotation, *typing.get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                models(part, found)
    return found


def test_the_kinds_are_those_of_the_sdk() -> None:
    wrong = {}
    for model in models(types.LiveConnectConfig, {}).values():
        for name, field in model.model_fields.items():
            key, kind = configuration.camel(name), kind_of(field.annotation)
            if key in KINDS and kind is not None and KINDS[key] != kind:
                wrong[f"{model.__name__}.{name}"] = (KINDS[key], kind)
    assert not wrong


def test_every_field_of_the_sdk_has_a_kind() -> None:
    fields = {configuration.camel(name) for name in types.LiveConnectConfig.model_fields}
    assert fields - UNCHECKED <= KINDS.keys()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"temperature": "hot"}, r"config.temperature is a str, 'hot': a number is expected"),
        ({"generation_config": {"temperature": []}}, "config.temperature is a list"),
        ({"temperature": float("nan")}, "a number is expected"),
        ({"top_p": {}}, "config.top_p is a dict"),
        ({"max_output_tokens": 1.5}, "a whole number is expected"),
        ({"seed": "seven"}, "a whole number is expected"),
        ({"response_modalities": {"a": 1}}, "config.response_modalities is a list"),
        (
            {"speech_config": "Puck"},
            r"config.speech_config is a str.*; for a voice alone: connect\(voice='Puck'\)",
        ),
        ({"generation_config": {"speech_config": {"voice_config": "Puck"}}}, r"connect\(voice='Puck'\)"),
        ({"thinking_config": 5}, "config.thinking_config is a int, 5: an object is expected"),
        ({"thinking_config": {"thinking_budget": "much"}}, "config.thinking_config.thinking_budget"),
        ({"speech_config": "Puck"}, "config.speech_config is a str"),
        (
            {"speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": 5}}}},
            "voice_name is a int",
        ),
        ({"speech_config": {"language_code": ["en"]}}, "language_code is a list"),
        ({"realtime_input_config": {"automatic_activity_detection": {"disabled": "never"}}}, "True or False"),
        ({"realtime_input_config": {"automatic_activity_detection": True}}, "an object is expected"),
        ({"realtime_input_config": {"turn_coverage": 3}}, "turn_coverage is a int, 3: a string is expected"),
        ({"session_resumption": {"handle": 5}}, "handle is a int, 5: a string"),
        ({"context_window_compression": {"sliding_window": {"target_tokens": "few"}}}, "a whole number"),
        ({"proactivity": "yes"}, "config.proactivity"),
        ({"input_audio_transcription": {"language_codes": "en"}}, "a list of strings"),
        ({"media_resolution": 5}, "a string is expected"),
    ],
)
def test_what_the_sdk_would_refuse_is_refused(config: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        configuration.setup(configuration.read(config))


def test_what_the_sdk_would_read_is_read() -> None:
    setup = configuration.setup(
        configuration.read(
            {
                "temperature": "0.5",
                "top_k": 40,
                "seed": 7.0,
                "labels": {"team": "a"},
                "enable_affective_dialog": "true",
                "context_window_compression": {
                    "trigger_tokens": "1000",
                    "sliding_window": {"target_tokens": 500},
                },
            }
        )
    )
    generation = setup["generationConfig"]
    assert generation == {"temperature": 0.5, "topK": 40, "seed": 7, "enableAffectiveDialog": True}
    assert type(generation["topK"]) is int
    assert setup["contextWindowCompression"] == {
        "triggerTokens": "1000",
        "slidingWindow": {"targetTokens": "500"},
    }


def test_a_wrong_handle_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        configuration.setup(
            configuration.read({"session_resumption": {"handle": b"secret".hex().encode().split()}})
        )
    assert "736563726574" not in str(caught.value)
