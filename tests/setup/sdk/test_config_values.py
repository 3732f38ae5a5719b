"""The kinds of values in a configuration, held against google-genai's own types."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.errors import ConfigError
from livetools.setup import config_fields
from livetools.setup.sdk.config_values import read_as


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
        config_fields.setup(config_fields.read(config))


def test_what_the_sdk_would_read_is_read() -> None:
    setup = config_fields.setup(
        config_fields.read(
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


def test_an_enum_is_read_in_any_case_and_a_value_of_tomorrow_is_sent_as_it_is() -> None:
    config = {
        "media_resolution": "media_resolution_low",
        "realtime_input_config": {"turn_coverage": "NEW_ONE"},
    }
    setup = config_fields.setup(config_fields.read(config))
    assert setup["generationConfig"]["mediaResolution"] == "MEDIA_RESOLUTION_LOW"
    assert setup["realtimeInputConfig"] == {"turnCoverage": "NEW_ONE"}


def test_names_and_values_deep_in_a_tool_are_checked_too() -> None:
    with pytest.raises(
        ConfigError, match=r"config.tools.retrieval.vertex_ai_search has no field 'data_store'"
    ):
        read_as({"retrieval": {"vertexAiSearch": {"dataStore": "x"}}}, "Tool", "config.tools")
    with pytest.raises(ConfigError, match=r"vertex_ai_search.max_results is a str, 'many': a whole number"):
        read_as({"retrieval": {"vertexAiSearch": {"maxResults": "many"}}}, "Tool", "config.tools")


def test_a_wrong_handle_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        config_fields.setup(
            config_fields.read({"session_resumption": {"handle": b"secret".hex().encode().split()}})
        )
    assert "736563726574" not in str(caught.value)
