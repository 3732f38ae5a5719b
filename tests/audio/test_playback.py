"""What waits to be heard, and what an interruption throws away."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.waiting import everybody_waits

from livetools.audio import Playback
from livetools.testing import FakeClock

pytestmark = pytest.mark.anyio

SECOND = 48000  # bytes at 24 kHz


def test_what_is_written_is_taken_in_order_and_nothing_is_made_up():
    playback = Playback()
    playback.write(b"abcd")
    playback.write(b"efgh")
    assert playback.take(6) == b"abcdef"
    assert playback.take(6) == b"gh"
    assert playback.take(6) == b""


def test_an_interruption_empties_it_and_says_how_much_was_not_heard():
    playback = Playback()
    playback.write(bytes(2 * SECOND))
    playback.take(SECOND // 2)
    assert playback.flush() == 1.5
    assert (playback.waiting, playback.played) == (0.0, 0.5)
    assert playback.take(100) == b""


def test_a_second_interruption_throws_nothing_away():
    playback = Playback()
    playback.write(bytes(SECOND))
    playback.flush()
    assert playback.flush() == 0.0


def test_what_is_said_after_an_interruption_is_heard():
    playback = Playback()
    playback.write(bytes(SECOND))
    playback.flush()
    playback.write(b"next")
    assert playback.take(100) == b"next"


def test_past_its_limit_the_oldest_goes_and_is_counted():
    playback = Playback(limit=1.0)
    playback.write(b"old!" * (SECOND // 4))
    playback.write(b"new!" * (SECOND // 8))
    assert (playback.waiting, playback.dropped) == (1.0, 0.5)
    assert playback.take(2 * SECOND) == b"old!" * (SECOND // 8) + b"new!" * (SECOND // 8)
    assert playback.played == 1.0


def test_a_chunk_cut_in_the_middle_of_a_sample_waits_for_the_rest():
    playback = Playback()
    playback.write(b"abc")
    assert playback.take(10) == b"ab"
    playback.write(b"d")
    assert playback.take(10) == b"cd"


def test_an_interruption_forgets_half_a_sample_too():
    playback = Playback()
    playback.write(b"abc")
    playback.flush()
    playback.write(b"xy")
    assert playback.take(10) == b"xy"


def test_another_rate_is_resampled_to_the_last_sample():
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    playback = Playback(48000)
    playback.write(bytes(SECOND), 24000)
    assert playback.waiting < 1.0
    playback.finish()
    assert playback.waiting == pytest.approx(1.0, abs=0.001)


def test_an_interruption_forgets_what_the_resampler_holds_back():
    pytest.importorskip("soxr", reason="resampling needs soxr (extra [voice])")
    playback = Playback(48000)
    playback.write(bytes(SECOND), 24000)
    playback.flush()
    playback.finish()
    assert playback.waiting == 0.0


async def test_drained_returns_when_the_last_byte_was_taken():
    clock = FakeClock()
    playback = Playback(clock=clock)
    playback.write(bytes(SECOND))
    ended = []

    async def wait() -> None:
        await playback.drained()
        ended.append(clock.now())

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await everybody_waits()
        playback.take(SECOND // 2)
        clock.advance(1.0)  # as long as it should have taken, but the card is behind
        await everybody_waits()
        assert not ended
        playback.take(SECOND)
        clock.advance(0.5)
    assert ended == [1.5]


async def test_an_empty_playback_is_drained_at_once():
    await Playback(clock=FakeClock()).drained()


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.one_of(st.binary(max_size=9), st.integers(0, 9), st.none()), max_size=40))
def test_every_byte_is_played_or_thrown_away_or_dropped_or_waits(steps):
    """Written bytes, a number to take, or an interruption, in any order; rates such that a byte is exact."""
    playback = Playback(rate=1, limit=10)  # 20 bytes
    written = thrown = 0
    for step in steps:
        if isinstance(step, bytes):
            playback.write(step + step)
            written += 2 * len(step)
        elif step is None:
            thrown += int(playback.flush()) * 2
        else:
            taken = playback.take(step)
            assert len(taken) <= step
            assert len(taken) % 2 == 0
        assert playback.waiting <= 10
        assert written == thrown + 2 * (playback.played + playback.dropped + playback.waiting)
