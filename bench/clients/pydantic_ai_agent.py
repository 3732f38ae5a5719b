"""pydantic-ai: an agent's realtime session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent
from worker import MICROPHONE, MODEL, Meter, open_microphone, pause, request, serve, without_tls, work


def job(name: str, tool: Callable[..., Any] = work, day: bool = False) -> Any:
    agent = Agent()
    agent.tool_plain(tool, name="work", description="Works.")  # type: ignore[call-overload]

    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        async with agent.realtime(f"google:{MODEL}").session() as session:
            if day:
                await open_microphone(lambda: session.send_audio(MICROPHONE))
            with meter.collecting() if day else meter:
                await session.send(request(name, n, p))
                await session.wait_for_reply()

    return run


if __name__ == "__main__":
    without_tls()
    jobs = {"calls": job("calls"), "pause": job("calls", pause), "audio": job("audio")}
    serve("pydantic-ai-slim", {**jobs, "day": job("calls", day=True)})
