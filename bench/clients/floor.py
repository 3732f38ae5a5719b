"""The floor: ``websockets`` and ``json``, a loop of ten lines, one call after the other, nothing checked."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from worker import MICROPHONE, MODEL, Conversation, Meter, Tool, request, serve, work


@contextlib.asynccontextmanager
async def opened(url: str, tool: Tool = work) -> Any:
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


async def say(socket: ClientConnection, job: str, n: int = 1, p: int = 1) -> None:
    await socket.send(turn(request(job, n, p)))


async def speak(socket: ClientConnection) -> None:
    await socket.send(sound())


async def waits(url: str, n: int, p: int, meter: Meter) -> None:
    """What the server has measured of everybody's calls since it was last asked."""
    async with opened(url) as socket:
        await say(socket, "waits")
        meter.told = json.loads(await socket.recv())


if __name__ == "__main__":
    serve("websockets", {**Conversation(opened, say, listen, speak).jobs(), "waits": waits})
