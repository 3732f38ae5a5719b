"""What a type checker refuses: each call is wrong, and is refused in its line. Read by type checkers, not run."""

from __future__ import annotations

import livetools


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return city


livetools.connect("m", tools=get_weather)  # refused
livetools.connect("m", tools="get_weather")  # refused
livetools.connect("m", tools=["get_weather"])  # refused
livetools.connect("m", tools=[3])  # refused
livetools.connect("m", config="AUDIO")  # refused
livetools.connect("m", config=3)  # refused
livetools.connect("m", history="hi")  # refused
livetools.connect("m", history=["hi"])  # refused
livetools.connect("m", instructions=3)  # refused
livetools.ToolResult("done", handoff="billing")  # refused
livetools.Agent(name=3)  # refused
livetools.Agent(3)  # refused
livetools.Agent(tools=[3])  # refused
livetools.Agent(tools=get_weather)  # refused
livetools.Toolset("get_weather")  # refused
livetools.declare(["get_weather"])  # refused
livetools.declare([get_weather], into="AUDIO")  # refused
livetools.TextChunk()  # refused
livetools.TextChunk(3)  # refused
livetools.TextChunk("a", "b")  # refused
livetools.TextChunk("a").text = "b"  # refused
print(livetools.TextChunk("a").size)  # refused
livetools.ToolResult("done", "silent")  # refused
livetools.ModelProfile("of our own")  # refused


async def session(session: livetools.Session) -> None:
    """The verbs."""
    await session.update(3)  # refused
    livetools.attach(session, [get_weather])  # refused
    await session.update(tools=["get_weather"])  # refused
