"""The server that every client of the benchmarks talks to: a process of its own, which prints its port.

    python bench/server.py

It is lean, so that it is never what is measured. What it does is asked for in the user's text, whichever message that
comes in: ``run JOB N P``.

- ``calls``: N calls of ``work``, P in a message; the next message when all of the last are answered;
- ``audio``: N pieces of speech, 100 ms at 24 kHz; ``say``: a turn of a few words;
- ``send``: reads N pieces of sound, and then ends the turn;
- ``talk``: for N seconds 10 pieces of speech a second, and a call every 5 seconds;
- ``waits``: how long the calls of all conversations have taken to be answered, as text, and forgets it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import re
import time
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

ASKED = re.compile(r"run (\w+) (\d+) (\d+)")
PIECE = base64.b64encode(os.urandom(4800)).decode()
BLOB = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": PIECE}}
EVERY = 5.0  # seconds between two calls of one who talks


def message(value: object) -> bytes:
    """As the service sends it: JSON in a binary frame."""
    return json.dumps(value, indent=2).encode()


SPEECH = message({"serverContent": {"modelTurn": {"parts": [BLOB]}}})
END = (
    message({"serverContent": {"generationComplete": True}}),
    message({"serverContent": {"turnComplete": True}}),
)
waits: list[float] = []


class Conversation:
    """One client's connection."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        self.calls = 0
        self.open: dict[str, float] = {}  # calls that are not answered, and when they were made

    async def serve(self) -> None:
        await self.connection.recv()
        await self.send({"setupComplete": {}})
        while True:
            if (asked := ASKED.search(await self.read())) is not None:
                job, n, p = asked[1], int(asked[2]), int(asked[3])
                await JOBS[job](self, n, p)
                for frame in END:
                    await self.connection.send(frame)

    async def send(self, value: object) -> None:
        await self.connection.send(message(value))

    async def read(self) -> str:
        """The next message; answers in it are ticked off."""
        text = await self.connection.recv()
        text = text if isinstance(text, str) else text.decode()
        if "function" in text[:60]:
            answered: dict[str, Any] = json.loads(text)
            for response in next(iter(next(iter(answered.values())).values())):
                waits.append(time.perf_counter() - self.open.pop(response["id"]))
        return text

    async def call(self, count: int) -> None:
        """Call ``work`` so many times in one message."""
        calls = []
        for _ in range(count):
            self.calls += 1
            calls.append({"id": f"c{self.calls}", "name": "work", "args": {"i": self.calls}})
            self.open[f"c{self.calls}"] = time.perf_counter()
        await self.send({"toolCall": {"functionCalls": calls}})

    async def serve_calls(self, n: int, p: int) -> None:
        for _ in range(0, n, p):
            await self.call(p)
            while self.open:
                await self.read()
        await self.serve_say(1, 1)  # some clients hear no end of a turn in which nothing was said

    async def serve_audio(self, n: int, p: int) -> None:
        for _ in range(n):
            await self.connection.send(SPEECH)

    async def serve_say(self, n: int, p: int) -> None:
        for word in ("Well, ", "here I am."):
            await self.send({"serverContent": {"outputTranscription": {"text": word}}})

    async def serve_send(self, n: int, p: int) -> None:
        for _ in range(n):
            await self.read()

    async def serve_talk(self, n: int, p: int) -> None:
        listening = asyncio.create_task(self.listen())
        try:
            await self.speak(n)
        finally:
            listening.cancel()
            await asyncio.wait({listening})

    async def listen(self) -> None:
        while True:
            await self.read()

    async def speak(self, seconds: int) -> None:
        began = time.perf_counter()
        at = random.random() * min(EVERY, seconds)
        for piece in range(seconds * 10):
            await asyncio.sleep(max(0.0, began + piece / 10 - time.perf_counter()))
            await self.connection.send(SPEECH)
            if piece / 10 >= at:
                at += EVERY
                await self.call(1)
        while self.open:
            await asyncio.sleep(0.01)

    async def serve_waits(self, n: int, p: int) -> None:
        await self.send({"waits": waits})
        waits.clear()


JOBS = {
    name.removeprefix("serve_"): job for name, job in vars(Conversation).items() if name.startswith("serve_")
}


async def handle(connection: ServerConnection) -> None:
    try:
        await Conversation(connection).serve()
    except ConnectionClosed:
        return


async def main() -> None:
    async with serve(
        handle, "127.0.0.1", 0, compression=None, ping_interval=None, max_size=None, backlog=2000
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, input)  # until whoever started it has ended


if __name__ == "__main__":
    asyncio.run(main())
