"""``declare``: writes tools into a config of google-genai, in the form that Live models read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, overload

from livetools.errors import ConfigError
from livetools.setup.model_profiles import ModelProfile
from livetools.setup.plan import make_plan
from livetools.tools import LiveConnectConfigOrDict, ToolLike, as_tools

Config = TypeVar("Config", bound=LiveConnectConfigOrDict)


@overload
def declare(tools: Iterable[ToolLike], into: None = None) -> dict[str, Any]: ...
@overload
def declare(tools: Iterable[ToolLike], into: Config) -> Config: ...
def declare(tools: Iterable[ToolLike], into: Any = None) -> Any:
    """Return a google-genai config with these tools, declared in the form that Live models read.

    ``into`` is a ``LiveConnectConfig`` or its dict. The result is a changed copy of the same type that keeps the rest,
    with its tools; without ``into`` it is a new dict. You need this because the SDK sends ``parameters_json_schema``,
    which several models ignore (python-genai#1147).

    Raises ``ConfigError`` for a tool that cannot be declared, or is declared twice.

    ::

        config = declare([get_weather], into={"response_modalities": ["AUDIO"]})
        print(config["tools"][0]["function_declarations"][0]["name"])
    """
    made = as_tools(tools)
    setup = make_plan("any", made, profile=ModelProfile(), reconnect=False).setup
    entry = {"function_declarations": setup["tools"][0]["functionDeclarations"] if made else []}
    given = {} if into is None else into
    if isinstance(given, Mapping):
        return {**given, "tools": [*(given.get("tools") or ()), entry]}
    if not hasattr(given, "model_copy"):
        raise ConfigError(f"into is a {type(given).__name__}: a LiveConnectConfig or a dict is expected")
    from google.genai import types

    tool = types.Tool.model_validate(entry)
    return given.model_copy(update={"tools": [*(getattr(given, "tools", None) or ()), tool]})
