"""How a turn looks on the wire: its pieces, its sound, and what the model sees of the conversation."""

from __future__ import annotations

import array
import base64
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.setup.model_profiles import find
from livetools.testing import FakeLiveServer
from livetools.testing.messages import output
from livetools.testing.messages.output import History, compression


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text):
    pieces = output.pieces(text)
    assert "".join(pieces) == text
    assert all(pieces)


@given(st.text(min_size=1), st.booleans())
def test_a_transcript_is_complete_however_short_the_sound(text, short):
    setup = {"outputAudioTranscription": {}}
    audio = bytes(96) if short else None
    contents = [
        each["serverContent"]
        for each in output.messages(setup, find("gemini-2.5-flash-native-audio"), text, audio)
    ]
    words = [
        content["outputTranscription"]["text"] for content in contents if "outputTranscription" in content
    ]
    assert "".join(words) == text
    assert "inlineData" in contents[0]["modelTurn"]["parts"][0]


def test_the_modality_is_the_setups_or_the_models_own():
    assert output.modality({}, find("gemini-3.8-live")) == "AUDIO"
    assert output.modality({}, find("gemini-3.5-transcribe-live")) == "TEXT"
    assert output.modality({"generationConfig": {"responseModalities": ["TEXT"]}}, find("x")) == "TEXT"


def test_vertex_says_less_of_the_sound_and_more_of_the_role():
    (message,) = output.messages({}, find("gemini-3.8-live", vertex=True), "Hi.", None)
    turn = message["serverContent"]["modelTurn"]
    assert (turn["role"], turn["parts"][0]["inlineData"]["mimeType"]) == ("model", "audio/pcm")


# -- sound


def test_a_tone_lasts_as_long_as_it_says_and_is_quiet():
    pcm = output.tone(0.5, rate=16000)
    assert output.duration(pcm, 16000) == 0.5
    assert 0 < max(pcm) <= 255


def test_chunks_join_without_a_click():
    chunk = base64.b64decode(output.tone_chunk())
    joined, whole = (array.array("h", pcm) for pcm in (chunk * 2, output.tone(2 * output.CHUNK_SECONDS)))
    assert max(abs(a - b) for a, b in zip(joined, whole, strict=True)) <= 1
    assert output.duration_of_base64(len(output.tone_chunk())) == pytest.approx(output.CHUNK_SECONDS)


@pytest.mark.parametrize(("text", "seconds"), [("", 0.2), ("Hi.", 0.2), ("x" * 30, 2.0), ("x" * 31, 2.2)])
def test_words_take_a_fifteenth_of_a_second_a_letter_in_whole_chunks(text, seconds):
    assert output.spoken_seconds(text) == pytest.approx(seconds)


def test_sound_is_cut_into_chunks_that_together_are_the_sound():
    pcm = bytes(range(256)) * 100
    chunks = [base64.b64decode(chunk) for chunk in output.chunks(pcm)]
    assert b"".join(chunks) == pcm
    assert {len(chunk) for chunk in chunks[:-1]} == {9600}


# -- the conversation

LIVE = find("gemini-3.8-live")


def content(role, text):
    return {"role": role, "parts": [{"text": text}]}


def history(*sizes):
    made = History()
    for n, size in enumerate(sizes):
        made.append(content("user" if n % 2 == 0 else "model", "x" * size))
    return made


def test_the_window_slides_to_its_target_and_begins_with_a_user_turn():
    talk = history(400, 400, 400, 400)
    before = talk.tokens()
    talk.slide(before, 10)
    assert talk.tokens() == before  # not beyond the trigger
    talk.slide(before - 1, before * 3 // 4)
    assert talk.tokens() == pytest.approx(before / 2, abs=1)  # the model's turn went with the user's
    assert len(talk) == 4  # what was said is still known


def test_the_answer_to_a_call_opens_no_window():
    talk = history(400, 400)
    talk.append({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]})
    talk.append(content("model", "done"))
    talk.append(content("user", "thanks"))
    talk.slide(10, 100)
    last = History()
    last.append(content("user", "thanks"))
    assert talk.tokens() == last.tokens()


@settings(derandomize=True, deadline=None, max_examples=80)
@given(
    st.lists(st.integers(0, 200), max_size=12), st.integers(0, 400), st.integers(0, 400), st.integers(0, 12)
)
def test_a_resumption_after_compression_counts_what_is_left(sizes, trigger, target, after):
    talk = history(*sizes)
    talk.slide(trigger, target)
    assert talk.tokens() <= max(trigger, target, 1)
    kept = talk.tokens()
    talk.forget(after)
    assert 1 <= talk.tokens() <= kept
    assert list(talk) == list(history(*sizes))[:after]


@pytest.mark.parametrize(
    ("asked", "bounds"),
    [
        (None, None),
        ({}, None),  # no mechanism was named
        ({"slidingWindow": {}}, (104857, 52428)),
        ({"slidingWindow": {"targetTokens": "100"}, "triggerTokens": "1000"}, (1000, 100)),
        ({"slidingWindow": {}, "triggerTokens": 1000}, (1000, 500)),
    ],
)
def test_by_default_the_window_slides_at_80_percent_to_half_of_that(asked, bounds):
    setup = {} if asked is None else {"contextWindowCompression": asked}
    assert compression(setup, LIVE) == bounds


@pytest.mark.anyio
async def test_the_prompts_tokens_fall_once_the_window_slides(dial):
    asked = {"triggerTokens": "120", "slidingWindow": {"targetTokens": "60"}}
    async with FakeLiveServer() as server, dial(server, contextWindowCompression=asked) as client:
        counts = []
        for _ in range(6):
            await client.say("Some words to count.")
            usage = (await client.until("turnComplete"))[-1]["usageMetadata"]
            counts.append(usage["promptTokenCount"])
    assert max(counts) <= 120
    assert any(later < earlier for earlier, later in itertools.pairwise(counts))
