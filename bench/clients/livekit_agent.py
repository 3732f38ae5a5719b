"""livekit-agents: a session with the realtime model of Google's plugin, without a room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from livekit import rtc
from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.voice.io import AudioInput
from livekit.plugins.google.realtime import RealtimeModel
from worker import MICROPHONE, MODEL, Meter, open_microphone, pause, request, serve, without_tls, work


class Microphone(AudioInput):
    """In the place of a room's."""

    def __init__(self) -> None:
        super().__init__(label="bench")
        self._frames: asyncio.Queue[rtc.AudioFrame] = asyncio.Queue()

    async def __anext__(self) -> rtc.AudioFrame:
        return await self._frames.get()

    async def speak(self) -> None:
        self._frames.put_nowait(rtc.AudioFrame(MICROPHONE, 16000, 1, len(MICROPHONE) // 2))


def job(name: str, tool: Callable[..., Any] = work, day: bool = False) -> Any:
    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        session: Any = AgentSession(llm=RealtimeModel(model=MODEL), max_tool_steps=10**9)
        tools = [function_tool(tool, name="work", description="Works.")]
        await session.start(Agent(instructions="Be brief.", tools=tools), record=False)
        await session.run(user_input=request("say"))  # it stands
        if day:
            session.input.audio = microphone = Microphone()
            await open_microphone(microphone.speak)
        with meter.collecting() if day else meter:
            await session.run(user_input=request(name, n, p))
        await session.aclose()

    return run


if __name__ == "__main__":
    without_tls()
    serve(
        "livekit-agents", {"calls": job("calls"), "pause": job("calls", pause), "day": job("calls", day=True)}
    )
