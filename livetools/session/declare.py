"""``declare``: tools as Live models read them, in a config of google-genai's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from livetools.protocol.errors import ConfigError
from livetools.protocol.plan import declaration, make_plan
from livetools.protocol.profiles import ModelProfile
from livetools.tools import as_tools


def declare(
    tools: Iterable[object], into: object = None
) -> Any:  # a config of the kind that was given, or a dict
    """A config of google-genai with these tools in it, declared as Live models read them.

    ``into`` (a ``LiveConnectConfig`` or its dict, not changed; ``None``: a new dict) keeps what it has, its
    tools too. The SDK by itself sends ``parameters_json_schema``, which several models ignore
    (python-genai#1147).

    Raises ``ConfigError`` for what cannot be declared, or twice.
    """
    specs = [tool.spec() for tool in as_tools(tools)]
    policies = make_plan("any", specs, profile=ModelProfile(), reconnect=False).policies
    entry = {"function_declarations": [declaration(s, policies[s.declaration["name"]]) for s in specs]}
    if into is None:
        return {"tools": [entry]}
    if not isinstance(into, Mapping):
        if not hasattr(into, "model_copy"):
            raise ConfigError(f"into is a {type(into).__name__}: a LiveConnectConfig or a dict is expected")
        from google.genai import types

        made = types.Tool.model_validate(entry)
        return into.model_copy(update={"tools": [*(getattr(into, "tools", None) or ()), made]})
    return {**into, "tools": [*(into.get("tools") or ()), entry]}
