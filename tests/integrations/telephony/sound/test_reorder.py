"""Sound in order, whatever the order it came in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from livetools.integrations.telephony.sound.reorder import MAX_HELD_FRAMES, Reorder


def sound(number: int) -> bytes:
    return bytes([number % 256])


def taken(*numbers: int | None) -> list[int]:
    order = Reorder()
    return [
        piece[0]
        for number in numbers
        for piece in order.take(number, sound(99 if number is None else number))
    ]


def test_what_is_in_order_passes_at_once() -> None:
    order = Reorder()
    assert [order.take(n, sound(n)) for n in (1, 2, 3)] == [[sound(1)], [sound(2)], [sound(3)]]


def test_neighbours_that_changed_places_change_back() -> None:
    assert taken(2, 1, 3, 5, 4) == [1, 2, 3, 4, 5]


def test_what_comes_twice_or_too_late_is_dropped() -> None:
    assert taken(1, 2, 2, 1, 3) == [1, 2, 3]


def test_what_is_missing_is_not_waited_for_for_long() -> None:
    late = range(3, 3 + MAX_HELD_FRAMES + 1)
    assert taken(1, *late) == [1, *late]
    assert taken(1, *late, 2) == [1, *late]


def test_frames_without_numbers_pass() -> None:
    assert taken(None, None) == [99, 99]


def test_counting_may_begin_at_nothing_or_far_away() -> None:
    assert taken(0, 1) == [0, 1]
    assert taken(*range(100, 110)) == list(range(100, 110))


@given(st.data())
def test_a_stream_whose_frames_stray_by_a_few_places_is_whole_and_in_order(data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, MAX_HELD_FRAMES - 1), min_size=1, max_size=60))
    shuffled = [n for _, n in sorted((n + stray, n) for n, stray in enumerate(places, 1))]
    made = taken(*shuffled)
    assert made == sorted(made)
    assert set(range(1, len(places) + 1 - MAX_HELD_FRAMES)) <= set(made)


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**12)), max_size=50))
def test_whatever_the_numbers_little_waits_and_nothing_is_played_twice(numbers: list[int | None]) -> None:
    order = Reorder()
    for number in numbers:
        order.take(number, b"x")
        assert len(order._waiting) <= MAX_HELD_FRAMES + 1
