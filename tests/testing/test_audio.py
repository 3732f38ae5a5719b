"""Tones as long as the words."""

from __future__ import annotations

import array
import base64

import pytest

from livetools.testing import audio


def test_a_tone_lasts_as_long_as_it_says_and_is_quiet():
    pcm = audio.tone(0.5, rate=16000)
    assert audio.duration(pcm, 16000) == 0.5
    assert 0 < max(pcm) <= 255


def test_chunks_join_without_a_click():
    chunk = base64.b64decode(audio.tone_chunk())
    joined, whole = (array.array("h", pcm) for pcm in (chunk * 2, audio.tone(2 * audio.CHUNK_SECONDS)))
    assert max(abs(a - b) for a, b in zip(joined, whole, strict=True)) <= 1
    assert audio.duration_of_base64(len(audio.tone_chunk())) == pytest.approx(audio.CHUNK_SECONDS)


@pytest.mark.parametrize(("text", "seconds"), [("", 0.2), ("Hi.", 0.2), ("x" * 30, 2.0), ("x" * 31, 2.2)])
def test_words_take_a_fifteenth_of_a_second_a_letter_in_whole_chunks(text, seconds):
    assert audio.spoken_seconds(text) == pytest.approx(seconds)


def test_sound_is_cut_into_chunks_that_together_are_the_sound():
    pcm = bytes(range(256)) * 100
    chunks = [base64.b64decode(chunk) for chunk in audio.chunks(pcm)]
    assert b"".join(chunks) == pcm
    assert {len(chunk) for chunk in chunks[:-1]} == {9600}
