"""Checks of options; those of texts and functions are tested with the bridges that take them."""

from __future__ import annotations

import pytest

from livetools import ConfigError
from livetools.integrations.shared.option_checks import checked_seconds, checked_secret


@pytest.mark.parametrize("value", ["", " ", "\n\t", 7, b"secret", True])
def test_what_is_no_secret_is_refused_by_the_name_of_its_option(value):
    with pytest.raises(ConfigError, match="auth_token"):
        checked_secret(value, "auth_token")


@pytest.mark.parametrize("value", [None, "s", " spaced secret "])
def test_a_secret_is_taken_as_it_is(value):
    assert checked_secret(value, "auth_token") == value


@pytest.mark.parametrize("value", [-1, float("nan"), "10", True, [], None])
def test_what_is_no_number_of_seconds_is_refused_by_the_name_of_its_option(value):
    with pytest.raises(ConfigError, match=r"linger=.*from 0"):
        checked_seconds(value, "linger", zero=True)


def test_none_and_nought_are_seconds_where_they_mean_something():
    checked_seconds(None, "idle", optional=True)
    checked_seconds(0, "linger", zero=True)
    with pytest.raises(ConfigError, match="idle=0: expected a number of seconds above 0, or None"):
        checked_seconds(0, "idle", optional=True)
    with pytest.raises(ConfigError, match="lease=False"):
        checked_seconds(False, "lease", zero=True)
