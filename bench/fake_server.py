"""How much company the fake server keeps on one core: idle sessions, typing ones and talking ones.

    python bench/fake_server.py [IDLE] [TALKING] [SECONDS]        1000, 200 and 10 unless said otherwise

The server is a process of its own, and so are its clients. Each talking client streams a microphone in real time
(16 kHz, pieces of 100 ms, 0.8 s of speech in every 2 s) and hears the answer, as sound with a transcript; each typing
one asks, has a call answered and hears the end, once a second. Reported: how long after the end of the user's turn the
whole answer was there, and the CPU time of the server meanwhile. Where the machine is busy with other things, the
second is the figure to go by. Never gating.
"""

from __future__ import annotations

import asyncio
import base64
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

from websockets.asyncio.client import ClientConnection, connect

from livetools.testing import FakeLiveServer, Turn
from livetools.testing.messages.output import tone

PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
# Pieces of 100 ms: a whole cycle, the speech in it, the silence that ends a turn.
CYCLE, SPEECH, PAUSE = 20, 8, 5


async def answer(turn: Turn) -> None:
    if turn.text:
        await turn.call("f")
    await turn.say("Yes, I heard what you said.")


def serve(pipe: Connection) -> None:
    async def main() -> None:
        async with FakeLiveServer(answer) as server:
            server.service.log.limit = 10_000
            pipe.send(server.url)
            while await asyncio.to_thread(pipe.recv):
                pipe.send(used())

    asyncio.run(main())


def used() -> tuple[float, int]:
    """Seconds of CPU and MiB of memory that this process has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def piece(pcm: bytes) -> str:
    blob = {"data": base64.b64encode(pcm).decode(), "mimeType": "audio/pcm;rate=16000"}
    return json.dumps({"realtimeInput": {"audio": blob}})


async def talk(socket: ClientConnection, seconds: float, waits: list[float]) -> None:
    loud, quiet = piece(tone(0.1, rate=16000)), piece(bytes(3200))
    ended: list[float] = []

    async def listen() -> None:
        async for message in socket:
            if b'"turnComplete"' in message[:200] and ended:
                waits.append(time.perf_counter() - ended.pop())

    listener, began = asyncio.create_task(listen()), time.perf_counter()
    for n in range(int(seconds * 10)):
        if n % CYCLE == SPEECH + PAUSE - 1:  # this piece completes the silence
            ended[:] = [time.perf_counter()]
        await socket.send(loud if n % CYCLE < SPEECH else quiet)
        await asyncio.sleep(max(0.0, began + (n + 1) / 10 - time.perf_counter()))
    listener.cancel()


async def type_(socket: ClientConnection, seconds: float, waits: list[float]) -> None:
    question = {
        "clientContent": {"turns": [{"role": "user", "parts": [{"text": "go"}]}], "turnComplete": True}
    }
    for _ in range(int(seconds)):
        began, ends = time.perf_counter(), 0
        await socket.send(json.dumps(question))
        while ends < 2:  # a call that does not block ends its turn, the answer begins another
            message = await socket.recv()
            if b'"toolCall"' in message[:40]:
                (call,) = json.loads(message)["toolCall"]["functionCalls"]
                reply = {"id": call["id"], "name": call["name"], "response": {"output": 1}}
                await socket.send(json.dumps({"toolResponse": {"functionResponses": [reply]}}))
            ends += b'"turnComplete"' in message[:200]
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(1)


async def visit(url: str, use: Callable[[ClientConnection], Awaitable[object]]) -> None:
    async with connect(
        url + PATH, max_size=None, compression=None, ping_interval=None, open_timeout=60
    ) as socket:
        setup = {"model": "models/gemini-3.8-live", "outputAudioTranscription": {}}
        await socket.send(json.dumps({"setup": setup}))
        await socket.recv()
        await use(socket)


class Meter:
    """What the server used since it was last asked."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.cpu, self.at = 0.0, time.perf_counter()

    def read(self) -> str:
        self.pipe.send(True)
        (cpu, memory), now = self.pipe.recv(), time.perf_counter()
        spent, passed = cpu - self.cpu, now - self.at
        self.cpu, self.at = cpu, now
        return (
            f"server: {spent:.1f} s of CPU in {passed:.0f} s ({spent / passed:.0%} of a core), {memory} MiB"
        )


async def visits(url: str, idle: int, busy: int, seconds: float, meter: Meter) -> None:
    over = asyncio.Event()
    waiting = [asyncio.create_task(visit(url, lambda _: over.wait())) for _ in range(idle)]
    await asyncio.sleep(3)
    print(f"{idle} idle; {meter.read()}")
    for name, way in (("typing", type_), ("talking", talk)):
        waits: list[float] = []

        async def one(n: int, way=way, waits=waits) -> None:
            await asyncio.sleep(2 * n / busy)  # spread over a cycle
            await visit(url, lambda socket: way(socket, seconds, waits))

        await asyncio.gather(*(one(n) for n in range(busy)))
        waits.sort()
        middle, most = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
        times = f"median {middle * 1e3:.0f} ms, 99 % {most * 1e3:.0f} ms"
        print(f"{busy} {name}: {len(waits)} turns, {times}; {meter.read()}")
    over.set()
    await asyncio.gather(*waiting)


def main(idle: int = 1000, busy: int = 200, seconds: int = 10) -> None:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,))
    server.start()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    url = ours.recv()
    asyncio.run(visits(url, idle, busy, seconds, Meter(ours)))
    ours.send(False)
    server.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
