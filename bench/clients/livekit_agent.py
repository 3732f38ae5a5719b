"""livekit-agents: a session with the realtime model of Google's plugin, without a room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from livekit.agents import Agent, AgentSession, function_tool
from livekit.plugins.google.realtime import RealtimeModel
from worker import MODEL, Meter, pause, request, serve, without_tls, work


def job(name: str, tool: Callable[..., Any] = work) -> Any:
    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        session: Any = AgentSession(llm=RealtimeModel(model=MODEL), max_tool_steps=10**9)
        tools = [function_tool(tool, name="work", description="Works.")]
        await session.start(Agent(instructions="Be brief.", tools=tools), record=False)
        await session.run(user_input=request("say"))  # it stands
        with meter:
            await session.run(user_input=request(name, n, p))
        await session.aclose()

    return run


if __name__ == "__main__":
    without_tls()
    serve("livekit-agents", {"calls": job("calls"), "pause": job("calls", pause)})
