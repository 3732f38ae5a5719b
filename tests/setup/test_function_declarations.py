"""Names, numbers and shapes of declarations, by the service's rules."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from livetools.errors import ConfigError, ToolDefinitionError
from livetools.setup.function_declarations import builtin, check, declaration, name
from livetools.setup.plan_fields import CallPolicy, ToolSpec


@pytest.mark.parametrize("given", ["", "1st", "two words", "größe", "x" * 65, "f\n", None, 7])
def test_a_name_that_the_service_refuses_is_refused_with_its_rule(given: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="at most 64"):
        check([ToolSpec({"name": given})])


@pytest.mark.parametrize("given", ["_x", "get-weather", "a.b:c", "x" * 64])
def test_a_name_that_the_service_takes_is_taken(given: str) -> None:
    check([ToolSpec({"name": given})])
    assert name(ToolSpec({"name": given})) == given


def test_two_tools_of_one_name_are_both_named() -> None:
    tools = [
        ToolSpec({"name": "f"}, source="a.py:f"),
        ToolSpec({"name": "g"}),
        ToolSpec({"name": "f", "description": "Another.\nAnd more."}),
    ]
    with pytest.raises(ToolDefinitionError, match=r"number 1 \(a\.py:f\) and number 3 \(Another\.\)"):
        check(tools)


def test_more_than_512_declarations_are_too_many() -> None:
    tools = [ToolSpec({"name": f"f{n}"}) for n in range(513)]
    check(tools[:512])
    with pytest.raises(ConfigError, match="513 tools"):
        check(tools)


def test_two_schemas_for_one_thing_exclude_each_other() -> None:
    for wrong in ({"parameters": {}, "parametersJsonSchema": {}}, {"response": {}, "responseJsonSchema": {}}):
        with pytest.raises(ToolDefinitionError, match="exclude each other"):
            check([ToolSpec({"name": "f", **wrong})])


def test_behavior_is_said_by_the_policy_alone() -> None:
    tool = ToolSpec({"name": "f", "behavior": "NON_BLOCKING"})
    assert declaration(tool, CallPolicy("f")) == {"name": "f"}
    assert declaration(tool, CallPolicy("f", states_behavior=True)) == {"name": "f", "behavior": "BLOCKING"}


@pytest.mark.parametrize("empty", [{}, {"type": "OBJECT", "properties": {}}, {"type": "object"}])
def test_an_empty_object_of_parameters_is_left_out(empty: dict[str, Any]) -> None:
    assert declaration(ToolSpec({"name": "f", "parameters": empty}), CallPolicy("f")) == {"name": "f"}


def test_what_the_service_runs_itself_is_read_from_a_config() -> None:
    search = types.Tool(google_search=types.GoogleSearch())
    assert builtin([search, {"url_context": {}}]) == [{"googleSearch": {}}, {"urlContext": {}}]
    assert builtin(None) == []
    with pytest.raises(ConfigError, match=r"tools=\[\.\.\.\]"):
        builtin([print])


@pytest.mark.parametrize(
    "entry", [{"google_serch": {}}, {"google_search": {"max": 3}}, {"codeExecution": {"language": "PYTHON"}}]
)
def test_an_entry_or_a_field_of_it_that_the_service_does_not_know_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config\.tools(\.\w+)? has no field"):
        builtin([entry])
