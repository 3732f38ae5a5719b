"""An agent is data: what it is given stays as it was."""

from __future__ import annotations

import dataclasses
import re

import pytest

from livetools import Agent, ConfigError, ToolResult


def bill() -> str:
    """The bill."""
    return "12 €"


def test_an_agent_keeps_its_own_list_of_tools_and_does_not_change() -> None:
    tools = [bill]
    agent = Agent("You are billing.", tools, name="billing")
    tools.clear()
    assert agent.tools == (bill,)
    with pytest.raises(dataclasses.FrozenInstanceError):
        agent.name = "sales"  # type: ignore[misc]


def test_what_is_left_out_is_none() -> None:
    agent = Agent()
    assert (agent.instructions, agent.tools, agent.name) == (None, None, None)


@pytest.mark.parametrize("tools", [bill, "bill", {"name": "bill"}, 3])
def test_tools_are_a_list(tools: object) -> None:
    with pytest.raises(ConfigError, match=re.escape("tools=[...]")):
        Agent(tools=tools)  # type: ignore[arg-type]


def test_a_name_is_a_string() -> None:
    with pytest.raises(ConfigError, match="a string is expected"):
        Agent(name=3)  # type: ignore[arg-type]


def test_a_result_hands_over_to_an_agent_and_to_nothing_else() -> None:
    agent = Agent("You are billing.")
    assert ToolResult("done", handoff=agent).handoff is agent
    with pytest.raises(TypeError, match="an Agent"):
        ToolResult("done", handoff="billing")  # type: ignore[arg-type]
