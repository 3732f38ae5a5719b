"""Many processes behind a balancer, and pages that talk to them: all on asyncio, with real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

APP = Path(__file__).with_name("fleet_app.py")


async def status(port: int, request: str = "GET /live/ready") -> int:
    """The status of an HTTP answer; 0 where nobody answers."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    try:
        writer.write(f"{request} HTTP/1.1\r\nHost: fleet\r\nConnection: close\r\n\r\n".encode())
        line = (await reader.readline()).split()
        return int(line[1]) if len(line) > 1 else 0
    except OSError:
        return 0
    finally:
        writer.close()


class Fleet:
    """Starts processes and waits for their ends."""

    def __init__(self, parent: asyncio.subprocess.Process) -> None:
        self._parent = parent
        self._running: set[int] = set()

    @classmethod
    @asynccontextmanager
    async def of(cls, *arguments: str) -> AsyncIterator[Fleet]:
        pipe = asyncio.subprocess.PIPE
        parent = await asyncio.create_subprocess_exec(
            sys.executable, str(APP), *arguments, stdin=pipe, stdout=pipe
        )
        fleet = cls(parent)
        try:
            yield fleet
        finally:
            for pid in fleet._running:
                os.kill(pid, signal.SIGKILL)
            parent.kill()
            await parent.wait()

    async def _tell(self, command: str) -> int:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{command}\n".encode())
        return int(await self._parent.stdout.readline())

    async def start(self) -> Process:
        """A process that is ready."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = Process(await self._tell(f"start {port}"), port)
        self._running.add(process.pid)
        while await status(port) != 200:
            await asyncio.sleep(0.05)
        return process

    async def stop(self, process: Process) -> int:
        """SIGTERM; the exit code."""
        os.kill(process.pid, signal.SIGTERM)
        code = await self._tell(f"wait {process.pid}")
        self._running.discard(process.pid)
        return code


class Process(NamedTuple):
    """One process of a fleet."""

    pid: int
    port: int


class Balancer:
    """Sends each new connection to the next process that is ready."""

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.taken: dict[int, int] = {}  # connections, by port
        self._turn = itertools.count()
        self.port = 0

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[Balancer]:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            for _ in self.processes:
                process = self.processes[next(self._turn) % len(self.processes)]
                if await status(process.port) == 200:
                    self.taken[process.port] = self.taken.get(process.port, 0) + 1
                    return await self._join(reader, writer, process.port)
        return None

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        with contextlib.suppress(OSError):
            back, forth = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.closing(forth):
                await asyncio.gather(_copy(reader, forth), _copy(back, writer))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()


class Client:
    """A page that orders one thing after another, and comes back as ``livetools/web`` does."""

    def __init__(self, name: str, url: str) -> None:
        self.name, self._url = name, url
        self.answered: list[str] = []
        self.resumed: list[bool] = []  # each time it came back
        self._token: str | None = None
        self._asked = 0  # orders that were sent, again or not
        self._waiting: list[str] = []  # texts that no user_text has named

    async def order(self, enough: asyncio.Event) -> None:
        """Order until it is enough, each thing when the one before was answered, over several websockets."""
        while not (enough.is_set() and len(self.answered) == self._asked):
            with contextlib.suppress(ConnectionClosed, InvalidHandshake, OSError):
                await self._visit(enough)
            await asyncio.sleep(0.1)

    async def _visit(self, enough: asyncio.Event) -> None:
        back = self._token is not None
        offered = ["livetools.v1", "livetools.resume"] if back else ["livetools.v1"]
        async with connect(self._url, subprotocols=offered, proxy=None) as socket:
            if back:
                await socket.send(json.dumps({"type": "resume", "token": self._token, "after": 0}))
            async for data in socket:
                message = {"type": "sound"} if isinstance(data, bytes) else json.loads(data)
                match message["type"]:
                    case "ready":
                        if back:
                            self.resumed.append(message["resumed"])
                        self._token = message["token"]
                        for text in self._waiting:
                            await self._say(socket, text)
                    case "user_text":
                        self._waiting.remove(message["text"])
                    case "OutputTranscript" if message["text"].startswith(f"done {self.name}"):
                        self.answered.append(message["text"].removeprefix("done "))
                if len(self.answered) == self._asked and message["type"] in ("ready", "OutputTranscript"):
                    if enough.is_set():
                        return await socket.send('{"type": "end"}')
                    self._waiting.append(f"order {self.name}-{self._asked}")
                    self._asked += 1
                    await self._say(socket, self._waiting[-1])
        return None

    async def _say(self, socket: ClientConnection, text: str) -> None:
        await socket.send(json.dumps({"type": "text", "text": text}))
