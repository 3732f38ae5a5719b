"""How long things last."""

from __future__ import annotations

import math

import pytest

from livetools import ConfigError
from livetools.testing import Limits


@pytest.mark.parametrize(("vertex", "left", "hours"), [(False, 50.0, 2), (True, 30.0, 24)])
def test_each_endpoint_has_times_of_its_own(vertex, left, hours):
    assert Limits().left(vertex=vertex) == left
    assert Limits().keeps(vertex=vertex) == hours * 3600


def test_what_is_set_holds_for_both():
    limits = Limits(time_left=1.0, handle=0.0)
    assert {limits.left(vertex=vertex) for vertex in (True, False)} == {1.0}
    assert {limits.keeps(vertex=vertex) for vertex in (True, False)} == {0.0}


@pytest.mark.parametrize("name", ["go_away", "time_left", "handle", "idle"])
@pytest.mark.parametrize("value", [-1, -0.5, math.nan, "60", True, [1]])
def test_what_is_no_time_is_refused_when_it_is_given_and_when_it_is_set(name, value):
    with pytest.raises(ConfigError, match=rf"{name}=.*: expected a number of seconds from 0 on, or math.inf"):
        Limits(**{name: value})
    limits = Limits()
    with pytest.raises(ConfigError, match=f"{name}="):
        setattr(limits, name, value)
    assert limits == Limits()


def test_only_what_differs_between_the_endpoints_may_be_left_to_them():
    assert Limits(time_left=None, handle=None, idle=math.inf, go_away=0) == Limits(go_away=0.0)
    with pytest.raises(ConfigError, match="go_away=None: expected"):
        Limits(go_away=None)
