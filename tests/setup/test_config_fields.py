"""How a configuration becomes a setup: names, places, values, and what is said when it cannot."""

from __future__ import annotations

import json

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from livetools.errors import ConfigError
from livetools.setup import config_fields as c
from livetools.setup.did_you_mean import NOT_LIVE
from livetools.setup.plan import make_plan
from livetools.setup.sdk.camel_case import camel, snake
from livetools.setup.sdk.config_values import read_as

# One value for each field of LiveConnectConfig, and what the setup then says of it.
EVERY_FIELD = {
    "http_options": ({"api_version": "v1alpha"}, None),
    "generation_config": ({"candidate_count": 1}, {"generationConfig": {"candidateCount": 1}}),
    "response_modalities": (["AUDIO"], {"generationConfig": {"responseModalities": ["AUDIO"]}}),
    "temperature": (0.5, {"generationConfig": {"temperature": 0.5}}),
    "top_p": (0.9, {"generationConfig": {"topP": 0.9}}),
    "top_k": (40.0, {"generationConfig": {"topK": 40}}),
    "max_output_tokens": (100, {"generationConfig": {"maxOutputTokens": 100}}),
    "media_resolution": (
        "MEDIA_RESOLUTION_LOW",
        {"generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW"}},
    ),
    "seed": (7, {"generationConfig": {"seed": 7}}),
    "speech_config": (
        {"voice_config": {"prebuilt_voice_config": {"voice_name": "Kore"}}, "language_code": "en-US"},
        {
            "generationConfig": {
                "speechConfig": {
                    "voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}},
                    "languageCode": "en-US",
                }
            }
        },
    ),
    "thinking_config": (
        {"include_thoughts": True, "thinking_level": "LOW"},
        {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"}}},
    ),
    "enable_affective_dialog": (True, {"generationConfig": {"enableAffectiveDialog": True}}),
    "system_instruction": ("Be brief.", {"systemInstruction": {"parts": [{"text": "Be brief."}]}}),
    "tools": ([{"google_search": {}}], None),
    "session_resumption": (
        {"handle": "h", "transparent": True},
        {"sessionResumption": {"handle": "h", "transparent": True}},
    ),
    "input_audio_transcription": ({}, {"inputAudioTranscription": {}}),
    "output_audio_transcription": (
        {"language_codes": ["nb-NO"]},
        {"outputAudioTranscription": {"languageCodes": ["nb-NO"]}},
    ),
    "realtime_input_config": (
        {
            "automatic_activity_detection": {"disabled": True, "silence_duration_ms": 100},
            "turn_coverage": "TURN_INCLUDES_ALL_INPUT",
        },
        {
            "realtimeInputConfig": {
                "automaticActivityDetection": {"disabled": True, "silenceDurationMs": 100},
                "turnCoverage": "TURN_INCLUDES_ALL_INPUT",
            }
        },
    ),
    "context_window_compression": (
        {"trigger_tokens": 1024, "sliding_window": {"target_tokens": 512}},
        {"contextWindowCompression": {"triggerTokens": "1024", "slidingWindow": {"targetTokens": "512"}}},
    ),
    "proactivity": ({"proactive_audio": True}, {"proactivity": {"proactiveAudio": True}}),
    "explicit_vad_signal": (True, {"explicitVadSignal": True}),
    "history_config": (
        {"initial_history_in_client_content": True},
        {"historyConfig": {"initialHistoryInClientContent": True}},
    ),
    "avatar_config": ({"avatar_name": "Ben"}, {"avatarConfig": {"avatarName": "Ben"}}),
    "safety_settings": (
        [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]},
    ),
    "translation_config": (
        {"target_language_code": "es"},
        {"generationConfig": {"translationConfig": {"targetLanguageCode": "es"}}},
    ),
    "labels": ({"team_name": "blue"}, {"labels": {"team_name": "blue"}}),
}


@pytest.mark.parametrize("name", types.LiveConnectConfig.model_fields)
def test_every_field_of_live_connect_config_has_its_place(name: str) -> None:
    value, expected = EVERY_FIELD[name]
    for config in (
        {name: value},
        {camel(name): value},
        types.LiveConnectConfig.model_validate({name: value}),
    ):
        made = c.setup(c.read(config))
        assert made == (expected or {})
        json.dumps(made)


def test_an_unknown_field_is_named_with_its_near_misses() -> None:
    with pytest.raises(ConfigError, match=r"'temprature'; did you mean temperature\?"):
        c.read({"temprature": 1})
    with pytest.raises(
        ConfigError, match=r"speech_config has no field 'voice_conf'; did you mean voice_config\?"
    ):
        c.setup(c.read({"speech_config": {"voice_conf": {}}}))


@pytest.mark.parametrize(
    "config",
    [
        {"generation_config": {"temprature": 0.5}},
        {"generation_config": {"inputAudioTranscription": {}}},
        {"input_audio_transcription": {"language": "de"}},
        {"output_audio_transcription": {"language_hints": {"code": "de"}}},
        {"system_instruction": {"parts": [{"txt": "Be brief."}]}},
        {"system_instruction": {"text": "Be brief.", "rolle": "user"}},
        {"safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "treshold": "BLOCK_NONE"}]},
        {"speech_config": {"voice_config": {"replicated_voice_config": {"sample": ""}}}},
        {"avatar_config": {"customized_avatar": {"image": ""}}},
    ],
    ids=str,
)
def test_a_field_that_the_service_does_not_know_is_refused_wherever_it_stands(config: object) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        types.LiveConnectConfig.model_validate(config)
    with pytest.raises(ConfigError, match="has no field"):
        c.setup(c.read(config))


def test_a_field_of_a_part_of_the_history_that_the_service_does_not_know_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"history\[0\] has no field 'txt'; did you mean text\?"):
        c.history([{"role": "user", "parts": [{"txt": "I am Ann"}]}])


def test_a_label_is_a_string() -> None:
    with pytest.raises(ConfigError, match=r"config\.labels\['n'\] is a int, 1: a string is expected"):
        c.setup(c.read({"labels": {"team": "blue", "n": 1}}))


def test_a_forced_call_is_pointed_to_allowed() -> None:
    for name in ("tool_config", "toolConfig", "tool_choice"):
        with pytest.raises(ConfigError, match="allowed="):
            c.read({name: {}})


@pytest.mark.parametrize("name", sorted(NOT_LIVE))
def test_what_live_does_not_support_is_refused_for_the_same_reason_wherever_it_stands(name: str) -> None:
    for written in (name, snake(name)):
        for config in ({written: {}}, {"generation_config": {written: {}}}):
            with pytest.raises(ConfigError, match="does not support") as caught:
                c.setup(c.read(config))
            assert snake(name) in str(caught.value) or name in str(caught.value)
            assert "belongs inside" not in str(caught.value)


def test_what_is_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="twice"):
        c.read({"top_p": 1, "topP": 1})
    with pytest.raises(ConfigError, match="only one of them"):
        c.setup(c.read({"temperature": 1, "generation_config": {"temperature": 1}}))
    with pytest.raises(ConfigError, match="only one of them"):
        c.setup(c.read({"system_instruction": "a"}), instructions="b")


def test_what_live_does_not_take_is_refused() -> None:
    with pytest.raises(ConfigError, match="response_schema"):
        c.setup(c.read({"generation_config": {"response_schema": {"type": "STRING"}}}))
    with pytest.raises(ConfigError, match="sliding_window"):
        make_plan("gemini-3.8-live", config={"context_window_compression": {"trigger_tokens": 5}})
    with pytest.raises(ConfigError, match="one voice"):
        make_plan("gemini-3.8-live", config={"speech_config": {"multi_speaker_voice_config": {}}})


def test_instructions_may_be_text_parts_or_a_content() -> None:
    made = [
        c.setup({}, instructions=value)["systemInstruction"]
        for value in (
            "hi",
            ["hi"],
            {"text": "hi"},
            types.Part(text="hi"),
            types.Content(parts=[types.Part(text="hi")]),
        )
    ]
    assert made == [{"parts": [{"text": "hi"}]}] * 5
    with pytest.raises(ConfigError, match="instructions"):
        c.setup({}, instructions=7)


def test_bytes_become_base64_and_enums_their_value() -> None:
    image = {"inline_data": {"data": b"\xff\xfe", "mime_type": "image/png"}}
    assert read_as(image, "Part", "p") == {"inlineData": {"data": "//4=", "mimeType": "image/png"}}
    assert read_as(types.Modality.AUDIO, "Modality", "p") == "AUDIO"
    with pytest.raises(ConfigError, match=r"config\.speech_config is a object"):
        c.setup(c.read({"speech_config": object()}))
    with pytest.raises(ConfigError, match=r"args holds what JSON cannot say.*object"):
        read_as({"name": "f", "args": {"a": object()}}, "FunctionCall", "p")


@pytest.mark.parametrize("data", ["not base64!", "YQ=\n=", "a", 7])
def test_what_stands_for_bytes_is_base64(data: object) -> None:
    with pytest.raises(ConfigError, match=r"p\.inline_data\.data is not base64: give the bytes"):
        read_as({"inline_data": {"data": data, "mime_type": "image/png"}}, "Part", "p")


@pytest.mark.parametrize("part", [{}, 7, None, ["a"]])
def test_a_part_is_text_or_an_object(part: object) -> None:
    with pytest.raises(ConfigError, match=r"instructions: expected text, a part such as"):
        c.setup({}, instructions=["a", part])


def test_a_file_of_google_genai_s_is_a_part() -> None:
    file = types.File(name="files/a", uri="https://x/a", mime_type="image/png")
    wire = {"fileData": {"fileUri": "https://x/a", "mimeType": "image/png"}}
    assert read_as(file, "Part", "p") == wire
    assert read_as({"name": "files/a", "uri": "https://x/a"}, "Part", "p") == {
        "fileData": {"fileUri": "https://x/a"}
    }


def test_names_of_the_users_own_keep_their_spelling() -> None:
    schema = {"type": "OBJECT", "properties": {"a_b": {"min_length": 1}}, "property_ordering": ["a_b"]}
    declaration = {"parameters": schema, "parameters_json_schema": {"a_b": {"c_d": None}}}
    assert read_as(declaration, "FunctionDeclaration", "p") == {
        "parameters": {
            "type": "OBJECT",
            "properties": {"a_b": {"minLength": 1}},
            "propertyOrdering": ["a_b"],
        },
        "parametersJsonSchema": {"a_b": {"c_d": None}},
    }


def test_a_session_takes_three_of_the_http_options() -> None:
    fields = c.read({"http_options": {"base_url": "http://x", "headers": {"X-A_b": "1"}}})
    assert c.http_options(fields) == {"baseUrl": "http://x", "headers": {"X-A_b": "1"}}
    assert c.http_options({}) == {}
    with pytest.raises(ConfigError, match="not timeout"):
        c.http_options(c.read(types.LiveConnectConfig(http_options=types.HttpOptions(timeout=5))))


@pytest.mark.parametrize(
    "options",
    ["", [], 0, {"headers": "X-A: 1"}, {"headers": [1]}, {"api_version": 5}, {"base_url": 5}],
)
def test_http_options_of_another_kind_are_a_config_error(options: object) -> None:
    with pytest.raises(ConfigError, match=r"config.http_options.* is expected"):
        c.http_options(c.read({"http_options": options}))


def test_v1alpha_is_wanted_for_proactivity_and_affective_dialog() -> None:
    assert c.wants_v1alpha(c.read({"proactivity": {"proactive_audio": True}}))
    assert c.wants_v1alpha(c.read({"enable_affective_dialog": True}))
    assert c.wants_v1alpha(c.read({"generation_config": {"enable_affective_dialog": True}}))
    assert not c.wants_v1alpha(c.read({"enable_affective_dialog": False}))


def test_history_is_a_list_of_contents() -> None:
    spoken = [
        {"role": "user", "parts": [{"text": "hi"}]},
        types.Content(role="model", parts=[types.Part(inline_data=types.Blob(data=b"a", mime_type="x/y"))]),
    ]
    assert c.history(spoken) == (
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"inlineData": {"data": "YQ==", "mimeType": "x/y"}}]},
    )
    for wrong, said in (
        ("hi", "list of contents"),
        ([{"parts": []}], r"history\[0\]: role"),
        ([{"role": "assistant", "parts": ["a"]}], "assistant"),
        ([{"role": "user"}], r"history\[0\]"),
        ([{"role": "user", "parts": []}], "no parts"),
    ):
        with pytest.raises(ConfigError, match=said):
            c.history(wrong)


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        ("gemini-3.8-live", "projects/p/locations/l/publishers/google/models/gemini-3.8-live"),
        ("models/gemini-3.8-live", "projects/p/locations/l/publishers/google/models/gemini-3.8-live"),
        ("publishers/x/models/m", "projects/p/locations/l/publishers/x/models/m"),
        ("projects/a/locations/b/models/c", "projects/a/locations/b/models/c"),
    ],
)
def test_vertex_names_a_model_by_its_path(model: str, wire: str) -> None:
    assert c.wire_model(model, vertexai=True, project="p", location="l") == wire


def test_the_gemini_api_and_express_mode_have_shorter_paths() -> None:
    assert c.wire_model("m", vertexai=False) == "models/m"
    assert c.wire_model("tunedModels/m", vertexai=False) == "tunedModels/m"
    assert c.wire_model("m", vertexai=True) == "publishers/google/models/m"
    for wrong in ("", "/", "two words", "m?x=1", "../m"):
        with pytest.raises(ConfigError):
            c.wire_model(wrong, vertexai=False)


names = st.sampled_from(["a_b", "responseModalities", "x", "top_p", "parts", "labels", "properties"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(values)
def test_whatever_is_the_users_own_becomes_json_and_stays_it(value: object) -> None:
    once = read_as(value, "any", "p")
    json.dumps(once)
    assert read_as(once, "any", "p") == once


KORE = {"prebuiltVoiceConfig": {"voiceName": "Kore"}}


@pytest.mark.parametrize(
    ("config", "speech"),
    [
        (None, {"voiceConfig": KORE, "languageCode": "de-DE"}),
        (
            {"generation_config": {"speech_config": {"voice_config": KORE}}},
            {"voiceConfig": KORE, "languageCode": "de-DE"},
        ),
        ({"speech_config": {"language_code": "fr-FR"}}, {"voiceConfig": KORE, "languageCode": "fr-FR"}),
        (
            types.LiveConnectConfig(speech_config=types.SpeechConfig(language_code="fr-FR")),
            {"voiceConfig": KORE, "languageCode": "fr-FR"},
        ),
    ],
)
def test_voice_and_language_join_what_the_config_says(config: object, speech: dict[str, object]) -> None:
    told = c.setup(c.read(config)).get("generationConfig", {}).get("speechConfig", {})
    voice = None if "voiceConfig" in told else "Kore"
    language = None if "languageCode" in told else "de-DE"
    setup = c.setup(c.read(config))
    c.add_speech(setup, voice, language)
    assert setup["generationConfig"]["speechConfig"] == speech


@pytest.mark.parametrize(
    ("config", "given", "message"),
    [
        (
            {"speech_config": {"voice_config": KORE}},
            {"voice": "Puck"},
            "voice and config.speech_config.voice_config are both",
        ),
        (
            {"generation_config": {"speech_config": {"language_code": "en"}}},
            {"language": "de"},
            "language and config",
        ),
        (None, {"voice": ""}, "such as 'Kore'"),
        (None, {"language": 7}, "such as 'en-US'"),
    ],
)
def test_voice_and_language_are_said_once_and_are_names(
    config: object, given: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_plan("gemini-3.8-live", config=config, **given)
