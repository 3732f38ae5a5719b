"""@tool and Tool: what comes back, what is refused, and what the model gets."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from livetools.protocol.errors import ToolDefinitionError, ToolError
from livetools.tools import Tool, ToolContext, tool

pytestmark = pytest.mark.anyio


def add(a: int, b: int = 10) -> int:
    """Adds two numbers."""
    return a + b


async def test_the_decorator_returns_the_very_function() -> None:
    def f(x: int) -> int:
        return x

    assert tool(f) is f
    assert tool(name="g", timeout=3)(f) is f
    assert f(1) == 1


async def test_a_plain_function_is_declared_and_called() -> None:
    t = Tool(add)
    assert (t.name, t.description, t.kind, t.handler) == ("add", "Adds two numbers.", "sync", add)
    assert t.declaration() == {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {
            "type": "OBJECT",
            "properties": {"a": {"type": "INTEGER"}, "b": {"type": "INTEGER", "default": 10}},
            "required": ["a"],
        },
    }
    assert await t.call({"a": 1}) == {"output": 11}
    assert await t.call({"a": 1.0, "b": "2"}) == {"output": 3}


async def test_the_kinds_of_functions_all_run() -> None:
    async def one(x: int) -> int:
        return x

    def many(x: int) -> Iterator[int]:
        yield from range(x)

    async def stream(x: int) -> AsyncIterator[int]:
        for i in range(x):
            yield i

    class Adder:
        """Adds."""

        def __call__(self, x: int) -> int:
            return x + 1

        async def method(self, x: int) -> int:
            return x + 2

    kinds = {Tool(f).kind: await Tool(f).call({"x": 2}) for f in (one, many, stream, Adder(), Adder().method)}
    assert kinds == {
        "async": {"output": 4},
        "generator": {"output": [0, 1]},
        "async_generator": {"output": [0, 1]},
        "sync": {"output": 3},
    }
    assert Tool(Adder()).name == "adder"
    assert Tool(Adder()).description == "Adds."


async def test_only_a_tool_error_is_told_to_the_model() -> None:
    def boom() -> None:
        raise RuntimeError("s3cret")

    def no() -> None:
        raise ToolError("no such city")

    assert await Tool(boom).call({}) == {"error": "boom failed"}
    assert await Tool(no).call({}) == {"error": "no such city"}


async def test_a_context_is_filled_in_and_hidden() -> None:
    def who(greeting: str, context: ToolContext[dict[str, str]]) -> str:
        return f"{greeting} {context.deps['name']} ({context.call.args['greeting']})"

    t = Tool(who)
    assert list(t.declaration()["parameters"]["properties"]) == ["greeting"]
    assert await t.call({"greeting": "hi"}, deps={"name": "Ada"}) == {"output": "hi Ada (hi)"}


@pytest.mark.parametrize("target", [functools.partial(add, 1), print, add.__get__(1), int])
async def test_what_cannot_bear_options_is_told_of_the_other_way(target: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"Tool\(f, name="):
        tool(target)
