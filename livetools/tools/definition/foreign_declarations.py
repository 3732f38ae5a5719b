"""Reads other libraries' function declarations: google-genai's type; Gemini's, OpenAI's, Anthropic's and MCP's dicts.

google-genai is not imported: its type is recognised by its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livetools.errors import ToolDefinitionError

_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema", "inputSchema")


def declaration_of(target: Any) -> dict[str, Any] | None:
    """A declaration in any shape as ``{"name", "description", "behavior", "parameters"}``; ``None`` for anything else.

    ``parameters`` is JSON Schema or a schema in the OpenAPI subset, or ``None``. Raises
    ``ToolDefinitionError`` for a dict that is not a declaration.
    """
    if isinstance(target, Mapping):
        found = _from_dict(target)
        if found is None:
            raise ToolDefinitionError(
                f"a dict with the keys {', '.join(map(str, target))} is not a function declaration: that has a "
                "name, a description and parameters, as in OpenAI's {'type': 'function', 'function': {...}}"
            )
        return found
    if is_declaration(target):
        return _from_dict(target.model_dump(exclude_none=True, mode="json", by_alias=True))
    return None


def is_declaration(target: object) -> bool:
    """Whether this is google-genai's ``FunctionDeclaration``."""
    return "parameters_json_schema" in getattr(type(target), "model_fields", ())


def _from_dict(target: Mapping[str, Any]) -> dict[str, Any] | None:
    function = target.get("function")
    if isinstance(function, Mapping):
        target = function
    name = target.get("name")
    if not isinstance(name, str):
        return None
    given = [target[key] for key in _SCHEMAS if target.get(key) is not None]
    if any(not isinstance(schema, Mapping) for schema in given):
        raise ToolDefinitionError(f"the parameters of {name!r} are not a JSON object")
    return {
        "name": name,
        "description": target.get("description"),
        "behavior": target.get("behavior"),
        "parameters": given[0] if given else None,
    }
