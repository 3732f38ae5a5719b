"""How long things last."""

from __future__ import annotations

import pytest

from livetools.testing import Limits


@pytest.mark.parametrize(("vertex", "left", "hours"), [(False, 50.0, 2), (True, 30.0, 24)])
def test_each_endpoint_has_times_of_its_own(vertex, left, hours):
    assert Limits().left(vertex=vertex) == left
    assert Limits().keeps(vertex=vertex) == hours * 3600


def test_what_is_set_holds_for_both():
    limits = Limits(time_left=1.0, handle=0.0)
    assert {limits.left(vertex=vertex) for vertex in (True, False)} == {1.0}
    assert {limits.keeps(vertex=vertex) for vertex in (True, False)} == {0.0}
