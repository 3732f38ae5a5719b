"""Other people's shapes of a function declaration."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.errors import ToolDefinitionError
from livetools.tools.definition.foreign_declarations import declaration_of, is_declaration

SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"name": "f", "description": "d", "inputSchema": SCHEMA, "annotations": {}},
        {"name": "f", "description": "d", "parameters_json_schema": SCHEMA},
    ],
)
def test_name_description_and_schema_are_found(shape: dict[str, Any]) -> None:
    assert declaration_of(shape) == {"name": "f", "description": "d", "behavior": None, "parameters": SCHEMA}


def test_behavior_and_an_empty_declaration_are_kept() -> None:
    assert declaration_of({"name": "f", "behavior": "BLOCKING"}) == {
        "name": "f",
        "description": None,
        "behavior": "BLOCKING",
        "parameters": None,
    }


def test_a_callable_is_no_declaration() -> None:
    assert declaration_of(print) is None
    assert not is_declaration(print)


@pytest.mark.parametrize("shape", [{}, {"name": 5}, {"function": {"description": "d"}}])
def test_a_dict_that_is_none_is_refused(shape: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError, match="not a function declaration"):
        declaration_of(shape)
