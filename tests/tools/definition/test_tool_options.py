"""The options of a tool, checked where they are given."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import pytest

from livetools.errors import ToolDefinitionError
from livetools.tools import Tool, ToolOptions
from livetools.tools.definition.tool_options import DEFAULTS, resolve


def f() -> None: ...


@pytest.mark.parametrize("given", ["non_blocking", "NON_BLOCKING", "Non-Blocking"])
def test_behavior_is_taken_in_any_case(given: str) -> None:
    assert Tool(f, behavior=given).options["behavior"] == "NON_BLOCKING"


def test_google_genai_enums_are_taken() -> None:
    from google.genai import types

    options = Tool(
        f, behavior=types.Behavior.BLOCKING, scheduling=types.FunctionResponseScheduling.WHEN_IDLE
    ).options
    assert (options["behavior"], options["scheduling"]) == ("BLOCKING", "WHEN_IDLE")
    assert Tool(f, behavior=types.Behavior.UNSPECIFIED).options["behavior"] is None


def test_every_option_has_a_default_but_those_that_come_from_elsewhere() -> None:
    assert ToolOptions.__annotations__.keys() - DEFAULTS.keys() == {"name", "description", "timeout"}
    assert Tool(f).options == DEFAULTS
    assert "timeout" not in Tool(f).options
    assert Tool(f, timeout=None).options["timeout"] is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"behaviour": "blocking"}, "no such option: behaviour. The options are name, description, behavior"),
        ({"behavior": "later"}, "behavior='later' should be one of blocking, non_blocking, background"),
        ({"scheduling": 5}, "scheduling=5 should be one of interrupt, when_idle, silent"),
        ({"timeout": 0}, "timeout=0 should be a number of seconds above 0, or None"),
        ({"timeout": True}, "timeout=True"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"concurrency": 1.5}, "concurrency=1.5 should be a whole number above 0"),
        ({"cancellable": 1}, "cancellable=1 should be True or False"),
        ({"undo": "f"}, "undo='f' should be a callable"),
        ({"approval": "yes"}, "approval='yes' should be True, False or a callable"),
        ({"approval_timeout": -1}, "approval_timeout=-1"),
        ({"duplicates": "merge"}, "duplicates='merge' should be 'run' or 'join'"),
        ({"executor": 4}, "executor=4 should be a concurrent.futures.Executor"),
        ({"executor": Executor()}, "should be a concurrent.futures.Executor, with submit()"),
        ({"max_result_bytes": 0}, "max_result_bytes=0"),
        ({"name": 5}, "name=5 should be a string"),
    ],
)
def test_a_wrong_option_is_named_with_its_place(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        Tool(f, **options)
    assert text in str(caught.value)
    assert "test_tool_options.py" in str(caught.value)


def test_what_is_right_passes_as_it_is() -> None:
    with ThreadPoolExecutor(1) as pool:
        given = {"timeout": 1.5, "executor": pool, "approval": bool, "undo": print, "duplicates": "join"}
        assert resolve(given, "here") == given
