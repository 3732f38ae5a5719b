"""Groups of tools as values."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.errors import ConfigError, ToolDefinitionError
from livetools.events import InputTranscript
from livetools.tools import Hooks, InvalidArguments, Tool, Toolset


def weather(city: str) -> str:
    """Current weather."""
    return city


def news() -> str:
    """Current news."""
    return "none"


TOOLS = Toolset(weather, news, name="town")


def names(toolset: Toolset) -> list[str]:
    return [tool.name for tool in toolset]


def test_a_toolset_is_a_collection_of_tools_by_name() -> None:
    assert names(TOOLS) == ["weather", "news"]
    assert len(TOOLS) == 2
    assert "news" in TOOLS
    assert "sport" not in TOOLS
    assert TOOLS["news"].handler is news
    with pytest.raises(KeyError):
        TOOLS["sport"]
    assert repr(TOOLS) == "Toolset('town': weather, news)"


def test_every_operation_gives_a_new_one() -> None:
    assert names(TOOLS.filter(lambda tool: tool.name == "news")) == ["news"]
    assert names(TOOLS.prefix("oslo_")) == ["oslo_weather", "oslo_news"]
    assert names(TOOLS.rename({"news": "headlines"})) == ["weather", "headlines"]
    assert names(TOOLS.merge(Tool(news, name="more"))) == ["weather", "news", "more"]
    assert names(TOOLS + Toolset(Tool(news, name="more"))) == ["weather", "news", "more"]
    assert names(TOOLS) == ["weather", "news"]
    assert TOOLS.prefix("oslo_").name == "town"


@pytest.mark.anyio
async def test_a_renamed_tool_is_declared_called_and_blamed_by_its_new_name() -> None:
    tool = TOOLS.prefix("oslo_")["oslo_weather"]
    assert tool.declaration()["name"] == "oslo_weather"
    assert await tool.call({"city": "Oslo"}) == {"output": "Oslo"}
    with pytest.raises(InvalidArguments, match="Invalid arguments for oslo_weather"):
        tool.bind({}, None)
    assert TOOLS["weather"].declaration()["name"] == "weather"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two tools are called 'news'"):
        TOOLS.rename({"weather": "news"})
    with pytest.raises(ConfigError, match="two tools are called 'news'"):
        TOOLS + Toolset(Tool(weather, name="news"))
    assert names(TOOLS + TOOLS) == ["weather", "news"]


def test_a_name_that_is_not_there_or_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="no tool sport in Toolset"):
        TOOLS.rename({"sport": "news"})
    with pytest.raises(ToolDefinitionError, match="'1weather' is not a valid name for a tool"):
        TOOLS.prefix("1")


def test_hooks_go_to_the_tools_outermost_first() -> None:
    class Log(Hooks):
        pass

    inner, outer = Log(), Log()
    nested = Toolset(Toolset(weather, hooks=[inner]).prefix("a_"), news, hooks=[outer])
    assert nested["a_weather"].hooks == (outer, inner)
    assert nested["news"].hooks == (outer,)
    assert TOOLS["weather"].hooks == ()


def test_a_hook_that_only_hears_words_is_refused_because_a_toolset_has_none() -> None:
    class Words(Hooks):
        def on_input(self, event: InputTranscript, /) -> None: ...

    with pytest.raises(ConfigError, match=r"Words has only on_input, which a toolset does not call"):
        Toolset(weather, hooks=[Words()])


@pytest.mark.parametrize("hooks", ["check", {"before": 1}, 5, [None], [lambda call: None], [object()]])
def test_hooks_that_would_be_asked_about_nothing_are_refused(hooks: Any) -> None:
    with pytest.raises(ConfigError, match="expected a list of Hooks"):
        Toolset(weather, hooks=hooks)
