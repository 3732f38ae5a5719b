"""Many pages that talk through one relay at once: what it adds to the way of the sound, and what it leaves behind.

    cd tests && python -m support.load PAGES SECONDS

Three processes: the model, which says at once what it hears; the relay; the pages, each of which sends 40 ms of sound
every 40 ms. Each piece of sound bears the times at which it was handed on (the clock is the machine's).
"""

from __future__ import annotations

import asyncio
import base64
import json
import multiprocessing
import resource
import struct
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import websockets

CHUNK, PERIOD = 1280, 0.04  # bytes of 16 kHz, seconds
STAMPS = struct.Struct("<dd")  # handed to the relay by the page, and by the model


@dataclass(frozen=True)
class Load:
    """Milliseconds that sound needed from page to model and from model to page (p50, p99, the worst), and more."""

    pages: int
    seconds: float
    there: tuple[float, float, float]
    back: tuple[float, float, float]
    chunks: int  # that came back
    lost: int
    cpu: float  # of a core, for the relay

    def __str__(self) -> str:
        legs = "; ".join(
            f"{name} p50 {p50:.1f}, p99 {p99:.1f}, worst {worst:.1f} ms"
            for name, (p50, p99, worst) in (("there", self.there), ("back", self.back))
        )
        fit = int(self.pages / self.cpu) if self.cpu else 0
        return (
            f"{self.pages} pages, {self.seconds:g} s: {legs}; {self.chunks} chunks, {self.lost} lost; "
            f"{100 * self.cpu:.0f} % of a core, so about {fit} pages fit on one"
        )


async def answer(connection: websockets.ServerConnection) -> None:
    """A model that says what it hears, with the time of its saying so."""
    await connection.recv()
    await connection.send(b'{"setupComplete": {}}')
    async for frame in connection:
        audio = json.loads(frame).get("realtimeInput", {}).get("audio")
        if audio is None:
            continue
        pcm = bytearray(base64.b64decode(audio["data"]))
        heard = time.monotonic()
        sent, _ = STAMPS.unpack_from(pcm)
        STAMPS.pack_into(pcm, 0, sent, heard)
        data = base64.b64encode(pcm).decode()
        part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
        await connection.send(json.dumps({"serverContent": {"modelTurn": {"parts": [part]}}}).encode())


def be_the_model(pipe: Connection) -> None:
    """A process: tells its port, and lives until it is ended."""

    async def run() -> None:
        async with websockets.serve(answer, "127.0.0.1", 0, compression=None) as server:
            pipe.send(next(iter(server.sockets)).getsockname()[1])
            await asyncio.Event().wait()

    asyncio.run(run())


async def page(url: str, seconds: float, legs: list[tuple[float, float]]) -> int:
    """One page: how many chunks it sent."""
    async with websockets.connect(url, compression=None) as socket:
        assert json.loads(await socket.recv())["type"] == "ready"

        heard = 0

        async def hear() -> None:
            nonlocal heard
            async for message in socket:
                if isinstance(message, bytes):
                    now = time.monotonic()
                    heard += 1
                    sent, said = STAMPS.unpack_from(message)
                    legs.append((said - sent, now - said))

        hearing = asyncio.ensure_future(hear())
        began, count = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            await socket.send(STAMPS.pack(now, 0.0).ljust(CHUNK, b"\1"))
            count += 1
            await asyncio.sleep(max(0.0, began + count * PERIOD - time.monotonic()))
        patience = time.monotonic() + 30
        while heard < count and time.monotonic() < patience:
            await asyncio.sleep(0.05)
        await socket.send('{"type": "end"}')
        await hearing
        return count


def be_the_pages(pipe: Connection, url: str, pages: int, seconds: float) -> None:
    """A process: tells what all the pages saw."""
    legs: list[tuple[float, float]] = []

    async def one(number: int) -> int:
        await asyncio.sleep(number * PERIOD / pages)  # people do not speak in step
        return await page(url, seconds, legs)

    async def run() -> int:
        return sum(await asyncio.gather(*(one(number) for number in range(pages))))

    pipe.send((asyncio.run(run()), legs))


@asynccontextmanager
async def served(model_port: int) -> AsyncIterator[str]:
    """The relay in this process and loop: its URL."""
    import uvicorn  # the other processes do without

    import livetools
    from livetools.integrations.starlette import relay

    agent = partial(
        livetools.connect, "gemini-3.8-live", base_url=f"ws://127.0.0.1:{model_port}", api_key="none"
    )
    config = uvicorn.Config(
        relay(agent, linger=0), port=0, log_level="error", ws="websockets-sansio", lifespan="off"
    )
    server = uvicorn.Server(config)
    with server.capture_signals():
        pass  # what it would install is not for a test
    serving = asyncio.ensure_future(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        await serving


async def converse(url: str, pages: int, seconds: float) -> Load:
    """Let so many pages talk, and measure."""
    legs: list[tuple[float, float]] = []
    before = resource.getrusage(resource.RUSAGE_SELF)
    sent, legs = await asyncio.to_thread(_run_pages, url, pages, seconds)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Load(
        pages, seconds, _percentiles([leg[0] for leg in legs]), _percentiles([leg[1] for leg in legs]),
        len(legs), sent - len(legs), used / seconds,
    )  # fmt: skip


def _run_pages(url: str, pages: int, seconds: float) -> tuple[int, list[tuple[float, float]]]:
    return _child(be_the_pages, url, pages, seconds, keep=False)[0]  # type: ignore[no-any-return]


def _child(target: Any, *arguments: Any, keep: bool) -> tuple[Any, Any]:
    """What a process of its own tells first; the process as well, if it is to live on."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    told = ours.recv()
    ours.close()
    if not keep:
        process.join()
    return told, process


@asynccontextmanager
async def model() -> AsyncIterator[int]:
    """The model in a process of its own: its port."""
    port, process = await asyncio.to_thread(partial(_child, be_the_model, keep=True))
    try:
        yield port
    finally:
        process.terminate()
        process.join()


def _percentiles(values: list[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    return tuple(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99, 1))


async def measure(pages: int, seconds: float) -> Load:
    """Everything: model, relay, pages."""
    async with model() as port, served(port) as url:
        return await converse(url, pages, seconds)


if __name__ == "__main__":
    print(asyncio.run(measure(int(sys.argv[1]), float(sys.argv[2]))))
