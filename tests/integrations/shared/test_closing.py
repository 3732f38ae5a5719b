"""The reason of a close frame."""

from __future__ import annotations

from livetools.integrations.shared.closing import MAX_REASON, close_reason


def test_a_reason_is_one_line() -> None:
    assert close_reason("the call\n  was\trefused ") == "the call was refused"


def test_a_long_reason_is_cut_between_two_characters() -> None:
    reason = close_reason("é" * MAX_REASON)
    assert reason == "é" * (MAX_REASON // 2)


def test_half_a_character_is_replaced() -> None:
    assert close_reason("\ud800") == "?"
