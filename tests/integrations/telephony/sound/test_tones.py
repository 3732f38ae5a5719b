"""Tones of a keypad, made and heard again, and the sound for one who waits."""

from __future__ import annotations

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from livetools import ConfigError
from livetools.integrations.telephony.sound.codec import PCMA, PCMU
from livetools.integrations.telephony.sound.tones import checked_keys, hold_sound, keypad, keys_in

KEYS = "0123456789*#ABCD"
RATES = (8000, 16000, 24000)


@given(some.text(KEYS, min_size=1, max_size=12), some.sampled_from(RATES))
def test_every_key_is_heard_again_at_every_rate(keys: str, rate: int) -> None:
    assert keys_in(keypad(keys, rate), rate) == keys


@pytest.mark.parametrize("law", [PCMU, PCMA])
def test_the_laws_of_telephones_leave_the_tones_readable(law) -> None:
    assert keys_in(law.decode(law.encode(keypad(KEYS, 8000))), 8000) == KEYS


def test_a_key_lasts_two_tenths_of_a_second_and_w_is_half_a_second_of_silence() -> None:
    assert len(keypad("12", 8000)) == 2 * 2 * 1600
    assert keypad("w", 8000) == bytes(2 * 4000)


def test_two_tones_have_the_frequencies_of_the_standard() -> None:
    tone = array("h", keypad("5", 8000))[:800]
    ups = sum(a < 0 <= b for a, b in pairwise(tone))
    assert 770 <= ups * 10 <= 1336


@pytest.mark.parametrize("keys", ["", "1" * 65, "E", "1 2", "+47"])
def test_what_no_phone_has_is_refused(keys: str) -> None:
    with pytest.raises(ConfigError, match="keys are"):
        checked_keys(keys)


@pytest.mark.parametrize("rate", RATES)
def test_the_sound_for_one_who_waits_is_soft_ends_in_silence_and_presses_no_key(rate: int) -> None:
    sound = array("h", hold_sound(rate))
    assert len(sound) == 2 * rate
    assert 500 < max(sound) < 3000
    assert not any(sound[-rate // 2 :])
    assert keys_in(sound.tobytes(), rate) == ""
    assert max(abs(a - b) for a, b in pairwise(sound)) < 700, "it does not click"


def test_speech_and_silence_press_no_key() -> None:
    assert keys_in(bytes(16000), 8000) == ""
    assert keys_in(array("h", [(n * 7919) % 20001 - 10000 for n in range(8000)]).tobytes(), 8000) == ""
