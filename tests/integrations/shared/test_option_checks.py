"""Checks of options; those of seconds, texts and functions are tested with the bridges that take them."""

from __future__ import annotations

import pytest

from livetools import ConfigError
from livetools.integrations.shared.option_checks import checked_secret


@pytest.mark.parametrize("value", ["", " ", "\n\t", 7, b"secret", True])
def test_what_is_no_secret_is_refused_by_the_name_of_its_option(value):
    with pytest.raises(ConfigError, match="auth_token"):
        checked_secret(value, "auth_token")


@pytest.mark.parametrize("value", [None, "s", " spaced secret "])
def test_a_secret_is_taken_as_it_is(value):
    assert checked_secret(value, "auth_token") == value
