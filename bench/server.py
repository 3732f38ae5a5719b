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
import contextlib
import json
import os
import random
import re
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.speedups import apply_mask

ASKED = re.compile(r"run (\w+) (\d+) (\d+)")
PIECE = base64.b64encode(os.urandom(4800)).decode()
BLOB = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": PIECE}}
EVERY = 5.0  # seconds between two calls of one who talks


def message(value: object) -> bytes:
    """As the service sends it: JSON in a binary frame."""
    return json.dumps(value, indent=2).encode()


SPEECH = message({"serverContent": {"modelTurn": {"parts": [BLOB]}}})
SPEECH_FRAME = Frame(Opcode.BINARY, SPEECH).serialize(mask=False)
SOUND = 512  # bytes of a message that can only be sound: what else clients say while they talk is shorter
END = (
    message({"serverContent": {"generationComplete": True}}),
    message({"serverContent": {"turnComplete": True}}),
)
waits: list[float] = []


class Connection(ServerConnection):
    """Cuts the messages out of what comes by itself, as soon as the handshake is done: 20 microseconds less for each.
    ``websockets`` is given the rest, pings and closes.

    ``answered`` hears them, while it is set, and of sound nothing; otherwise they wait for :meth:`read`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.answered: Callable[[str], None] | None = None
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._rest = b""

    async def read(self) -> str:
        """The next message. Raises ``EOFError`` at the end."""
        if (text := await self._messages.get()) is None:
            raise EOFError
        return text

    def data_received(self, data: bytes) -> None:
        if self.protocol.state is not OPEN:
            return super().data_received(data)
        data, at = self._rest + data, 0
        while len(data) - at >= 14 or (len(data) - at >= 6 and data[at + 1] & 127 < 126):
            size, begin = data[at + 1] & 127, at + 6  # behind the mask
            if size > 125:
                begin = at + (8 if size == 126 else 14)
                size = int.from_bytes(data[at + 2 : begin - 4], "big")
            if begin + size > len(data):
                break
            if data[at] & 15 >= Opcode.CLOSE:
                super().data_received(data[at : begin + size])
            elif self.answered is None or size < SOUND:
                self._message(apply_mask(data[begin : begin + size], data[begin - 4 : begin]).decode())
            at = begin + size
        self._rest = data[at:]
        return None

    def _message(self, text: str) -> None:
        if self.answered is None:
            self._messages.put_nowait(text)
        else:
            self.answered(text)

    def connection_lost(self, exc: Exception | None) -> None:
        self._messages.put_nowait(None)
        super().connection_lost(exc)


class Conversation:
    """One client's connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.calls = 0
        self.open: dict[str, float] = {}  # calls that are not answered, and when they were made

    async def serve(self) -> None:
        await self.connection.read()
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
        text = await self.connection.read()
        self.tick_off(text)
        return text

    def tick_off(self, text: str) -> None:
        """The answers in a message, if there are any."""
        if "function" in text[:60]:
            answered: dict[str, Any] = json.loads(text)
            for response in next(iter(next(iter(answered.values())).values())):
                waits.append(time.perf_counter() - self.open.pop(response["id"]))

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
        self.connection.answered = self.tick_off
        await self.speak(n)
        self.connection.answered = None

    async def speak(self, seconds: int) -> None:
        began = time.perf_counter()
        at = random.random() * min(EVERY, seconds)
        for piece in range(seconds * 10):
            await asyncio.sleep(max(0.0, began + piece / 10 - time.perf_counter()))
            self.connection.transport.write(SPEECH_FRAME)
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
    assert isinstance(connection, Connection)
    with contextlib.suppress(EOFError, ConnectionClosed):
        await Conversation(connection).serve()


async def main() -> None:
    async with serve(
        handle, "127.0.0.1", 0, compression=None, ping_interval=None, max_size=None, backlog=2000,
        create_connection=Connection,
    ) as server:  # fmt: skip
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, input)  # until whoever started it has ended


if __name__ == "__main__":
    asyncio.run(main())
