"""Turns everything that ``tools=`` takes into :class:`Tool` objects."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from livetools.errors import ConfigError, ToolDefinitionError

from .definition.annotations import place_of
from .definition.foreign_declarations import is_declaration
from .tool import Tool
from .tool_cache import compiled

DECLARATIONS = ("functionDeclarations", "function_declarations")


def as_tools(items: Iterable[Any]) -> list[Tool]:
    """The tools in ``items``, in their order.

    An item is a callable, a ``Tool``, google-genai's ``Tool`` or ``FunctionDeclaration``, a dict in the shape
    of Gemini, OpenAI, Anthropic or MCP; or a ``Toolset``, a list or another iterable of those.

    Raises ``ConfigError`` for anything else, and for two tools of one name.
    """
    if callable(items) or isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise ConfigError(f"tools= takes a list, not a {type(items).__name__}: tools=[...]")
    return distinct([tool for item in items for tool in _tools(item)])


def distinct(tools: Iterable[Tool]) -> list[Tool]:
    """The tools; the same handler twice under one name is one. Raises ``ConfigError`` for two of one name."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        other = by_name.setdefault(tool.name, tool)
        if other is not tool and (other.handler is None or other.handler != tool.handler):
            raise ConfigError(
                f"two tools are called {tool.name!r}: {_place(other)} and {_place(tool)}. Give one another name: "
                "Tool(f, name='...') or Toolset(...).prefix('...')"
            )
    return list(by_name.values())


def _place(tool: Tool) -> str:
    return "the declaration" if tool.handler is None else place_of(tool.handler)


def _tools(item: Any) -> Iterator[Tool]:
    entry = _entry(item)
    if isinstance(item, Tool):
        yield item
    elif entry is not None:
        tools, others = _split(entry)
        if others:
            raise ConfigError(
                f"{', '.join(others)} is a tool of the service's own: put it into config={{'tools': [...]}}"
            )
        yield from tools
    elif isinstance(item, Mapping) or is_declaration(item):
        yield Tool(item)
    elif callable(item):
        yield compiled(item)
    elif isinstance(item, Iterable) and not isinstance(item, str | bytes):
        for inner in item:
            yield from _tools(inner)
    else:
        raise ConfigError(_advice(item))


def _advice(item: object) -> str:
    name = type(item).__name__
    if hasattr(item, "list_tools") or hasattr(item, "call_tool"):
        return f"a {name} speaks MCP: pass `await livetools.integrations.mcp.toolset(client)`"
    if inspect.iscoroutine(item) or inspect.isasyncgen(item):
        called = item.__name__
        return f"a {name} is not a tool: pass the function, {called}, and not what {called}(...) returns"
    if item is None or isinstance(item, str | bytes | int | float):
        return (
            f"a value of type {name} is not a tool: pass the function itself, tools=[get_weather], neither its name "
            "nor what it returns"
        )
    return (
        f"a value of type {name} is not a tool: pass functions, Tool(...), Toolset(...), google-genai's Tool or "
        "FunctionDeclaration, or dicts in OpenAI's shape"
    )


def _entry(item: Any) -> Mapping[str, Any] | None:
    """An entry of ``config.tools`` as a dict, its declarations as they are; ``None`` for anything else."""
    if isinstance(item, Mapping):
        holds = any(key in item for key in DECLARATIONS)
        return item if holds or not {"name", "function"} & item.keys() else None
    if "function_declarations" in getattr(type(item), "model_fields", ()):
        rest: dict[str, Any] = item.model_dump(
            exclude_none=True, mode="json", by_alias=True, exclude={"function_declarations"}
        )
        return rest | {DECLARATIONS[0]: item.function_declarations or []}
    return None


def _split(entry: Mapping[str, Any]) -> tuple[list[Tool], dict[str, Any]]:
    """The function declarations of an entry as tools, and what else it holds."""
    declarations: list[Any] = []
    for key in DECLARATIONS:
        listed = entry.get(key) or ()
        if isinstance(listed, str | Mapping) or not isinstance(listed, Iterable):
            raise ToolDefinitionError(f"{key} is a {type(listed).__name__}: expected a list of declarations")
        declarations += listed
    others = {k: v for k, v in entry.items() if k not in DECLARATIONS and v is not None}
    return [Tool(d) for d in declarations], others


def split_config_tools(config_tools: Iterable[Any] | None) -> tuple[list[Tool], list[dict[str, Any]]]:
    """The ``tools`` of a ``LiveConnectConfig`` or of its dict: ours, and the service's own.

    Functions and declarations are tools; the rest (``googleSearch``, ``codeExecution`` …) are dicts as they
    came, in camelCase those that were google-genai's types.

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
