"""Everything that ``tools=`` takes, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.errors import ConfigError, ToolDefinitionError
from livetools.tools import Tool, Toolset, as_tools, split_config_tools

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PARAMETERS = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}


def weather(city: str) -> str:
    """Current weather."""
    return f"rain in {city}"


SHAPES: list[Any] = [
    {
        "type": "function",
        "function": {"name": "weather", "description": "Current weather.", "parameters": CITY},
    },
    {"type": "function", "name": "weather", "description": "Current weather.", "parameters": CITY},
    {"name": "weather", "description": "Current weather.", "input_schema": CITY},
    {"name": "weather", "description": "Current weather.", "inputSchema": CITY},
    {"name": "weather", "description": "Current weather.", "parametersJsonSchema": CITY},
    {"name": "weather", "description": "Current weather.", "parameters": PARAMETERS},
    weather,
    Tool(weather),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_tool_is_declared_alike(shape: Any) -> None:
    (tool,) = as_tools([shape])
    assert tool.declaration() == {
        "name": "weather",
        "description": "Current weather.",
        "parameters": PARAMETERS,
    }


def test_google_genai_types_are_taken_and_never_imported_for_it() -> None:
    from google.genai import types

    declaration = types.FunctionDeclaration(
        name="weather",
        description="Current weather.",
        parameters=types.Schema(
            type=types.Type.OBJECT,
            properties={"city": types.Schema(type=types.Type.STRING)},
            required=["city"],
        ),
        behavior=types.Behavior.NON_BLOCKING,
    )
    for item in (declaration, types.Tool(function_declarations=[declaration])):
        (tool,) = as_tools([item])
        assert tool.declaration()["parameters"] == PARAMETERS
        assert tool.options["behavior"] == "NON_BLOCKING"
        assert tool.kind == "declared"


def test_snake_case_keywords_inside_a_declaration_are_read() -> None:
    schema = {
        "type": "ARRAY",
        "items": {"any_of": [{"type": "STRING"}, {"type": "INTEGER"}]},
        "min_items": "1",
    }
    tool = Tool({"name": "f", "parameters": {"type": "OBJECT", "properties": {"x": schema}}})
    assert tool.declaration()["parameters"]["properties"]["x"] == {
        "type": "ARRAY",
        "minItems": 1,
        "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
    }


@pytest.mark.anyio
async def test_a_declaration_with_a_handler_is_served_by_it() -> None:
    tool = Tool(SHAPES[0], handler=weather)
    assert await tool.call({"city": "Oslo"}) == {"output": "rain in Oslo"}
    assert "city is missing" in (await tool.call({}))["error"]


@pytest.mark.anyio
async def test_a_declaration_without_one_says_so() -> None:
    assert "only declared" in (await Tool(SHAPES[0]).call({"city": "Oslo"}))["error"]


@pytest.mark.parametrize("handler", [lambda town: town, lambda: 0, lambda city, day: city])
def test_a_handler_must_fit_its_declaration(handler: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="'weather' says otherwise"):
        Tool(SHAPES[0], handler=handler)


def test_a_toolset_and_a_list_are_taken_as_their_members() -> None:
    def news() -> str:
        return "none"

    assert [t.name for t in as_tools([Toolset(weather), [news]])] == ["weather", "news"]


def test_the_same_function_twice_is_one_tool() -> None:
    assert len(as_tools([weather, Tool(weather)])) == 1


def test_two_tools_of_one_name_are_refused_and_both_are_named() -> None:
    def other(city: str) -> str:
        return city

    with pytest.raises(ConfigError, match=r"'weather'.*test_accepted_tools\.py:\d+, weather and .*other"):
        as_tools([weather, Tool(other, name="weather")])


@pytest.mark.parametrize("items", [weather, SHAPES[0], "weather", 5, None])
def test_something_else_than_a_list_is_refused_with_advice(items: Any) -> None:
    with pytest.raises(ConfigError, match=r"tools= takes a list, not a .*: tools=\[\.\.\.\]"):
        as_tools(items)


class FakeClient:
    async def list_tools(self) -> None: ...


@pytest.mark.parametrize(
    ("item", "advice"),
    [
        (42, "type int is not a tool"),
        ("weather", "type str is not a tool: pass the function itself"),
        (None, "type NoneType is not a tool: pass the function itself"),
        (FakeClient(), "speaks MCP"),
        ({"google_search": {}}, "google_search is a tool of the service's own"),
        ({"name": 5, "x": 1}, "is not a function declaration"),
        ({"name": "f", "parameters": "none"}, "not a JSON object"),
    ],
)
def test_anything_else_is_refused_with_advice(item: Any, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        as_tools([item])


def test_the_tools_of_a_config_are_split_into_ours_and_the_services_own() -> None:
    from google.genai import types

    tools, others = split_config_tools(
        [
            weather,
            types.Tool(google_search=types.GoogleSearch()),
            {"function_declarations": [{"name": "news"}], "code_execution": {}},
        ]
    )
    assert [t.name for t in tools] == ["weather", "news"]
    assert others == [{"googleSearch": {}}, {"code_execution": {}}]
    assert split_config_tools(None) == ([], [])


def test_an_async_function_that_was_called_is_named() -> None:
    async def look(city: str) -> str:
        """Look."""
        return city

    called = look("Oslo")
    with pytest.raises(ConfigError, match=r"pass the function, look, and not what look\(...\) returns"):
        as_tools([called])
    called.close()


@pytest.mark.parametrize("listed", [True, 5, "weather", {"name": "weather"}])
def test_declarations_that_are_no_list_are_refused(listed: object) -> None:
    for read in (as_tools, split_config_tools):
        with pytest.raises(ToolDefinitionError, match="expected a list of declarations"):
            read([{"function_declarations": listed}])


@pytest.mark.parametrize(
    "broken", [{"required": [["city"], 5]}, {"properties": {"city": {"type": "STRING", "enum": [b"x"]}}}]
)
def test_a_schema_that_is_no_json_is_declared_without_what_is_none(broken: dict[str, Any]) -> None:
    (tool,) = as_tools([{"name": "weather", "description": "", "parameters": PARAMETERS | broken}])
    assert list(tool.declaration()["parameters"]["properties"]) == ["city"]
