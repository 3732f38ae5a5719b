"""google-adk: its live runner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.adk.agents import Agent
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.agents.run_config import RunConfig
from google.adk.runners import InMemoryRunner
from google.genai import types
from worker import MICROPHONE, MODEL, Meter, open_microphone, pause, request, serve, without_tls, work


def named(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A tool is known by the name of its function."""

    async def work(i: int) -> dict[str, int]:
        """Works."""
        return {"output": await tool(i)}

    return work


def job(name: str, tool: Callable[..., Any] = work, day: bool = False) -> Any:
    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        runner = InMemoryRunner(Agent(name="a", model=MODEL, tools=[named(tool)]), app_name="bench")
        session = await runner.session_service.create_session(app_name="bench", user_id="u")
        queue = LiveRequestQueue()
        events = runner.run_live(
            user_id="u", session_id=session.id, live_request_queue=queue,
            run_config=RunConfig(response_modalities=["AUDIO"]),
        )  # fmt: skip

        async def speak() -> None:
            queue.send_realtime(types.Blob(data=MICROPHONE, mime_type="audio/pcm;rate=16000"))

        queue.send_content(types.Content(role="user", parts=[types.Part(text=request("say"))]))
        async for event in events:
            if event.turn_complete:  # it stands
                break
        if day:
            await open_microphone(speak)
        with meter.collecting() if day else meter:
            queue.send_content(types.Content(role="user", parts=[types.Part(text=request(name, n, p))]))
            async for event in events:
                if event.turn_complete:
                    break
        queue.close()

    return run


if __name__ == "__main__":
    without_tls()
    jobs = {"calls": job("calls"), "pause": job("calls", pause), "audio": job("audio")}
    serve("google-adk", {**jobs, "day": job("calls", day=True)})
