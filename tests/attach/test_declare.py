"""``declare``: tools in a config of google-genai's."""

from __future__ import annotations

import pytest

import livetools
from livetools import ConfigError


def get_weather(city: str) -> str:
    """The weather in a city."""
    return "rain"


def test_declare_adds_to_a_config_and_changes_neither_its_kind_nor_itself() -> None:
    from google.genai import types

    config = types.LiveConnectConfig(temperature=0.5, tools=[types.Tool(google_search=types.GoogleSearch())])
    declared = livetools.declare([get_weather], into=config)
    assert isinstance(declared, types.LiveConnectConfig)
    assert (declared.temperature, len(declared.tools or ()), len(config.tools or ())) == (0.5, 2, 1)
    (function,) = declared.tools[1].function_declarations  # type: ignore[index,union-attr]
    assert function.parameters.type == types.Type.OBJECT
    assert function.parameters_json_schema is None
    made = livetools.declare([get_weather])
    assert [f["name"] for f in made["tools"][0]["function_declarations"]] == ["get_weather"]


def test_declare_takes_nothing_else() -> None:
    with pytest.raises(ConfigError, match="LiveConnectConfig"):
        livetools.declare([get_weather], into=3)
