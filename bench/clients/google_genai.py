"""google-genai: its session, and the loop that its documentation shows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from google import genai
from google.genai import types
from worker import MICROPHONE, MODEL, Meter, memory, pause, request, serve, without_tls, work

DECLARED = types.FunctionDeclaration(
    name="work",
    description="Works.",
    parameters=types.Schema(
        type=types.Type.OBJECT, properties={"i": types.Schema(type=types.Type.INTEGER)}, required=["i"]
    ),
)
CONFIG = types.LiveConnectConfig(tools=[types.Tool(function_declarations=[DECLARED])])
clients: dict[str, genai.Client] = {}  # a program has one


def opened(url: str, config: types.LiveConnectConfig = CONFIG) -> Any:
    client = clients.get(url)
    if client is None:
        client = clients[url] = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))
    return client.aio.live.connect(model=MODEL, config=config)


async def say(session: Any, job: str, n: int = 1, p: int = 1) -> None:
    content = types.Content(role="user", parts=[types.Part(text=request(job, n, p))])
    await session.send_client_content(turns=content)


async def listen(session: Any, tool: Callable[..., Any] = work) -> None:
    """Until the turn ends."""
    async for message in session.receive():
        if message.tool_call:
            for call in message.tool_call.function_calls:
                result = {"output": await tool(**call.args)}
                response = types.FunctionResponse(id=call.id, name=call.name, response=result)
                await session.send_tool_response(function_responses=[response])


def job(name: str, tool: Callable[..., Any] = work) -> Any:
    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        async with opened(url) as session:
            with meter:
                await say(session, name, n, p)
                await listen(session, tool)

    return run


async def send(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url) as session:
        await say(session, "send", n)
        with meter:
            for _ in range(n):
                blob = types.Blob(data=MICROPHONE, mime_type="audio/pcm;rate=16000")
                await session.send_realtime_input(audio=blob)
        await listen(session)


async def ask(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url) as session:
        with meter:
            for _ in range(n):
                await say(session, "say")
                await listen(session)


async def converse(session: Any, seconds: int) -> None:
    await say(session, "talk", seconds)
    listening = asyncio.create_task(listen(session))
    while not listening.done():
        await session.send_realtime_input(audio=types.Blob(data=MICROPHONE, mime_type="audio/pcm;rate=16000"))
        await asyncio.sleep(0.02)
    await listening


async def talk(url: str, n: int, p: int, meter: Meter) -> None:
    async with contextlib.AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(opened(url)) for _ in range(n)]
        with meter:
            await asyncio.gather(*(converse(session, p) for session in sessions))


async def sessions(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url):
        pass  # what is loaded once
    before = memory()
    async with contextlib.AsyncExitStack() as stack:
        open_ = [await stack.enter_async_context(opened(url)) for _ in range(n)]
        idle = memory() - before
        for session in open_:
            for what in ("calls", "audio"):
                await say(session, what, 4)
                await listen(session)
        meter.told = {"idle": idle / n, "talking": (memory() - before) / n}


if __name__ == "__main__":
    without_tls()
    jobs = {
        "calls": job("calls"),
        "pause": job("calls", pause),
        "audio": job("audio"),
        "send": send,
        "ask": ask,
    }
    serve("google-genai", {**jobs, "talk": talk, "sessions": sessions})
