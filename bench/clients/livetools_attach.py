"""google-genai's session with ``livetools.attach``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google_genai import opened, say
from worker import MODEL, Meter, pause, serve, without_tls, work

import livetools


def job(name: str, tool: Callable[..., Any] = work) -> Any:
    tools = [livetools.Tool(tool, name="work")]

    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        async with (
            opened(url, livetools.declare(tools)) as session,
            livetools.attach(session, tools, model=MODEL) as live,
        ):
            with meter:
                await say(session, name, n, p)
                async for message in live:
                    if message.server_content and message.server_content.turn_complete:
                        return

    return run


if __name__ == "__main__":
    without_tls()
    serve("livetools", {"calls": job("calls"), "pause": job("calls", pause), "audio": job("audio")})
