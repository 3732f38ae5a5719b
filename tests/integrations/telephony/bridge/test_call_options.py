"""The options of a call, in their two shapes."""

from __future__ import annotations

import dataclasses

import pytest

from livetools import ConfigError
from livetools.integrations.telephony.bridge.call_options import CallOptions, Options, options_of


def test_both_shapes_have_the_same_options() -> None:
    assert set(CallOptions.__annotations__) == {field.name for field in dataclasses.fields(Options)}


def test_none_is_the_default_where_there_is_one_and_no_bound_elsewhere() -> None:
    options = options_of({"drain": None, "clock": None, "max_sessions": None})
    assert options.drain is not None
    assert options.clock is not None
    assert options.max_sessions is None
    assert options_of({}).max_sessions == 100


def test_a_bound_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_sessions"):
        options_of({"max_sessions": 0})


@pytest.mark.parametrize(
    "option",
    [{"idle": -1}, {"idle": "soon"}, {"greeting": 5}, {"on_end": 5}, {"deps": {}}, {"stores": "x"}],
    ids=str,
)
def test_an_option_of_the_wrong_kind_is_refused_when_the_call_begins(option) -> None:
    with pytest.raises(ConfigError, match=next(iter(option))):
        options_of(option)
