"""What the clients share: jobs come in on stdin, a JSON object a line, and what each has cost goes out on stdout.

A client is a program of its own, in an environment of its own, so it imports nothing of livetools unless it is
livetools. It gives :func:`serve` its jobs: ``async def job(url, n, p, meter)``, which opens whatever it needs, and does
what is measured inside ``with meter``.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

MODEL = "gemini-3.8-live"
MICROPHONE = bytes(range(256)) * 2 + bytes(128)  # 20 ms at 16 kHz


class Meter:
    """CPU time of this process and wall time of a ``with`` block; instructions, where it runs under callgrind."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}
        library = os.environ.get("BENCH_COUNTER")
        self._counter = ctypes.CDLL(library) if library else None

    def __enter__(self) -> Meter:
        gc.collect()
        gc.disable()  # when it comes would be chance
        if self._counter is not None:
            self._counter.counter_start()
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.told = {"cpu": time.process_time() - self._cpu, "wall": time.perf_counter() - self._wall}
        if self._counter is not None:
            self._counter.counter_stop()
        gc.enable()


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
    print(json.dumps({"jobs": sorted(jobs), "version": version(package)}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        meter = Meter()
        try:
            asyncio.run(asyncio.wait_for(jobs[asked["job"]](url, asked["n"], asked["p"], meter), 120))
        except Exception as error:
            meter.told = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(meter.told), flush=True)
