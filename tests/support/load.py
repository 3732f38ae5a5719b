"""Many who talk through one app at once, pages or telephones: what it adds to the way of the sound.

    cd tests && python -m support.load pages|phones HOW_MANY SECONDS

Two processes: the app (the relay, or the bridge of telephony), and all else: those who talk, and the model, which says
as much as it hears, at once. Places in the sound are compared: when so much of it was sent, and when so much had come.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import websockets

PATIENCE = 10.0  # seconds for sound that has not come yet
SETTLED = 0.5  # seconds for the closing handshakes of those who have left


@dataclass
class Way:
    """Sound on one way: how much of it was handed on by when. Seconds of sound, and of the clock."""

    sent: list[tuple[float, float]] = field(default_factory=list)
    came: list[tuple[float, float]] = field(default_factory=list)

    def delays(self, ahead: float) -> list[float]:
        """How long each piece took from being sent to being there, less the ``ahead`` that resampling holds back."""
        delays, at = [], 0
        for until, moment in self.sent:
            while at < len(self.came) and self.came[at][0] < until - ahead - 1e-9:
                at += 1
            if at == len(self.came):
                break
            delays.append(self.came[at][1] - moment)
        return delays


@dataclass(frozen=True)
class Talker:
    """Somebody who talks, and what the other side is: all that differs between pages and telephones."""

    app: Callable[[Any], Any]  # from an agent
    begin: Callable[[websockets.ClientConnection], Any]
    message: Callable[[int], str | bytes]  # number n, from 1, of ``period`` seconds of sound
    seconds: Callable[[str | bytes], float]  # of sound in what came
    period: float
    ahead: float  # seconds of sound that the app holds back to resample
    end: str


@dataclass(frozen=True)
class Load:
    """Milliseconds from talker to model and from model to talker (p50, p99, the worst), and more."""

    who: str
    many: int
    seconds: float
    there: tuple[float, ...]
    back: tuple[float, ...]
    lost: float  # seconds of sound
    cpu: float  # of a core, for the app

    def __str__(self) -> str:
        legs = "; ".join(
            f"{name} p50 {p50:.1f}, p99 {p99:.1f}, worst {worst:.1f} ms"
            for name, (p50, p99, worst) in (("there", self.there), ("back", self.back))
        )
        fit = int(self.many / self.cpu) if self.cpu else 0
        return (
            f"{self.many} {self.who}, {self.seconds:g} s: {legs}; {self.lost:.2f} s lost; "
            f"{100 * self.cpu:.0f} % of a core, so about {fit} fit on one"
        )


# -- pages


def relay_app(agent: Any) -> Any:
    from livetools.integrations.starlette import relay  # the other process does without

    return relay(agent, linger=0)


async def open_page(socket: websockets.ClientConnection) -> None:
    assert json.loads(await socket.recv())["type"] == "ready"


def page_message(number: int) -> bytes:
    return b"\1" * 1280  # 40 ms of 16 kHz


def page_seconds(message: str | bytes) -> float:
    return len(message) / 48_000 if isinstance(message, bytes) else 0.0


# -- telephones


def phone_app(agent: Any) -> Any:
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocket

    from livetools.integrations.telephony import twilio

    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        await twilio(websocket, agent)

    return Starlette(routes=[WebSocketRoute("/", call)])


async def pick_up(socket: websockets.ClientConnection) -> None:
    await socket.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
    await socket.send(json.dumps({"event": "start", "streamSid": "MZ1", "start": {"callSid": "CA1"}}))


G711 = base64.b64encode(b"\xfe" * 160).decode()  # 20 ms


def phone_message(number: int) -> str:
    media = {"track": "inbound", "chunk": str(number), "payload": G711}
    return json.dumps({"event": "media", "streamSid": "MZ1", "media": media})


def phone_seconds(message: str | bytes) -> float:
    frame = json.loads(message)
    return len(base64.b64decode(frame["media"]["payload"])) / 8000 if frame["event"] == "media" else 0.0


HANG_UP = json.dumps({"event": "stop", "streamSid": "MZ1", "stop": {}})
TALKERS = {
    "pages": Talker(relay_app, open_page, page_message, page_seconds, 0.04, 0.0, '{"type": "end"}'),
    "phones": Talker(phone_app, pick_up, phone_message, phone_seconds, 0.02, 0.0025, HANG_UP),
}


# -- the other process


class World:
    """Everything but the app."""

    def __init__(self, talker: Talker) -> None:
        self.talker = talker
        self.connections: asyncio.Queue[tuple[Way, Way]] = asyncio.Queue()

    async def model(self, connection: websockets.ServerConnection) -> None:
        """Says as much as it hears, in pieces of 40 ms."""
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
            if (waiting := heard - said) < 0.04 - self.talker.ahead - 1e-9:
                continue
            said = heard
            back.sent.append((heard, now))
            data = base64.b64encode(bytes(round(waiting * 24_000) * 2)).decode()
            part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
            await connection.send(json.dumps({"serverContent": {"modelTurn": {"parts": [part]}}}).encode())

    async def talk(self, socket: Any, there: Way, back: Way, seconds: float) -> float:
        """One conversation; the seconds of sound that were lost."""
        talker, heard = self.talker, 0.0

        async def hear() -> None:
            nonlocal heard
            async for message in socket:
                if more := talker.seconds(message):
                    heard += more
                    back.came.append((heard, time.monotonic()))

        hearing = asyncio.ensure_future(hear())
        began, count = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            count += 1
            await socket.send(talker.message(count))
            there.sent.append((count * talker.period, now))
            await asyncio.sleep(max(0.0, began + count * talker.period - time.monotonic()))
        until = time.monotonic() + PATIENCE
        enough = count * talker.period - (
            0.09 if talker.ahead else 1e-6
        )  # what waits for its frame to be full
        while heard < enough and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await socket.send(talker.end)
        await hearing
        return max(0.0, enough - heard)

    async def converse(self, url: str, many: int, seconds: float) -> tuple[list[float], list[float], float]:
        """All of them at once: the delays there and back, and what was lost."""
        talks, ways = [], []
        for _ in range(many):  # one after the other, so that each is known to the model
            socket = await websockets.connect(url, compression=None)
            await self.talker.begin(socket)
            there, back = await self.connections.get()
            ways.append((there, back))
            talks.append(partial(self.talk, socket, there, back, seconds))

        async def later(number: int) -> float:
            await asyncio.sleep(number * self.talker.period / many)  # people do not speak in step
            return await talks[number]()

        lost = sum(await asyncio.gather(*map(later, range(many))))
        ahead = self.talker.ahead
        return (
            [delay for there, _ in ways for delay in there.delays(ahead)],
            [delay for _, back in ways for delay in back.delays(ahead)],
            lost,
        )


def be_the_world(pipe: Connection, who: str) -> None:
    """A process: tells the model's port, then takes jobs (url, how many, seconds) until ``None``."""

    async def run() -> None:
        world = World(TALKERS[who])
        async with websockets.serve(world.model, "127.0.0.1", 0, compression=None) as server:
            pipe.send(next(iter(server.sockets)).getsockname()[1])
            while (job := await asyncio.to_thread(pipe.recv)) is not None:
                gc.collect()
                pipe.send(await world.converse(*job))

    asyncio.run(run())


# -- this process


@dataclass(frozen=True)
class App:
    """The app in this process and loop, and the world in another process."""

    who: str
    url: str
    pipe: Any

    async def converse(self, many: int, seconds: float) -> Load:
        """Let so many talk, measure, and come back when they have left."""
        before = resource.getrusage(resource.RUSAGE_SELF)
        self.pipe.send((self.url, many, seconds))
        there, back, lost = await asyncio.to_thread(self.pipe.recv)
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        await asyncio.sleep(SETTLED)
        return Load(self.who, many, seconds, _percentiles(there), _percentiles(back), lost, used / seconds)


@asynccontextmanager
async def serving_load(who: str) -> AsyncIterator[App]:
    """Everything, ready for those who talk."""
    import livetools  # the other process does without

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=be_the_world, args=(theirs, who), daemon=True)
    process.start()
    theirs.close()
    agent = partial(
        livetools.connect,
        "gemini-3.8-live",
        base_url=f"ws://127.0.0.1:{await asyncio.to_thread(ours.recv)}",
        api_key="none",
        stall_timeout=300.0,
    )
    try:
        async with _served(TALKERS[who].app(agent)) as port:
            yield App(who, f"ws://127.0.0.1:{port}/", ours)
            ours.send(None)
            await asyncio.to_thread(process.join)
    finally:
        process.kill()
        process.join()
        ours.close()


@asynccontextmanager
async def _served(app: Any) -> AsyncIterator[int]:
    """The app behind uvicorn, in this loop: its port."""
    import uvicorn

    config = uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio", lifespan="off")
    server = uvicorn.Server(config)
    with server.capture_signals():
        pass  # what it would install is not for a test
    serving = asyncio.ensure_future(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _percentiles(values: list[float]) -> tuple[float, ...]:
    ordered = sorted(values)
    return tuple(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99, 1))


async def measure(who: str, many: int, seconds: float) -> Load:
    """So many, for so long."""
    async with serving_load(who) as app:
        return await app.converse(many, seconds)


if __name__ == "__main__":
    print(asyncio.run(measure(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
