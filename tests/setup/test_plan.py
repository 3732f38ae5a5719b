"""What is decided before a session is dialled, model by model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.errors import ConfigError
from livetools.setup import config_fields
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan import adjusted, make_plan, replan
from livetools.setup.plan_fields import CallPolicy, Plan, ToolSpec

NATIVE = "gemini-2.5-flash-native-audio-latest"
FLASH = "gemini-3.1-flash-live-preview"
LIVE = "gemini-3.8-live"
THINKING = "gemini-3.8-live-extended-thinking"
HALF = "gemini-live-2.5-flash-preview"
TRANSCRIBE = "gemini-3.5-transcribe-live"
LOW = {"thinking_config": {"thinking_level": "LOW"}}


class Made(ToolSpec):
    """A tool that is nothing but its spec."""

    def spec(self) -> ToolSpec:
        return self


def spec(name: str = "f", *, generator: bool = False, handled: bool = True, **options: object) -> Made:
    return Made({"name": name, "description": "does it"}, options, generator=generator, handled=handled)


def policy(model: str, tool: Made, **options: Any) -> CallPolicy:
    config = LOW if model == THINKING else None
    return make_plan(model, [tool], **{"config": config, **options}).policies["f"]


def declared(plan: Plan) -> list[dict[str, Any]]:
    return list(plan.setup["tools"][-1]["functionDeclarations"])


class TestTheSetup:
    def test_the_smallest_program_asks_for_speech_with_a_transcript_and_for_handles(self) -> None:
        assert make_plan(NATIVE).setup_message(None, fresh=False) == {
            "setup": {
                "model": f"models/{NATIVE}",
                "generationConfig": {"responseModalities": ["AUDIO"]},
                "outputAudioTranscription": {},
                "sessionResumption": {},
                "contextWindowCompression": {"slidingWindow": {}},
            }
        }

    def test_an_unknown_model_works_with_a_warning(self) -> None:
        plan = make_plan("gemini-9-live", [spec()])
        assert declared(plan) == [{"name": "f", "description": "does it", "behavior": "BLOCKING"}]
        assert "gemini-9-live" in plan.warnings[0]
        assert plan.input_block is False
        assert not make_plan("gemini-9-live", profile=ModelProfile()).warnings

    def test_without_reconnection_neither_handles_nor_compression_are_asked_for(self) -> None:
        setup = make_plan(NATIVE, reconnect=False).setup
        assert "sessionResumption" not in setup
        assert "contextWindowCompression" not in setup
        assert make_plan(NATIVE, reconnect=False, handle="h").resumption
        assert make_plan(NATIVE, reconnect=False, config={"session_resumption": {}}).resumption

    @pytest.mark.parametrize("off", [None, False])
    def test_the_config_has_the_last_word_on_defaults(self, off: object) -> None:
        config = {
            "output_audio_transcription": off,
            "context_window_compression": off,
            "session_resumption": off,
        }
        setup = make_plan(NATIVE, config=config).setup
        assert "sessionResumption" not in setup
        assert "outputAudioTranscription" not in setup
        assert "contextWindowCompression" not in setup
        own = make_plan(
            NATIVE, config={"context_window_compression": {"sliding_window": {"target_tokens": 9}}}
        )
        assert own.setup["contextWindowCompression"] == {"slidingWindow": {"targetTokens": "9"}}
        typed = types.LiveConnectConfig(output_audio_transcription=None)
        assert "outputAudioTranscription" not in make_plan(NATIVE, config=typed).setup

    def test_a_handle_is_put_in_for_each_dial(self) -> None:
        plan = make_plan(LIVE, handle="h0")
        assert plan.handle == "h0"
        assert plan.setup["sessionResumption"] == {}
        assert plan.setup_message("h1", fresh=False)["setup"]["sessionResumption"] == {"handle": "h1"}
        assert plan.setup_message(None, fresh=False)["setup"]["sessionResumption"] == {}

    def test_a_seed_is_announced_where_the_model_waits_for_one(self) -> None:
        announced = {"initialHistoryInClientContent": True}
        assert make_plan(FLASH).setup_message(None, fresh=True)["setup"]["historyConfig"] == announced
        assert "historyConfig" not in make_plan(FLASH).setup_message(None, fresh=False)["setup"]
        assert "historyConfig" not in make_plan(FLASH).setup_message("h", fresh=True)["setup"]
        assert "historyConfig" not in make_plan(NATIVE).setup_message(None, fresh=True)["setup"]
        asked = make_plan(FLASH, config={"history_config": {"initial_history_in_client_content": True}})
        assert asked.setup_message(None, fresh=False)["setup"]["historyConfig"] == announced
        assert "historyConfig" not in asked.setup_message("h", fresh=False)["setup"]

    def test_a_text_model_is_asked_for_text_and_no_transcript(self) -> None:
        plan = make_plan(HALF, config={"response_modalities": ["TEXT"]})
        assert "outputAudioTranscription" not in plan.setup
        assert make_plan(TRANSCRIBE).setup["generationConfig"] == {"responseModalities": ["TEXT"]}

    def test_instructions_stand_where_the_wire_wants_them(self) -> None:
        assert make_plan(LIVE, instructions="Be brief.").setup["systemInstruction"] == {
            "parts": [{"text": "Be brief."}]
        }

    def test_the_plan_does_not_share_the_config_it_was_made_from(self) -> None:
        config = {"generation_config": {"temperature": 0.5}}
        make_plan(LIVE, config=config)
        assert config == {"generation_config": {"temperature": 0.5}}


class TestGivenTwice:
    @pytest.mark.parametrize(
        "options",
        [
            {"instructions": "a", "config": {"system_instruction": "b"}},
            {"handle": "a", "config": {"session_resumption": {"handle": "b"}}},
            {"config": {"temperature": 1, "generation_config": {"temperature": 1}}},
        ],
    )
    def test_what_is_given_twice_is_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match="only one of them"):
            make_plan(LIVE, **options)


class TestRefusedBeforeDialling:
    @pytest.mark.parametrize(
        ("model", "options", "said"),
        [
            (NATIVE, {"config": {"response_modalities": ["TEXT"]}}, "answers in AUDIO"),
            (FLASH, {"config": {"response_modalities": ["TEXT"]}}, "OutputTranscript"),
            (LIVE, {"config": {"response_modalities": ["TEXT", "AUDIO"]}}, "exactly one"),
            (TRANSCRIBE, {"config": {"response_modalities": ["AUDIO"]}}, "answers in TEXT"),
            (LIVE, {"config": LOW}, "Thinking level is not supported"),
            (LIVE, {"config": {"thinking_config": {"thinking_budget": 0}}}, "thinking_budget"),
            (NATIVE, {"config": LOW}, "thinking_level"),
            (THINKING, {}, "wants a thinking level"),
            (THINKING, {"config": {"thinking_config": {"thinking_level": "MINIMAL"}}}, "HIGH, LOW, MEDIUM"),
            (LIVE, {"config": {"enable_affective_dialog": True}}, "enable_affective_dialog"),
            (
                LIVE,
                {"config": {"proactivity": {"proactive_audio": False}}},
                "refuses False: leave proactivity out",
            ),
            (FLASH, {"config": {"proactivity": {"proactive_audio": True}}}, "proactivity"),
            (
                NATIVE,
                {"config": {"proactivity": {"proactive_audio": True}}, "api_version": "v1beta"},
                "v1alpha",
            ),
            (NATIVE, {"config": {"session_resumption": {"transparent": True}}}, "Vertex"),
            (NATIVE, {"config": {"explicit_vad_signal": True}}, "Vertex"),
            (LIVE, {"config": {"avatar_config": {"avatar_name": "Ben"}}}, "Vertex"),
            (NATIVE, {"config": {"translation_config": {"target_language_code": "es"}}}, "translation"),
            (NATIVE, {"config": {"tools": [{"code_execution": {}}]}}, "code_execution"),
            (NATIVE, {"config": {"tools": [{"google_search": {}}]}, "tools": [spec()]}, "beside functions"),
            (TRANSCRIBE, {"tools": [spec()]}, "no functions"),
            (TRANSCRIBE, {"handle": "h"}, "no handles"),
            (TRANSCRIBE, {"history": [{"role": "user", "parts": ["hi"]}]}, "no history"),
            (FLASH, {"tools": [spec()], "reply_format": "client_content"}, "mid-session"),
            (THINKING, {"config": LOW, "tools": [spec(behavior="BLOCKING")]}, "say behavior='non_blocking'"),
            (THINKING, {"config": LOW, "tools": [spec(scheduling="SILENT")]}, "scheduling"),
            (LIVE, {"config": 7}, "LiveConnectConfig"),
            (LIVE, {"reply_format": "text"}, "reply_format"),
            (LIVE, {"reply_batching": "all"}, "reply_batching"),
            (LIVE, {"response_key": "value"}, "response_key"),
            (LIVE, {"lost_results": "keep"}, "lost_results"),
            (LIVE, {"tool_timeout": 0}, "tool_timeout"),
            (LIVE, {"setup_timeout": -1}, "setup_timeout"),
            (LIVE, {"stall_timeout": "20"}, "stall_timeout"),
            (LIVE, {"max_concurrency": 0}, "max_concurrency"),
            (LIVE, {"max_calls": -1}, "max_calls"),
            ("", {}, "not a model's name: pass one such as"),
            ("gemini 3.8 live", {}, "not a model's name"),
        ],
    )
    def test_what_would_be_refused_is_refused_here_with_the_reason(
        self, model: str, options: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(ConfigError, match=said):
            make_plan(model, **options)

    def test_vertex_refuses_a_turn_coverage_that_the_gemini_api_takes(self) -> None:
        coverage = "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"
        config = {"realtime_input_config": {"turn_coverage": coverage}}
        assert make_plan(LIVE, config=config).setup["realtimeInputConfig"] == {"turnCoverage": coverage}
        with pytest.raises(ConfigError, match="turn_coverage"):
            make_plan(LIVE, config=config, vertexai=True)

    def test_what_is_vertex_s_is_taken_on_vertex(self) -> None:
        config = {
            "session_resumption": {"transparent": True},
            "explicit_vad_signal": True,
            "proactivity": {"proactive_audio": True},
        }
        plan = make_plan("gemini-live-2.5-flash-native-audio", config=config, vertexai=True, api_version="v1")
        assert plan.transparent
        assert plan.setup["sessionResumption"] == {"transparent": True}
        assert plan.setup["explicitVadSignal"] is True

    def test_a_model_is_looked_for_where_vertex_serves_it(self) -> None:
        with pytest.raises(ConfigError, match="us-central1"):
            make_plan(LIVE, vertexai=True, project="p", location="global")
        assert make_plan(LIVE, vertexai=True, project="p", location="eu").model.startswith("projects/p/")

    def test_flags_that_say_no_are_left_out_rather_than_judged(self) -> None:
        config = {
            "generation_config": {"enable_affective_dialog": False},
            "session_resumption": {"transparent": False},
            "explicit_vad_signal": False,
        }
        setup = make_plan(LIVE, config=config).setup
        assert setup["generationConfig"] == {"responseModalities": ["AUDIO"]}
        assert setup["sessionResumption"] == {}


class TestIgnoredAndTold:
    def test_proactivity_is_left_out_where_it_is_always_on(self) -> None:
        assert "proactivity" not in make_plan(LIVE, config={"proactivity": {"proactive_audio": True}}).setup

    def test_thinking_is_left_out_where_nothing_thinks(self) -> None:
        plan = make_plan(HALF, config=LOW)
        assert "thinkingConfig" not in plan.setup["generationConfig"]
        assert "thinking_level" in plan.warnings[0]

    def test_url_context_is_left_out_where_it_is_never_used(self) -> None:
        plan = make_plan(NATIVE, config={"tools": [{"url_context": {}}]})
        assert "tools" not in plan.setup
        assert "url_context" in plan.warnings[0]

    def test_scheduling_is_left_out_where_it_is_ignored_or_the_call_blocks(self) -> None:
        for model in (FLASH, NATIVE, LIVE):
            plan = make_plan(model, [spec(scheduling="SILENT")])
            assert plan.policies["f"].scheduling is None
            assert "scheduling" in plan.warnings[0]

    def test_an_unknown_voice_is_told(self) -> None:
        voice = {"speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": "Pika"}}}}
        plan = make_plan(LIVE, config=voice)
        assert "Pika" in plan.warnings[0]
        assert adjusted(plan, instructions="Be brief.").warnings == plan.warnings

    def test_allowed_names_that_nobody_declared_are_told(self) -> None:
        plan = make_plan(LIVE, [spec()], allowed=["f", "g"])
        assert plan.allowed == {"f", "g"}
        assert "g" in plan.warnings[0]


class TestBehavior:
    @pytest.mark.parametrize(
        ("model", "asked", "declared_as", "background"),
        [
            (NATIVE, None, "BLOCKING", False),
            (NATIVE, "NON_BLOCKING", "NON_BLOCKING", False),
            (NATIVE, "BACKGROUND", "NON_BLOCKING", False),
            (FLASH, None, "BLOCKING", False),
            (FLASH, "NON_BLOCKING", "BLOCKING", False),
            (FLASH, "BACKGROUND", "BLOCKING", True),
            (LIVE, None, "BLOCKING", False),
            (LIVE, "BLOCKING", "BLOCKING", False),
            (LIVE, "BACKGROUND", "NON_BLOCKING", False),
            (THINKING, None, "NON_BLOCKING", False),
            (THINKING, "BACKGROUND", "NON_BLOCKING", False),
        ],
    )
    def test_behavior_is_resolved_and_said_on_the_wire(
        self, model: str, asked: str | None, declared_as: str, background: bool
    ) -> None:
        plan = make_plan(model, [spec(behavior=asked)], config=LOW if model == THINKING else None)
        made = plan.policies["f"]
        assert (made.behavior, made.background) == (declared_as, background)
        assert declared(plan)[0]["behavior"] == declared_as
        assert made.ends_turn == (declared_as == "NON_BLOCKING")

    def test_vertex_2_5_is_left_to_its_default_and_says_so_when_asked(self) -> None:
        model = "gemini-live-2.5-flash-native-audio"
        assert "behavior" not in declared(make_plan(model, [spec()], vertexai=True))[0]
        plan = make_plan(model, [spec(behavior="NON_BLOCKING", scheduling="SILENT")], vertexai=True)
        assert plan.policies["f"].behavior == "BLOCKING"
        assert len(plan.warnings) == 2

    def test_half_cascade_on_vertex_ends_its_turn_at_a_blocking_call(self) -> None:
        assert policy("gemini-live-2.5-flash", spec(), vertexai=True).ends_turn

    def test_a_generator_streams_where_will_continue_is_taken(self) -> None:
        ticks = spec(generator=True)
        for model in (NATIVE, LIVE, "gemini-9-live"):
            made = policy(model, ticks)
            assert (made.behavior, made.streams) == ("NON_BLOCKING", True)
        for model in (FLASH, THINKING):
            assert not policy(model, ticks).streams
        assert not policy(LIVE, ticks, vertexai=True).streams
        assert not policy(LIVE, spec(generator=True, behavior="BLOCKING")).streams

    @pytest.mark.parametrize("options", [{"reply_format": "client_content"}, {"reply_batching": "batch"}])
    def test_a_generator_does_not_stream_in_answers_that_hold_several_calls(
        self, options: dict[str, Any]
    ) -> None:
        made = policy(LIVE, spec(generator=True), **options)
        assert (made.behavior, made.streams) == ("BLOCKING", False)

    def test_scheduling_goes_beside_the_answer_of_a_call_that_does_not_block(self) -> None:
        made = policy(LIVE, spec(behavior="NON_BLOCKING", scheduling="SILENT"))
        assert (made.scheduling, made.takes_scheduling) == ("SILENT", True)
        assert not policy(LIVE, spec()).takes_scheduling
        assert not policy(THINKING, spec()).takes_scheduling

    def test_a_profile_of_ones_own_decides(self) -> None:
        mine = ModelProfile(non_blocking="ignored", input_block=True)
        plan = make_plan("mine", [spec(behavior="NON_BLOCKING")], profile=mine)
        assert plan.policies["f"].behavior == "BLOCKING"
        assert plan.input_block


class TestPolicies:
    def test_options_of_a_tool_are_carried_and_the_session_s_timeout_fills_in(self) -> None:
        made = policy(
            LIVE,
            spec(
                behavior="NON_BLOCKING",
                timeout=None,
                concurrency=2,
                cancellable=False,
                undo=print,
                approval=True,
                approval_timeout=5,
                duplicates="join",
            ),
        )
        assert (made.timeout, made.concurrency, made.cancellable, made.undo) == (None, 2, False, True)
        assert (made.approval, made.approval_timeout, made.takes_more) == (True, 5, True)
        assert made.join
        assert policy(LIVE, spec(), tool_timeout=7).timeout == 7
        assert policy(LIVE, spec(approval=print)).approval is True
        assert not policy(LIVE, spec(approval=print)).takes_more

    def test_media_are_those_that_the_model_reads(self) -> None:
        assert "image/png" in make_plan(LIVE).media
        assert make_plan(NATIVE).media == frozenset()

    def test_a_config_that_was_read_is_a_config(self) -> None:
        typed = types.LiveConnectConfig(
            tools=[types.Tool(google_search=types.GoogleSearch())],
            output_audio_transcription=None,
            temperature=0.5,
        )
        fields = config_fields.read(typed)
        assert make_plan(LIVE, config=fields).setup == make_plan(LIVE, config=typed).setup

    def test_the_input_block_and_the_channels_are_the_model_s(self) -> None:
        assert [make_plan(m).input_block for m in (NATIVE, FLASH, LIVE)] == [True, True, False]
        assert make_plan(LIVE, input_gate=True).input_block
        assert not make_plan(NATIVE, input_gate=False).input_block
        plan = make_plan(FLASH)
        assert (plan.text_channel, plan.content_mid_session) == ("realtime", "refused")
        assert make_plan(LIVE).context_update == "honoured"
        assert make_plan(THINKING, config=LOW).idle_signal
        assert [make_plan(m).answers_lost for m in (NATIVE, FLASH, LIVE)] == [False, True, True]


class TestTools:
    def test_more_than_512_functions_are_too_many(self) -> None:
        tools = [spec(f"f{n}") for n in range(513)]
        make_plan(LIVE, tools[:512])
        with pytest.raises(ConfigError, match="513 tools"):
            make_plan(LIVE, tools)

    def test_what_the_service_runs_itself_is_read_from_the_config(self) -> None:
        search = types.Tool(google_search=types.GoogleSearch())
        plan = make_plan("gemini-9-live", config={"tools": [search, {"url_context": {}}]})
        assert plan.setup["tools"] == [{"googleSearch": {}}, {"urlContext": {}}]
        assert make_plan("gemini-9-live", config={"tools": search}).setup["tools"] == [{"googleSearch": {}}]

    @pytest.mark.parametrize(
        "entry",
        [{"google_serch": {}}, {"google_search": {"max": 3}}, {"codeExecution": {"language": "PYTHON"}}],
    )
    def test_an_entry_or_a_field_of_it_that_the_service_does_not_know_is_refused(
        self, entry: dict[str, Any]
    ) -> None:
        with pytest.raises(ConfigError, match=r"config\.tools(\.\w+)? has no field"):
            make_plan(LIVE, config={"tools": [entry]})


class TestReplan:
    def test_tools_and_instructions_are_swapped_and_what_the_service_runs_stays(self) -> None:
        plan = make_plan(LIVE, [spec()], config={"tools": [{"google_search": {}}]})
        other = replan(plan, tools=[spec("g", behavior="NON_BLOCKING")], instructions="Sing.")
        assert other.setup["tools"][0] == {"googleSearch": {}}
        assert [d["name"] for d in declared(other)] == ["g"]
        assert list(other.policies) == ["g"]
        assert other.setup["systemInstruction"] == {"parts": [{"text": "Sing."}]}
        assert list(plan.policies) == ["f"]

    def test_no_tools_at_all_is_a_choice_too(self) -> None:
        assert "tools" not in replan(make_plan(LIVE, [spec()]), tools=[]).setup
        assert replan(make_plan(LIVE, [spec()])).policies.keys() == {"f"}

    def test_what_cannot_be_declared_cannot_be_declared_later_either(self) -> None:
        with pytest.raises(ConfigError, match="BLOCKING"):
            replan(make_plan(THINKING, config=LOW), tools=[spec(behavior="BLOCKING")])


MODELS = [NATIVE, FLASH, LIVE, THINKING, HALF, TRANSCRIBE, "gemini-live-2.5-flash", "gemini-9-live"]
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "response_modalities": st.sampled_from([["AUDIO"], ["TEXT"], "audio"]),
        "thinking_config": st.sampled_from([{}, {"thinking_level": "low"}, {"thinking_budget": 0}]),
        "enable_affective_dialog": st.booleans(),
        "proactivity": st.sampled_from([{"proactive_audio": True}, {"proactive_audio": False}]),
        "session_resumption": st.sampled_from([None, {}, {"handle": "h"}, {"transparent": True}]),
        "context_window_compression": st.sampled_from([None, {"sliding_window": {}}]),
        "output_audio_transcription": st.sampled_from([None, {}, True]),
        "tools": st.sampled_from([[{"google_search": {}}], [{"url_context": {}}, {"code_execution": {}}]]),
        "translation_config": st.just({"target_language_code": "es"}),
        "avatar_config": st.just({"avatar_name": "Ben"}),
        "explicit_vad_signal": st.booleans(),
    },
)
SPECS = st.lists(
    st.builds(
        lambda name, generator, options: spec(name, generator=generator, **options),
        st.sampled_from("fgh"),
        st.booleans(),
        st.fixed_dictionaries(
            {},
            optional={
                "behavior": st.sampled_from([None, "BLOCKING", "NON_BLOCKING", "BACKGROUND"]),
                "scheduling": st.sampled_from([None, "SILENT"]),
                "approval": st.booleans(),
            },
        ),
    ),
    max_size=3,
    unique_by=lambda tool: str(tool.declaration["name"]),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.sampled_from(MODELS),
    FIELDS,
    SPECS,
    st.booleans(),
    st.sampled_from(["tool_response", "client_content"]),
)
def test_a_plan_is_refused_or_says_nothing_that_its_model_refuses(
    model: str, config: dict[str, Any], tools: list[Made], vertexai: bool, reply_format: Any
) -> None:
    if model == THINKING:
        config = {**config, **LOW}
    try:
        plan = make_plan(model, tools, config=config, vertexai=vertexai, reply_format=reply_format)
    except ConfigError:
        return
    profile, setup = plan.profile, plan.setup_message("h", fresh=True)["setup"]
    json.dumps(setup)
    generation = setup["generationConfig"]
    thinking = generation.get("thinkingConfig", {})
    said = {
        "affective_dialog": "enableAffectiveDialog" in generation,
        "thinking_level": "thinkingLevel" in thinking,
        "thinking_budget": "thinkingBudget" in thinking,
        "translation": "translationConfig" in generation,
        "proactivity": "proactivity" in setup,
        "transparent": "transparent" in setup.get("sessionResumption", {}),
        "avatar": "avatarConfig" in setup,
        "explicit_vad_signal": "explicitVadSignal" in setup,
        "compression": "contextWindowCompression" in setup,
    }
    assert not [
        fact for fact, is_said in said.items() if is_said and getattr(profile, fact) != "honoured"
    ] or (said["thinking_level"] and profile.thinking_level == "required")
    assert set(generation["responseModalities"]) <= profile.modalities
    told = {d["name"]: d for entry in setup.get("tools", ()) for d in entry.get("functionDeclarations", ())}
    assert told.keys() == plan.policies.keys() == {str(tool.declaration["name"]) for tool in tools}
    for name, served in plan.policies.items():
        assert told[name].get("behavior", profile.default_behavior) == served.behavior
        assert served.behavior == "BLOCKING" or profile.non_blocking == "honoured"
        assert served.behavior == "NON_BLOCKING" or profile.blocking == "honoured"
        assert served.scheduling is None or served.takes_scheduling
        assert not (served.streams and (served.behavior == "BLOCKING" or reply_format == "client_content"))
        assert not (served.background and served.behavior == "NON_BLOCKING")


@pytest.mark.parametrize("limit", ["max_seconds", "idle"])
@pytest.mark.parametrize("value", [0, -1, True, "10"])
def test_a_limit_of_time_is_a_number_of_seconds(limit: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"{limit}=.*expected a number of seconds above 0"):
        make_plan("gemini-3.8-live", **{limit: value})  # type: ignore[arg-type]


def test_idle_asks_for_what_the_user_says_and_needs_it() -> None:
    plan = make_plan("gemini-3.8-live", idle=30)
    assert plan.setup["inputAudioTranscription"] == {}
    asked = make_plan(
        "gemini-3.8-live", config={"input_audio_transcription": {"language_codes": ["nb-NO"]}}, idle=30
    )
    assert asked.setup["inputAudioTranscription"] == {"languageCodes": ["nb-NO"]}
    for off in (None, False):
        with pytest.raises(ConfigError, match="leave input_audio_transcription on"):
            make_plan("gemini-3.8-live", config={"input_audio_transcription": off}, idle=30)
