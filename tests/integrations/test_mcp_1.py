"""The client of the ``mcp`` package before 2: the same tools, over its own in-memory line."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import livetools
from livetools.integrations.mcp import toolset
from livetools.testing import FakeLiveServer, Turn

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(int(version("mcp").partition(".")[0]) > 1, reason="mcp 2 is in test_mcp.py"),
]


async def test_the_tools_of_a_server_run_and_its_errors_are_told(live_server: FakeLiveServer) -> None:
    from mcp.server.fastmcp import FastMCP
    from mcp.shared.memory import create_connected_server_and_client_session

    server = FastMCP("house")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("the oven is cold")

    @live_server.model
    async def model(turn: Turn) -> None:
        total = await turn.call("add", a=2, b=3)
        failed = await turn.call("fail")
        await turn.say(f"{total['output']} {failed['error']}")

    async with create_connected_server_and_client_session(server._mcp_server) as client:
        tools = await toolset(client)
        assert {tool.name for tool in tools} == {"add", "fail"}
        async with livetools.connect("gemini-3.8-live", tools=[tools]) as session:
            said = str(await session.ask("Sum?"))
    assert said.startswith("5 ")
    assert "the oven is cold" in said
