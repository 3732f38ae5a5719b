"""What the table says of each family, and how a family is found."""

from __future__ import annotations

import dataclasses

import pytest

from livetools.setup.model_profiles import HALF_CASCADE_VOICES, VOICES, ModelProfile, find


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gemini-3.8-live", "gemini-3.8-live"),
        ("models/gemini-3.8-live-preview-11-2026", "gemini-3.8-live"),
        ("gemini-3.8-live-extended-thinking", "gemini-3.8-live-extended-thinking"),
        ("gemini-3.1-flash-live-preview", "gemini-3.1-flash-live"),
        ("gemini-2.5-flash-native-audio-latest", "gemini-2.5 native audio"),
        ("models/gemini-2.5-flash-native-audio-preview-12-2025", "gemini-2.5 native audio"),
        ("gemini-live-2.5-flash-native-audio", "gemini-2.5 native audio"),
        (
            "projects/p/locations/us-central1/publishers/google/models/gemini-live-2.5-flash-preview-native-audio",
            "gemini-2.5 native audio",
        ),
        ("gemini-live-2.5-flash-preview", "half-cascade"),
        ("gemini-2.0-flash-live-001", "half-cascade"),
        ("publishers/google/models/gemini-2.0-flash-live-preview-04-09", "half-cascade"),
        ("gemini-3.5-transcribe-live", "gemini-3.5-transcribe-live"),
        ("gemini-3.5-live-translate-preview", "gemini-3.5-live-translate"),
    ],
)
def test_a_family_is_found_whatever_stands_before_and_after_its_name(model: str, family: str) -> None:
    profile = find(model)
    assert profile.known
    assert profile.family == family


def test_an_unknown_model_is_permitted_everything_that_its_api_takes() -> None:
    profile = find("gemini-9-live")
    assert not profile.known
    assert "refused" not in {
        profile.blocking,
        profile.non_blocking,
        profile.scheduling,
        profile.thinking_level,
    }
    assert profile.modalities == {"AUDIO", "TEXT", "VIDEO"}
    assert not profile.input_block


def test_what_belongs_to_one_api_only_is_told_apart() -> None:
    developer, vertex = find("gemini-3.8-live"), find("gemini-3.8-live", vertex=True)
    assert (developer.transparent, vertex.transparent) == ("refused", "honoured")
    assert (developer.avatar, vertex.avatar) == ("refused", "honoured")
    assert "VIDEO" in vertex.modalities - developer.modalities
    assert developer.turn_coverages - vertex.turn_coverages == {"TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"}


def test_asynchronous_calls_are_those_of_3_8_and_of_2_5_on_the_gemini_api() -> None:
    assert find("gemini-3.8-live").non_blocking == "honoured"
    assert find("gemini-3.8-live").default_behavior == "NON_BLOCKING"
    assert find("gemini-2.5-flash-native-audio-latest").non_blocking == "honoured"
    assert find("gemini-live-2.5-flash-native-audio", vertex=True).non_blocking == "ignored"
    assert find("gemini-3.1-flash-live-preview").non_blocking == "ignored"
    assert find("gemini-3.8-live-extended-thinking").blocking == "refused"


def test_half_cascade_on_vertex_ends_its_turn_at_a_call() -> None:
    assert find("gemini-live-2.5-flash", vertex=True).call_ends_turn
    assert not find("gemini-live-2.5-flash-preview").call_ends_turn


def test_there_are_thirty_voices_and_eight_of_them_speak_half_cascade() -> None:
    assert len(VOICES) == 30
    assert len(HALF_CASCADE_VOICES) == 8


def test_a_profile_of_ones_own_is_made_from_another() -> None:
    mine = dataclasses.replace(find("gemini-3.8-live"), input_block=True)
    assert mine.input_block
    assert mine.needs_role
    assert ModelProfile(input_block=True).known


@pytest.mark.parametrize("vertex", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        "gemini-3.8-live",
        "gemini-3.8-live-extended-thinking",
        "gemini-3.1-flash-live-preview",
        "gemini-2.5-flash-native-audio-latest",
        "gemini-live-2.5-flash",
        "gemini-3.5-transcribe-live",
        "gemini-3.5-live-translate-preview",
        "gemini-9-live",
    ],
)
def test_no_profile_contradicts_itself(model: str, vertex: bool) -> None:
    profile = find(model, vertex=vertex)
    assert profile.vertex is vertex
    assert profile.default_modality in profile.modalities
    assert "honoured" in (profile.blocking, profile.non_blocking)
    if profile.blocking == "refused":
        assert profile.default_behavior == "NON_BLOCKING"
    if profile.non_blocking != "honoured":
        assert profile.default_behavior == "BLOCKING"
        assert profile.scheduling == "ignored"
        assert profile.will_continue == "ignored"
    assert not profile.idle_tools & profile.builtin_tools
    assert profile.input_block is (
        profile.input_while_blocked != "accepted" and not model.startswith("gemini-3.8")
    )
    assert profile.content_mid_session != "refused" or profile.text_channel == "realtime"
    assert profile.turn_coverages
    assert profile.voices <= VOICES
