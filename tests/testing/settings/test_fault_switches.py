"""The switches of misbehaviour: read from a command line, drawn from a seed."""

from __future__ import annotations

import random

import pytest

from livetools import ConfigError
from livetools.testing import Faults


def test_the_same_seed_draws_the_same_faults():
    faults = Faults(drop=0.2, garbage=0.3)
    drawn = [[faults.draw(chance) for _ in range(50)] for chance in (random.Random(1), random.Random(1))]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"drop", "garbage", None}


def test_switches_are_read_from_a_command_line():
    assert Faults.parse(["drop=0.1", "never-setup", "flapping=3"]) == Faults(
        drop=0.1, never_setup=True, flapping=3
    )
    with pytest.raises(ValueError, match="no fault is called 'dorp'; there are drop, half_frame"):
        Faults.parse(["dorp"])
    assert Faults.parse(["flapping=0", "early-content=0", "slow-pong = 0.5", "drop=1"]) == Faults(
        slow_pong=0.5, drop=1.0
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "drop=much",
            "fault drop takes a share of the frames, from 0 to 1, such as 0.01; got 'much'",
        ),
        ("drop=2", "fault drop takes a share of the frames.*got '2'"),
        ("half-frame=-0.1", "fault half_frame takes a share"),
        ("garbage=nan", "fault garbage takes a share"),
        ("drop", "fault drop takes a share of the frames.*no value was given"),
        ("drop=", "fault drop takes a share of the frames.*got ''"),
        ("flapping=1.5", "fault flapping takes a number of connections"),
        ("flapping", "fault flapping takes a number of connections.*no value was given"),
        ("flapping=-1", "fault flapping takes a number of connections"),
        ("slow-pong=inf", "fault slow_pong takes a time in seconds"),
        ("slow-pong", "fault slow_pong takes a time in seconds.*no value was given"),
        ("never-setup=2", "fault never_setup takes nothing, or 0 or 1"),
    ],
)
def test_a_value_that_a_switch_does_not_take_is_told_with_what_it_takes(text, told):
    with pytest.raises(ValueError, match=told):
        Faults.parse([text])


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("drop", 5, "drop=5: expected a share of the frames, from 0 to 1"),
        ("garbage", -0.1, "garbage=-0.1: expected a share"),
        ("reorder", float("nan"), "reorder=nan: expected a share"),
        ("text_frame", "0.5", "text_frame='0.5': expected a share"),
        ("stall", True, "stall=True: expected a share"),
        ("oversize", None, "oversize=None: expected a share"),
        ("never_setup", "no", "never_setup='no': expected nothing, or 0 or 1"),
        ("flapping", 1.5, "flapping=1.5: expected a number of connections"),
        ("slow_pong", float("inf"), "slow_pong=inf: expected a time in seconds"),
    ],
)
def test_a_value_that_a_switch_does_not_take_is_refused_when_it_is_given_and_when_it_is_set(
    name, value, told
):
    with pytest.raises(ConfigError, match=told):
        Faults(**{name: value})
    faults = Faults()
    with pytest.raises(ConfigError, match=told):
        setattr(faults, name, value)
    assert faults == Faults()


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [
        ("seed", "use FakeLiveServer(seed=)"),
        ("garbag", "did you mean garbage="),
        ("dead_letters", "its options are drop, half_frame, stall"),
    ],
)
def test_a_switch_that_there_is_not_is_an_error_that_names_what_there_is(keyword, hint):
    with pytest.raises(
        TypeError, match=rf"Faults\(\) got an unexpected keyword argument '{keyword}'"
    ) as error:
        Faults(**{keyword: 1})
    assert isinstance(error.value, ConfigError)
    assert hint in str(error.value)
