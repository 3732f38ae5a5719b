"""How many sessions a relay keeps."""

from __future__ import annotations

import pytest

from livetools import ConfigError
from livetools.integrations.shared.places import Places


def test_one_caller_has_no_more_places_than_its_share_and_takes_none_of_the_others():
    places = Places(10, 2)
    mine = [places.take("ann"), places.take("ann")]
    assert all(mine)
    assert places.take("ann") is None
    assert places.take("bob") is not None
    mine[0].leave()
    assert places.take("ann") is not None


def test_past_the_bound_of_all_nobody_has_a_place():
    places = Places(2, None)
    first = places.take("ann")
    assert places.take(None)
    assert places.take("bob") is None
    first.leave()
    assert places.take("bob")


def test_callers_who_are_not_told_apart_share_the_bound_of_all():
    places = Places(3, 1)
    assert all(places.take(None) for _ in range(3))
    assert places.take(None) is None


def test_a_place_is_given_back_once():
    places = Places(2, None)
    place = places.take("ann")
    place.leave()
    place.leave()
    assert [bool(places.take("ann")) for _ in range(3)] == [True, True, False]


def test_without_a_bound_there_is_always_a_place():
    places = Places(None, None)
    assert all(places.take("ann") for _ in range(1000))


@pytest.mark.parametrize("bound", [0, -1, True, 2.5, "4"])
@pytest.mark.parametrize("name", ["max_sessions", "max_per_caller"])
def test_a_bound_that_is_none_is_refused(bound, name):
    with pytest.raises(ConfigError, match=name):
        Places(bound if name == "max_sessions" else 1, bound if name == "max_per_caller" else 1)
