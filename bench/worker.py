"""What the clients share: jobs come in on stdin, a JSON object a line, and what each has cost goes out on stdout.

A client is a program of its own, in an environment of its own, so it imports nothing of livetools unless it is
livetools. It gives :func:`serve` its jobs: ``async def job(url, n, p, meter)``, which opens whatever it needs, and does
what is measured inside ``with meter``.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import gc
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

MODEL = "gemini-3.8-live"
MICROPHONE = bytes(range(256)) * 2 + bytes(128)  # 20 ms at 16 kHz
EVERY = 0.02  # seconds between two of those
PIECES = 10  # how many have been sent where the microphone is said to be open


@dataclass
class Stops:
    """A callback for ``gc.callbacks``: what each run of the collector takes, in seconds of this thread's CPU, which
    other programs on the machine lengthen little."""

    took: list[float] = field(default_factory=list)
    began: float = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self.began = time.thread_time()
        else:
            self.took.append(time.thread_time() - self.began)


class Meter:
    """CPU time of this process and wall time of ``with`` blocks, summed; instructions too, under callgrind."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        self._stops: Stops | None = None
        library = os.environ.get("BENCH_COUNTER")
        self._counter = ctypes.CDLL(library) if library else None

    def collecting(self) -> Meter:
        """For one block in which the garbage collector runs, as users have it. ``longest`` and ``stopped``: seconds
        of its longest stop and of all."""
        self._stops = Stops()
        return self

    def __enter__(self) -> Meter:
        gc.collect()
        if self._stops is None:
            gc.disable()  # when it comes would be chance
        else:
            gc.callbacks.append(self._stops)
        if self._counter is not None:
            self._counter.counter_start()
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        took = {"cpu": time.process_time() - self._cpu, "wall": time.perf_counter() - self._wall}
        self.told = {what: self.told.get(what, 0.0) + seconds for what, seconds in took.items()}
        if self._counter is not None:
            self._counter.counter_stop()
        gc.enable()
        if self._stops is not None:
            gc.callbacks.remove(self._stops)
            self.told |= {"longest": max(self._stops.took, default=0.0), "stopped": sum(self._stops.took)}


Job = Callable[[str, int, int, Meter], Awaitable[None]]


def memory() -> int:
    """Bytes of this process that are in memory and its own."""
    pages, shared = Path("/proc/self/statm").read_text().split()[1:3]
    return (int(pages) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def request(job: str, n: int = 1, p: int = 1) -> str:
    """What the user says to the server."""
    return f"run {job} {n} {p}"


async def work(i: int) -> int:
    """Works."""
    return i


async def pause(i: int) -> int:
    """Takes 100 ms."""
    await asyncio.sleep(0.1)
    return i


Tool = Callable[..., Awaitable[int]]


@dataclass(frozen=True)
class Conversation:
    """How one client talks to the server; the jobs of all clients are made of it.

    ``opened(url, tool)``: a session in which the model can call ``tool``; ``say(session, job, n, p)``: ask the server
    for a job; ``listen(session, tool)``: until the turn ends, answering calls; ``speak(session)``: send 20 ms of sound.
    """

    opened: Callable[[str, Tool], AbstractAsyncContextManager[Any]]
    say: Callable[[Any, str, int, int], Awaitable[None]]
    listen: Callable[[Any, Tool], Awaitable[None]]
    speak: Callable[[Any], Awaitable[None]]

    def jobs(self) -> dict[str, Job]:
        """What is measured of every client."""
        jobs = {"calls": self.turn("calls"), "pause": self.turn("calls", pause), "audio": self.turn("audio")}
        jobs |= {"send": self.send, "ask": self.ask, "talk": self.talk, "sessions": self.sessions}
        return {**jobs, "day": self.day}

    def turn(self, name: str, tool: Tool = work) -> Job:
        """A job of the server's, in one turn."""

        async def run(url: str, n: int, p: int, meter: Meter) -> None:
            async with self.opened(url, tool) as session:
                with meter:
                    await self.say(session, name, n, p)
                    await self.listen(session, tool)

        return run

    async def send(self, url: str, n: int, p: int, meter: Meter) -> None:
        async with self.opened(url, work) as session:
            await self.say(session, "send", n, 1)
            with meter:
                for _ in range(n):
                    await self.speak(session)
            await self.listen(session, work)

    async def ask(self, url: str, n: int, p: int, meter: Meter) -> None:
        async with self.opened(url, work) as session:
            with meter:
                for _ in range(n):
                    await self.say(session, "say", 1, 1)
                    await self.listen(session, work)

    async def talk(self, url: str, n: int, p: int, meter: Meter) -> None:
        """``n`` sessions that send and hear sound for ``p`` seconds. ``spoken``: seconds of sound that were sent."""
        async with AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(self.opened(url, work)) for _ in range(n)]
            with meter:
                spoken = await asyncio.gather(*(self._converse(session, p) for session in sessions))
            meter.told["spoken"] = sum(spoken) * EVERY

    async def _converse(self, session: Any, seconds: int) -> int:
        """How many pieces were sent: who cannot keep up sends fewer."""
        await asyncio.sleep(random.random() * EVERY)  # people do not speak in step
        await self.say(session, "talk", seconds, 1)
        listening, began = asyncio.ensure_future(self.listen(session, work)), time.perf_counter()
        for piece in itertools.count(1):
            await self.speak(session)
            await asyncio.sleep(max(0.0, began + piece * EVERY - time.perf_counter()))
            if listening.done():
                break
        await listening
        return piece

    async def sessions(self, url: str, n: int, p: int, meter: Meter) -> None:
        """Bytes a session, of ``n``: idle, and when each has called and talked."""
        async with self.opened(url, work) as session:
            await self._call_and_talk(session)  # what is loaded once
        before = memory()
        async with AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(self.opened(url, work)) for _ in range(n)]
            idle = memory() - before
            for session in sessions:
                await self._call_and_talk(session)
            meter.told = {"idle": idle / n, "talking": (memory() - before) / n}

    async def day(self, url: str, n: int, p: int, meter: Meter) -> None:
        """``p`` sessions at once, whose microphones are open, and ``n`` calls in each, while the collector runs."""

        async def called(session: Any, calls: int) -> None:
            await self.say(session, "calls", calls, 1)
            await self.listen(session, work)

        async with AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(self.opened(url, work)) for _ in range(p)]
            for session in sessions:
                await called(session, 1)  # what is made once
            await open_microphone(*(functools.partial(self.speak, session) for session in sessions))
            with meter.collecting():
                await asyncio.gather(*(called(session, n) for session in sessions))

    async def _call_and_talk(self, session: Any) -> None:
        for job in ("calls", "audio"):
            await self.say(session, job, 4, 1)
            await self.listen(session, work)


async def open_microphone(*speaks: Callable[[], Awaitable[None]]) -> None:
    """Sound goes out on each connection, a piece every 20 ms, for a fifth of a second."""
    for _ in range(PIECES):
        for speak in speaks:
            await speak()
        await asyncio.sleep(EVERY)


def without_tls() -> None:
    """Let google-genai's client, whoever uses it, talk to the server without TLS, which it insists on: the cost of
    that would be the same for all, and blur what is compared."""
    from google.genai import live
    from websockets.asyncio.client import connect

    def plain(uri: str, ssl: object = None, **options: Any) -> Any:
        return connect(uri.replace("wss:", "ws:"), **{"max_size": None, **options})

    live.ws_connect = plain


def serve(package: str, jobs: Mapping[str, Job]) -> None:
    """Do jobs until stdin ends. The first line out says what can be done, and which version does it."""
    url = sys.argv[1]
    print(json.dumps({"jobs": sorted(jobs), "package": package, "version": version(package)}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        meter = Meter()
        try:
            asyncio.run(asyncio.wait_for(jobs[asked["job"]](url, asked["n"], asked["p"], meter), 120))
        except Exception as error:
            meter.told = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(meter.told), flush=True)
