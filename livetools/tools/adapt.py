"""Other people's shapes of a tool → ours: google-genai's types, and the dicts of OpenAI, Anthropic and MCP.

google-genai is never imported for it: its types are known by their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from livetools.protocol.errors import ConfigError, ToolDefinitionError

if TYPE_CHECKING:
    from .tool import Tool

SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema", "inputSchema")
DECLARATIONS = ("functionDeclarations", "function_declarations")


def declaration_of(target: Any) -> dict[str, Any] | None:
    """``{"name", "description", "behavior", "parameters"}`` of a declaration in any known shape, else
    ``None``.

    ``parameters`` is JSON Schema or a schema in the OpenAPI subset, or ``None``. Raises
    ``ToolDefinitionError`` for a dict that is no declaration.
    """
    if isinstance(target, Mapping):
        found = _from_dict(target)
        if found is None:
            raise ToolDefinitionError(
                f"a dict with the keys {', '.join(map(str, target))} is no function declaration: that has a "
                "name, a description and parameters, as in OpenAI's {'type': 'function', 'function': {...}}"
            )
        return found
    if _is_declaration(target):
        return _from_dict(target.model_dump(exclude_none=True, mode="json"))
    return None


def _is_declaration(target: object) -> bool:
    return (
        hasattr(target, "model_dump")
        and hasattr(target, "name")
        and hasattr(target, "parameters_json_schema")
    )


def _from_dict(target: Mapping[str, Any]) -> dict[str, Any] | None:
    function = target.get("function")
    if isinstance(function, Mapping):
        target = function
    name = target.get("name")
    if not isinstance(name, str):
        return None
    given = [target[key] for key in SCHEMAS if target.get(key) is not None]
    if any(not isinstance(schema, Mapping) for schema in given):
        raise ToolDefinitionError(f"the parameters of {name!r} are no JSON object")
    return {
        "name": name,
        "description": target.get("description"),
        "behavior": target.get("behavior"),
        "parameters": given[0] if given else None,
    }


def as_tools(items: Iterable[Any]) -> list[Tool]:
    """Everything that ``tools=`` takes, as :class:`Tool` objects: callables, ``Tool``, ``Toolset``,
    google-genai's ``Tool`` and ``FunctionDeclaration``, dicts in the shapes of Gemini, OpenAI, Anthropic and
    MCP; lists of those.

    Raises ``ConfigError`` for anything else, and for two tools of one name.
    """
    return distinct([tool for item in items for tool in _tools(item)])


def distinct(tools: list[Tool]) -> list[Tool]:
    """The tools, if no two have the same name. Raises ``ConfigError`` otherwise; the same tool twice is
    one.
    """
    by_name: dict[str, Tool] = {}
    for tool in tools:
        other = by_name.setdefault(tool.name, tool)
        if other is not tool and (other.handler is None or other.handler != tool.handler):
            raise ConfigError(
                f"two tools are called {tool.name!r}: {_place(other)} and {_place(tool)}. Give one another "
                "name: Tool(f, name=...), or Toolset(...).prefix('...')"
            )
    return list(by_name.values())


def _place(tool: Tool) -> str:
    from .annotations import place_of

    return place_of(tool.handler) if tool.handler is not None else "a declaration"


def _tools(item: Any) -> Iterator[Tool]:
    from .tool import Tool
    from .toolset import Toolset

    if isinstance(item, Tool):
        yield item
    elif isinstance(item, Toolset):
        yield from item
    elif (entry := _entry(item)) is not None:
        declarations, others = _split(entry)
        if others:
            raise ConfigError(
                f"{', '.join(others)} is a tool of the service's own: put it into config={{'tools': [...]}}"
            )
        yield from declarations
    elif isinstance(item, list | tuple):
        for inner in item:
            yield from _tools(inner)
    elif callable(item) or isinstance(item, Mapping) or _is_declaration(item):
        yield Tool(item)
    else:
        raise ConfigError(_advice(item))


def _advice(item: object) -> str:
    name = type(item).__name__
    if hasattr(item, "list_tools") or hasattr(item, "call_tool"):
        return f"a {name} speaks MCP: pass `await livetools.integrations.mcp.toolset(client)`"
    return (
        f"a {name} is no tool: pass functions, Tool(...), Toolset(...), google-genai's Tool or "
        "FunctionDeclaration, or dicts in OpenAI's shape"
    )


def _entry(item: Any) -> Mapping[str, Any] | None:
    """An entry of ``config.tools`` as a dict with its declarations as they are; ``None`` for anything
    else.
    """
    if isinstance(item, Mapping):
        is_entry = any(key in item for key in DECLARATIONS) or ("name" not in item and "function" not in item)
        return item if is_entry else None
    if hasattr(item, "function_declarations") and hasattr(item, "model_dump"):
        rest: dict[str, Any] = item.model_dump(
            exclude_none=True, mode="json", by_alias=True, exclude={"function_declarations"}
        )
        return rest | {DECLARATIONS[0]: item.function_declarations or []}
    return None


def _split(entry: Mapping[str, Any]) -> tuple[list[Tool], dict[str, Any]]:
    """The function declarations of an entry as tools, and what else it holds."""
    from .tool import Tool

    declarations = [d for key in DECLARATIONS for d in entry.get(key) or ()]
    others = {k: v for k, v in entry.items() if k not in DECLARATIONS and v is not None}
    return [Tool(d) for d in declarations], others


def split_config_tools(config_tools: Iterable[Any] | None) -> tuple[list[Tool], list[dict[str, Any]]]:
    """The ``tools`` of a ``LiveConnectConfig`` or its dict: functions and declarations as tools, and the
    entries of the service's own (``googleSearch``, ``codeExecution`` …) as dicts, in camelCase where they
    came as types.

    Raises ``ConfigError``.
    """
    tools: list[Tool] = []
    others: list[dict[str, Any]] = []
    for item in config_tools or ():
        entry = _entry(item)
        if entry is None:
            tools.extend(_tools(item))
        else:
            declared, rest = _split(entry)
            tools.extend(declared)
            if rest:
                others.append(rest)
    return distinct(tools), others
