"""What a function call costs: microseconds of CPU and wall time, beside two other ways to serve it.

    python bench/calls.py [CALLS]

Four clients answer the same calls of the same server, in turn, in one run, so that the ratios hold on any machine:

- ``bare``: ``websockets`` and ``json``, a loop of ten lines, no validation, one call at a time: the floor;
- ``livetools``: a session;
- ``attach``: google-genai's session with ``livetools.attach``;
- ``google-genai``: its session and the loop that its documentation shows.

The server is a process of its own; CPU time is the client's. Reported, never gating.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any

import livetools

MODEL = "gemini-2.5-flash-native-audio-latest"
ROUNDS = 5


def serve(pipe: Connection) -> None:
    """A server that calls ``add`` again as soon as it is answered; the number of calls is in the user's text."""
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen

    async def handle(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send(b'{\n  "setupComplete": {}\n}\n')
        async for message in connection:
            count, parallel = map(int, inside(message)["turns"][0]["parts"][0]["text"].split())
            for first in range(0, count, parallel):
                calls = [
                    {"id": f"c{n}", "name": "add", "args": {"a": n, "b": 1}}
                    for n in range(first, first + parallel)
                ]
                await connection.send(json.dumps({"toolCall": {"functionCalls": calls}}, indent=2).encode())
                answered = 0
                while answered < parallel:
                    answered += sum(map(len, inside(await connection.recv()).values()))
            await connection.send(b'{"serverContent": {"turnComplete": true}}')

    async def main() -> None:
        async with listen(handle, "127.0.0.1", 0, compression=None) as server:
            pipe.send(server.sockets[0].getsockname()[1])
            await asyncio.Event().wait()

    asyncio.run(main())


def inside(message: str | bytes) -> dict[str, Any]:
    """What a client message holds: google-genai writes its fields in another spelling."""
    (value,) = json.loads(message).values()
    return value  # type: ignore[no-any-return]


async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def pause(a: int, b: int) -> int:
    """Takes 100 ms."""
    await asyncio.sleep(0.1)
    return a + b


def text(count: int, parallel: int) -> str:
    return f"{count} {parallel}"


async def bare(url: str, count: int, parallel: int, tool: Callable[..., Awaitable[int]]) -> None:
    from websockets.asyncio.client import connect

    async with connect(url, compression=None, max_size=None) as socket:
        await socket.send(json.dumps({"setup": {"model": MODEL}}))
        await socket.recv()
        turn = {"role": "user", "parts": [{"text": text(count, parallel)}]}
        await socket.send(json.dumps({"clientContent": {"turns": [turn], "turnComplete": True}}))
        while True:
            message = json.loads(await socket.recv())
            if "toolCall" not in message:
                return
            for call in message["toolCall"]["functionCalls"]:
                response = {
                    "id": call["id"],
                    "name": call["name"],
                    "response": {"output": await tool(**call["args"])},
                }
                await socket.send(json.dumps({"toolResponse": {"functionResponses": [response]}}))


async def ours(url: str, count: int, parallel: int, tool: Callable[..., Awaitable[int]]) -> None:
    served = livetools.Tool(tool, name="add")
    async with livetools.connect(MODEL, tools=[served], base_url=url, reconnect=False) as session:
        await session.send_text(text(count, parallel))
        async for event in session:
            if isinstance(event, livetools.TurnComplete):
                return


def sdk(url: str) -> Any:
    """Its client insists on TLS, which would blur the comparison: it is kept off."""
    from google import genai
    from google.genai import live
    from websockets.asyncio.client import connect

    live.ws_connect = lambda uri, ssl=None, **options: connect(uri.replace("wss:", "ws:"), **options)
    return genai.Client(api_key="none", http_options={"base_url": url}).aio.live


async def documented(url: str, count: int, parallel: int, tool: Callable[..., Awaitable[int]]) -> None:
    from google.genai import types

    async with sdk(url).connect(
        model=MODEL, config=livetools.declare([livetools.Tool(tool, name="add")])
    ) as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": text(count, parallel)}]})
        async for message in session.receive():
            if message.tool_call:
                for call in message.tool_call.function_calls:
                    response = types.FunctionResponse(
                        id=call.id, name=call.name, response={"output": await tool(**call.args)}
                    )
                    await session.send_tool_response(function_responses=[response])


async def attached(url: str, count: int, parallel: int, tool: Callable[..., Awaitable[int]]) -> None:
    tools = [livetools.Tool(tool, name="add")]
    async with (
        sdk(url).connect(model=MODEL, config=livetools.declare(tools)) as session,
        livetools.attach(session, tools, model=MODEL) as live,
    ):
        await session.send_client_content(turns={"role": "user", "parts": [{"text": text(count, parallel)}]})
        async for message in live:
            if message.server_content and message.server_content.turn_complete:
                return


CLIENTS = {"bare": bare, "livetools": ours, "attach": attached, "google-genai": documented}


async def measure(url: str, count: int) -> None:
    cpu: dict[str, list[float]] = {name: [] for name in CLIENTS}
    wall: dict[str, list[float]] = {name: [] for name in CLIENTS}
    for number in range(ROUNDS + 1):
        for name, client in CLIENTS.items():
            began, used = time.perf_counter(), time.process_time()
            await client(url, count, 1, add)
            if number:  # the first round warms up
                cpu[name].append((time.process_time() - used) / count * 1e6)
                wall[name].append((time.perf_counter() - began) / count * 1e6)
    floor = statistics.median(cpu["bare"])
    print(f"{count} calls, one after the other; median of {ROUNDS} rounds, microseconds a call")
    for name in CLIENTS:
        used = statistics.median(cpu[name])
        print(
            f"  {name:13} CPU {used:7.1f}  wall {statistics.median(wall[name]):7.1f}  {used / floor:5.2f} x bare"
        )
    print("8 calls of 100 ms in one message, milliseconds")
    for name, client in CLIENTS.items():
        began = time.perf_counter()
        await client(url, 8, 8, pause)
        print(f"  {name:13} {(time.perf_counter() - began) * 1e3:7.1f}")


def main() -> None:
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    asyncio.run(measure(f"ws://127.0.0.1:{here.recv()}", count))
    server.terminate()


if __name__ == "__main__":
    main()
