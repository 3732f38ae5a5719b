"""The plan of a session: checked when it is made, and the setup that it comes to."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.errors import ConfigError
from livetools.setup.plan_fields import Plan


def plan(**fields: Any) -> Plan:
    return Plan(model="models/m", setup=fields.pop("setup", {"model": "models/m"}), **fields)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reply_format": "json"},
        {"reply_batching": "all"},
        {"response_key": "value"},
        {"lost_results": "keep"},
        {"tool_timeout": 0},
        {"tool_timeout": "60"},
        {"setup_timeout": -1.0},
        {"setup_timeout": None},
        {"stall_timeout": True},
        {"max_concurrency": 0},
        {"max_concurrency": 1.5},
        {"max_calls": -1},
    ],
)
def test_what_cannot_work_is_refused_by_its_name(wrong: dict[str, Any]) -> None:
    [name] = wrong
    with pytest.raises(ConfigError, match=f"{name}="):
        plan(**wrong)


def test_no_limit_is_said_with_none_and_no_calls_with_zero() -> None:
    assert plan(tool_timeout=None, max_concurrency=None, max_calls=0).max_calls == 0


def test_the_setup_shows_the_handle_beside_what_was_asked_for() -> None:
    one = plan(setup={"model": "m", "sessionResumption": {"transparent": True}})
    shown = one.setup_message("h1", fresh=False)["setup"]
    assert shown["sessionResumption"] == {"transparent": True, "handle": "h1"}
    assert one.setup["sessionResumption"] == {"transparent": True}, "the plan itself stays as it was"


def test_a_seed_is_announced_where_the_model_waits_for_it_and_never_with_a_handle() -> None:
    one = plan(seed="initial_history")
    announced = {"initialHistoryInClientContent": True}
    assert one.setup_message(None, fresh=True)["setup"]["historyConfig"] == announced
    assert "historyConfig" not in one.setup_message(None, fresh=False)["setup"]
    assert "historyConfig" not in one.setup_message("h1", fresh=True)["setup"]
    assert "historyConfig" not in plan().setup_message(None, fresh=True)["setup"]
