"""Checks function declarations against the service's rules, and reads those of a config."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from livetools.errors import ConfigError, ToolDefinitionError

from .config_fields import Object, plain, several
from .plan_fields import CallPolicy, ToolSpec
from .sdk import config_values

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
"""The service's rule for the names of functions."""
_RULE = "at most 64 letters, digits, underscores, dots, colons and dashes, a letter or underscore first"
_MOST = 512  # "At most 512 function declarations can be specified"


def name(spec: ToolSpec) -> str:
    """The name that the model calls. Raises :class:`ToolDefinitionError` for one that the service refuses."""
    given = spec.declaration.get("name")
    if isinstance(given, str) and NAME.fullmatch(given):
        return given
    raise ToolDefinitionError(f"{given!r}{_at(spec)} is not a valid name for a function: {_RULE}")


def check(specs: Sequence[ToolSpec]) -> None:
    """Raise :class:`ConfigError` for what the service would refuse of these declarations together."""
    if len(specs) > _MOST:
        raise ConfigError(f"{len(specs)} tools: the service takes {_MOST}; declare fewer")
    seen: dict[str, tuple[int, ToolSpec]] = {}
    for number, spec in enumerate(specs, 1):
        for schema in ("parameters", "response"):
            if schema in spec.declaration and f"{schema}JsonSchema" in spec.declaration:
                raise ToolDefinitionError(f"{name(spec)}: {schema} and {schema}JsonSchema exclude each other")
        if earlier := seen.get(name(spec)):
            first, other = earlier
            raise ToolDefinitionError(
                f"two tools are called {name(spec)!r}: number {first}{_at(other)} and number {number}"
                f"{_at(spec)}; rename one with @tool(name=...) or Toolset.rename"
            )
        seen[name(spec)] = number, spec


def _at(spec: ToolSpec) -> str:
    if spec.source:
        return f" ({spec.source})"
    described = str(spec.declaration.get("description") or "").strip()
    return f" ({described.splitlines()[0]:.40})" if described else ""


def declaration(spec: ToolSpec, policy: CallPolicy) -> Object:
    """What the model reads about a tool: its declaration, with ``behavior`` where the model takes that."""
    told = {key: value for key, value in spec.declaration.items() if key != "behavior"}
    parameters = told.get("parameters")
    if isinstance(parameters, dict) and not parameters.get("properties"):
        del told["parameters"]  # "should be non-empty for OBJECT type" (langchain-google#416)
    if policy.states_behavior:
        told["behavior"] = policy.behavior
    return told


def builtin(entries: object) -> list[Object]:
    """What the service runs itself of ``config.tools``, an entry each: google-genai's ``Tool`` or its dict.

    Callables and MCP sessions are not of this room: they are tools, and belong in ``tools=``; :class:`ConfigError`
    says so.
    """
    told: list[Object] = []
    for entry in several(entries):
        if not isinstance(entry, Mapping) and not hasattr(entry, "model_dump"):
            raise ConfigError(f"config.tools holds a {type(entry).__name__}: pass it in tools=[...]")
        told.append(config_values.checked(plain(entry), "Tool", "config.tools"))
    return told
