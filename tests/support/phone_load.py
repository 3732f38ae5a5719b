"""Many telephones that talk through one bridge at once: what it adds to the way of the sound.

    cd tests && python -m support.phone_load PHONES SECONDS

Two processes: the bridge, and all else: the phones, each of which sends 20 ms of G.711 every 20 ms, and the model,
which says as much as it hears, 40 ms at a time. G.711 keeps no time stamps, so places in the sound are compared: when
each frame was sent, and when so much sound had come.
"""

from __future__ import annotations

import asyncio
import base64
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import websockets

FRAME, PERIOD = 160, 0.02  # bytes of G.711, seconds
AHEAD = 0.0025  # seconds of sound that resampling holds back


@dataclass
class Way:
    """Sound on one way: how much of it was handed on by when. Seconds of sound, and of the clock."""

    sent: list[tuple[float, float]] = field(default_factory=list)
    came: list[tuple[float, float]] = field(default_factory=list)

    def delays(self) -> list[float]:
        """How long each piece that was sent took until it had come, but for what resampling holds back."""
        delays, at = [], 0
        for until, moment in self.sent:
            while at < len(self.came) and self.came[at][0] < until - AHEAD:
                at += 1
            if at == len(self.came):
                break
            delays.append(self.came[at][1] - moment)
        return delays


@dataclass(frozen=True)
class Load:
    """Milliseconds that sound needed from phone to model and from model to phone (p50, p99, the worst), and more."""

    phones: int
    seconds: float
    there: tuple[float, ...]
    back: tuple[float, ...]
    lost: float  # seconds of sound
    cpu: float  # of a core, for the bridge

    def __str__(self) -> str:
        legs = "; ".join(
            f"{name} p50 {p50:.1f}, p99 {p99:.1f}, worst {worst:.1f} ms"
            for name, (p50, p99, worst) in (("there", self.there), ("back", self.back))
        )
        fit = int(self.phones / self.cpu) if self.cpu else 0
        return (
            f"{self.phones} phones, {self.seconds:g} s: {legs}; {self.lost:.2f} s lost; "
            f"{100 * self.cpu:.0f} % of a core, so about {fit} phones fit on one"
        )


class World:
    """Everything but the bridge."""

    def __init__(self) -> None:
        self.connections: asyncio.Queue[tuple[Way, Way]] = asyncio.Queue()

    async def model(self, connection: websockets.ServerConnection) -> None:
        """Says as much as it hears, at once."""
        there, back = Way(), Way()
        await connection.recv()
        await connection.send(b'{"setupComplete": {}}')
        self.connections.put_nowait((there, back))
        heard = said = 0.0
        async for frame in connection:
            audio = json.loads(frame).get("realtimeInput", {}).get("audio")
            if audio is None:
                continue
            pcm = base64.b64decode(audio["data"])
            now = time.monotonic()
            heard += len(pcm) / 32_000
            there.came.append((heard, now))
            if (waiting := heard - said) < 2 * PERIOD - AHEAD:
                continue
            said = heard
            back.sent.append((heard, now))
            data = base64.b64encode(bytes(round(waiting * 24_000) * 2)).decode()
            part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
            await connection.send(json.dumps({"serverContent": {"modelTurn": {"parts": [part]}}}).encode())

    async def phone(
        self, socket: websockets.ClientConnection, there: Way, back: Way, seconds: float
    ) -> float:
        """One call; the seconds of sound that were lost."""
        heard = 0.0

        async def hear() -> None:
            nonlocal heard
            async for message in socket:
                frame = json.loads(message)
                if frame["event"] == "media":
                    heard += len(base64.b64decode(frame["media"]["payload"])) / 8000
                    back.came.append((heard, time.monotonic()))

        hearing = asyncio.ensure_future(hear())
        payload = base64.b64encode(b"\xfe" * FRAME).decode()
        began, count = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            count += 1
            media = {"track": "inbound", "chunk": str(count), "payload": payload}
            await socket.send(json.dumps({"event": "media", "streamSid": "MZ1", "media": media}))
            there.sent.append((count * PERIOD, now))
            await asyncio.sleep(max(0.0, began + count * PERIOD - time.monotonic()))
        patience = time.monotonic() + 10
        enough = count * PERIOD - 0.09  # what may wait for its frame to be full, on either side
        while heard < enough and time.monotonic() < patience:
            await asyncio.sleep(0.05)
        await socket.send(json.dumps({"event": "stop", "streamSid": "MZ1", "stop": {}}))
        await hearing
        return max(0.0, enough - heard)

    async def call(self, url: str, phones: int, seconds: float) -> tuple[list[float], list[float], float]:
        """All of them at once: the delays there and back, and what was lost."""
        calls, ways = [], []
        for _ in range(phones):  # one after the other, so that each is known to the model
            socket = await websockets.connect(url, compression=None)
            await socket.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
            await socket.send(json.dumps({"event": "start", "streamSid": "MZ1", "start": {"callSid": "CA1"}}))
            there, back = await self.connections.get()
            ways.append((there, back))
            calls.append(partial(self.phone, socket, there, back, seconds))

        async def later(number: int) -> float:
            await asyncio.sleep(number * PERIOD / phones)  # people do not speak in step
            return await calls[number]()

        lost = sum(await asyncio.gather(*map(later, range(phones))))
        return (
            [delay for there, _ in ways for delay in there.delays()],
            [delay for _, back in ways for delay in back.delays()],
            lost,
        )


def be_the_world(pipe: Connection) -> None:
    """A process: tells the model's port, then takes jobs (url, phones, seconds) until ``None``."""

    async def run() -> None:
        world = World()
        async with websockets.serve(world.model, "127.0.0.1", 0, compression=None) as server:
            pipe.send(next(iter(server.sockets)).getsockname()[1])
            while (job := await asyncio.to_thread(pipe.recv)) is not None:
                pipe.send(await world.call(*job))

    asyncio.run(run())


class Bridge:
    """The bridge in this process and loop, and the world in another one."""

    def __init__(self, url: str, pipe: Any) -> None:
        self._url, self._pipe = url, pipe

    async def converse(self, phones: int, seconds: float) -> Load:
        """Let so many phones talk, and measure."""
        before = resource.getrusage(resource.RUSAGE_SELF)
        self._pipe.send((self._url, phones, seconds))
        there, back, lost = await asyncio.to_thread(self._pipe.recv)
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Load(phones, seconds, _percentiles(there), _percentiles(back), lost, used / seconds)


@asynccontextmanager
async def bridge() -> AsyncIterator[Bridge]:
    """Everything, ready for calls."""
    import uvicorn  # the other process does without
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocket

    import livetools
    from livetools.integrations.telephony import twilio

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=be_the_world, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    port = await asyncio.to_thread(ours.recv)
    agent = partial(
        livetools.connect,
        "gemini-3.8-live",
        base_url=f"ws://127.0.0.1:{port}",
        api_key="none",
        stall_timeout=300.0,
    )

    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await twilio(websocket, agent)

    app = Starlette(routes=[WebSocketRoute("/call", call)])
    config = uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio", lifespan="off")
    server = uvicorn.Server(config)
    with server.capture_signals():
        pass  # what it would install is not for a test
    serving = asyncio.ensure_future(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield Bridge(f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/call", ours)
    finally:
        ours.send(None)
        server.should_exit = True
        await serving
        await asyncio.to_thread(process.join)
        ours.close()


def _percentiles(values: list[float]) -> tuple[float, ...]:
    ordered = sorted(values)
    return tuple(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99, 1))


async def measure(phones: int, seconds: float) -> Load:
    """One number of phones, for so long."""
    async with bridge() as ready:
        return await ready.converse(phones, seconds)


if __name__ == "__main__":
    print(asyncio.run(measure(int(sys.argv[1]), float(sys.argv[2]))))
