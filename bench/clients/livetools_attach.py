"""google-genai's session with ``livetools.attach``."""

from __future__ import annotations

import contextlib
from typing import Any

import google_genai
from worker import MODEL, Conversation, Tool, pause, serve, without_tls, work

import livetools


@contextlib.asynccontextmanager
async def opened(url: str, tool: Tool = work) -> Any:
    """Both: the SDK's session, and what is read in its place."""
    tools = [livetools.Tool(tool, name="work")]
    async with (
        google_genai.opened(url, config=livetools.declare(tools)) as session,
        livetools.attach(session, tools, model=MODEL) as live,
    ):
        yield session, live


async def say(both: Any, job: str, n: int = 1, p: int = 1) -> None:
    await google_genai.say(both[0], job, n, p)


async def listen(both: Any, tool: Tool = work) -> None:
    async for message in both[1]:
        if message.server_content and message.server_content.turn_complete:
            return


async def speak(both: Any) -> None:
    await google_genai.speak(both[0])


if __name__ == "__main__":
    without_tls()
    attached = Conversation(opened, say, listen, speak)
    serve(
        "livetools",
        {
            "calls": attached.turn("calls"),
            "pause": attached.turn("calls", pause),
            "audio": attached.turn("audio"),
        },
    )
