"""The floor: ``websockets`` and ``json``, a loop of ten lines, one call after the other, nothing checked."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from worker import MICROPHONE, MODEL, Meter, memory, pause, request, serve, work

Tool = Callable[..., Awaitable[int]]


@contextlib.asynccontextmanager
async def opened(url: str) -> Any:
    async with connect(url, compression=None, max_size=None, ping_interval=None, open_timeout=60) as socket:
        await socket.send(json.dumps({"setup": {"model": MODEL}}))
        await socket.recv()
        yield socket


def turn(text: str) -> str:
    content = {"role": "user", "parts": [{"text": text}]}
    return json.dumps({"clientContent": {"turns": [content], "turnComplete": True}})


def sound() -> str:
    blob = {"mimeType": "audio/pcm;rate=16000", "data": base64.b64encode(MICROPHONE).decode()}
    return json.dumps({"realtimeInput": {"audio": blob}})


async def answer(socket: ClientConnection, call: dict[str, Any], tool: Tool) -> None:
    result = {"output": await tool(**call["args"])}
    response = {"id": call["id"], "name": call["name"], "response": result}
    await socket.send(json.dumps({"toolResponse": {"functionResponses": [response]}}))


async def listen(socket: ClientConnection, tool: Tool = work) -> None:
    """Until the turn ends."""
    while True:
        message = json.loads(await socket.recv())
        if "toolCall" in message:
            for call in message["toolCall"]["functionCalls"]:
                await answer(socket, call, tool)
            continue
        content = message.get("serverContent", {})
        for part in content.get("modelTurn", {}).get("parts", ()):
            if "inlineData" in part:
                base64.b64decode(part["inlineData"]["data"])
        if content.get("turnComplete"):
            return


def job(name: str, tool: Tool = work) -> Any:
    async def run(url: str, n: int, p: int, meter: Meter) -> None:
        async with opened(url) as socket:
            with meter:
                await socket.send(turn(request(name, n, p)))
                await listen(socket, tool)

    return run


async def send(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url) as socket:
        await socket.send(turn(request("send", n)))
        with meter:
            for _ in range(n):
                await socket.send(sound())
        await listen(socket)


async def ask(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url) as socket:
        with meter:
            for _ in range(n):
                await socket.send(turn(request("say")))
                await listen(socket)


async def converse(socket: ClientConnection, seconds: int) -> None:
    await socket.send(turn(request("talk", seconds)))
    listening = asyncio.create_task(listen(socket))
    while not listening.done():
        await socket.send(sound())
        await asyncio.sleep(0.02)
    await listening


async def talk(url: str, n: int, p: int, meter: Meter) -> None:
    async with contextlib.AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(opened(url)) for _ in range(n)]
        with meter:
            await asyncio.gather(*(converse(socket, p) for socket in sockets))


async def sessions(url: str, n: int, p: int, meter: Meter) -> None:
    async with opened(url):
        pass  # what is loaded once
    before = memory()
    async with contextlib.AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(opened(url)) for _ in range(n)]
        idle = memory() - before
        for socket in sockets:
            for what in ("calls", "audio"):
                await socket.send(turn(request(what, 4)))
                await listen(socket)
        meter.told = {"idle": idle / n, "talking": (memory() - before) / n}


async def waits(url: str, n: int, p: int, meter: Meter) -> None:
    """What the server has measured of everybody's calls since it was last asked."""
    async with opened(url) as socket:
        await socket.send(turn(request("waits")))
        meter.told = json.loads(await socket.recv())


if __name__ == "__main__":
    jobs = {
        "calls": job("calls"),
        "pause": job("calls", pause),
        "audio": job("audio"),
        "send": send,
        "ask": ask,
    }
    serve("websockets", {**jobs, "talk": talk, "sessions": sessions, "waits": waits})
