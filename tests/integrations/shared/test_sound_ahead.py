"""Sound may come a minute ahead of its time, and no more."""

from __future__ import annotations

from livetools.integrations.shared.sound_ahead import MAX_AHEAD, SoundAhead


def test_sound_in_its_own_time_is_allowed_for_ever() -> None:
    ahead = SoundAhead()
    assert all(ahead.allows(0.5, now=0.5 * n) for n in range(1000))


def test_a_minute_at_once_is_allowed_and_not_a_sample_more() -> None:
    ahead = SoundAhead()
    assert ahead.allows(MAX_AHEAD, now=100.0)
    assert not ahead.allows(0.02, now=100.0)


def test_what_was_not_allowed_is_not_counted() -> None:
    ahead = SoundAhead()
    assert not ahead.allows(MAX_AHEAD + 1, now=0.0)
    assert ahead.allows(MAX_AHEAD, now=0.0)


def test_a_silence_saves_nothing_for_later() -> None:
    ahead = SoundAhead()
    assert ahead.allows(1.0, now=0.0)
    assert not ahead.allows(MAX_AHEAD + 1, now=500.0)
