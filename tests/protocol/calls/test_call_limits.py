"""Which calls the plan lets a model make, and what it reads of the others."""

from __future__ import annotations

from support.answered import TIME, WEATHER, record, said
from support.driver import plan

from livetools.protocol.calls import call_limits
from livetools.setup.plan_fields import UNDECLARED


def test_what_the_plan_allows_is_not_refused() -> None:
    assert call_limits.by_plan(plan(WEATHER), record("get_weather")) is None


def test_an_unknown_name_is_told_the_real_ones_near_misses_first() -> None:
    text = said(call_limits.by_plan(plan(TIME, WEATHER), record("weather_get", policy=UNDECLARED)))
    assert text == "there is no function 'weather_get'; available: get_weather, get_time"


def test_without_any_function_that_is_said() -> None:
    assert said(call_limits.by_plan(plan(), record("f", policy=UNDECLARED))).endswith("none is available")


def test_what_may_not_be_called_now_is_told_what_may() -> None:
    narrow = plan(WEATHER, TIME, allowed=frozenset({"get_time"}))
    assert "allowed: get_time" in said(call_limits.by_plan(narrow, record("get_weather")))
    assert call_limits.by_plan(narrow, record("get_time", policy=TIME)) is None


def test_past_the_last_call_the_model_is_told_to_do_without() -> None:
    few = plan(WEATHER, max_calls=2)
    assert call_limits.by_plan(few, record("get_weather", run=2)) is None
    assert "allows 2. Answer with what you know" in said(
        call_limits.by_plan(few, record("get_weather", run=3))
    )
