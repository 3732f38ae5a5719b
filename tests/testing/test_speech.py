"""How an utterance is cut into messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from livetools.protocol.profiles import find
from livetools.testing import speech


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text):
    pieces = speech.pieces(text)
    assert "".join(pieces) == text
    assert all(pieces)


@given(st.text(min_size=1), st.booleans())
def test_a_transcript_is_complete_however_short_the_sound(text, short):
    setup = {"outputAudioTranscription": {}}
    audio = bytes(96) if short else None
    contents = [
        each["serverContent"]
        for each in speech.messages(setup, find("gemini-2.5-flash-native-audio"), text, audio)
    ]
    words = [
        content["outputTranscription"]["text"] for content in contents if "outputTranscription" in content
    ]
    assert "".join(words) == text
    assert "inlineData" in contents[0]["modelTurn"]["parts"][0]


def test_the_modality_is_the_setups_or_the_models_own():
    assert speech.modality({}, find("gemini-3.8-live")) == "AUDIO"
    assert speech.modality({}, find("gemini-3.5-transcribe-live")) == "TEXT"
    assert speech.modality({"generationConfig": {"responseModalities": ["TEXT"]}}, find("x")) == "TEXT"


def test_vertex_says_less_of_the_sound_and_more_of_the_role():
    (message,) = speech.messages({}, find("gemini-3.8-live", vertex=True), "Hi.", None)
    turn = message["serverContent"]["modelTurn"]
    assert (turn["role"], turn["parts"][0]["inlineData"]["mimeType"]) == ("model", "audio/pcm")
