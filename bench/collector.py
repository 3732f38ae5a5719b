"""How long the garbage collector stops a process with many sessions, and what ``gc.freeze()`` brings.

    python bench/collector.py [SESSIONS] [CALLS]        200 and 60 unless said otherwise

Each session has spoken into its microphone, and answers as many calls, with the collector on as Python has it. The
transport is in memory. Reported: the longest stop and the share of all CPU time, by the thread's own CPU clock, which
other programs on the machine lengthen little; once as it is, and once with ``gc.collect()`` and ``gc.freeze()`` when
all sessions are open. Each in a process of its own. Never gating.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import time

from worker import Stops

import livetools
from livetools.session import MemoryTransport

SESSIONS, CALLS = 200, 60


def work(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


class Line:
    """A session and the server's end of its connection."""

    async def open(self, stack: contextlib.AsyncExitStack) -> None:
        transport = MemoryTransport()
        session = livetools.connect(
            "gemini-3.8-live", tools=[work], transport=transport, base_url="ws://localhost"
        )
        opening = asyncio.ensure_future(stack.enter_async_context(session))
        self.server = await transport.accept()
        await self.server.receive()
        self.server.send({"setupComplete": {}})
        await opening
        self.reader = asyncio.ensure_future(self.read(session))
        stack.callback(self.reader.cancel)
        await session.send_audio(bytes(640))
        await self.server.receive()
        self.calls = 0

    async def read(self, session: livetools.Session) -> None:
        async for _ in session:
            pass

    async def call(self) -> None:
        """The model calls, and reads the answer."""
        self.calls += 1
        call = {"id": f"c{self.calls}", "name": "work", "args": {"city": "Oslo"}}
        self.server.send({"toolCall": {"functionCalls": [call]}})
        while "toolResponse" not in await self.server.receive():
            pass


async def measure(sessions: int, calls: int, freeze: bool) -> str:
    """The stops of the collector while these sessions answer these calls."""
    async with contextlib.AsyncExitStack() as stack:
        lines = [Line() for _ in range(sessions)]
        for line in lines:
            await line.open(stack)
        for line in lines:
            await line.call()  # what is made once
        gc.collect()
        if freeze:
            gc.freeze()
        stops = Stops()
        gc.callbacks.append(stops)
        began = time.thread_time()
        for _ in range(calls):
            await asyncio.gather(*(line.call() for line in lines))
        cpu = time.thread_time() - began
        gc.callbacks.remove(stops)
        longest, share = 1e3 * max(stops.took, default=0.0), 100 * sum(stops.took) / cpu
        each = 1e6 * cpu / (sessions * calls)
        return f"longest stop {longest:.1f} ms, {share:.1f} % of the CPU time, {each:.0f} µs CPU a call"


def main() -> None:
    """Print a line for each way."""
    sessions, calls = ([int(each) for each in sys.argv[1:3]] + [SESSIONS, CALLS][len(sys.argv[1:3]) :])[:2]
    if sys.argv[3:]:
        print(asyncio.run(measure(sessions, calls, sys.argv[3] == "freeze")))
        return
    for way in ("as it is", "freeze"):
        command = [sys.executable, __file__, str(sessions), str(calls), way]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(
            f"{sessions} sessions, {'gc.freeze()' if way == 'freeze' else way}: {done.stdout.strip()}",
            flush=True,
        )


if __name__ == "__main__":
    main()
