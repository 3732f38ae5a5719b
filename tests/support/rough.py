"""A rough line: a transport that is late at random, and at times swallows what is sent until the line breaks."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import anyio

from livetools.protocol.input.resend import PongCount
from livetools.transport.contract import Dialer, Pinging, Transport


class PingingTransport(Transport, Pinging, Protocol):
    """Both."""


@dataclass
class Crossing:
    """What crossed one connection, in its order at the client: ``("sent" | "received", frame)``."""

    log: list[tuple[str, bytes]] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)  # calls whose cancellation was received
    late: list[str] = field(default_factory=list)  # calls that were answered after it
    asked: list[tuple[bytes, PongCount]] = field(default_factory=list)  # frames with a ping behind them

    def sends(self, frame: bytes) -> None:
        self.log.append(("sent", frame))
        if b'"functionResponse' in frame:
            self.late += [id for id in self.cancelled if f'"{id}"'.encode() in frame]

    def arrived(self, id: str) -> int:
        """How many responses to this call were received at the other end, by their pongs."""
        return sum(id.encode() in frame and pong() is not None for frame, pong in self.asked)

    def received(self, frame: bytes) -> None:
        self.log.append(("received", frame))
        if b'"toolCallCancellation"' in frame:
            self.cancelled.update(json.loads(frame)["toolCallCancellation"]["ids"])


def texts(message: dict[str, Any]) -> Iterator[str]:
    """The texts in a frame of the client's."""
    if "text" in message.get("realtimeInput", {}):
        yield message["realtimeInput"]["text"]
    for turn in message.get("clientContent", {}).get("turns", []):
        yield from (part["text"] for part in turn["parts"] if "text" in part)


@dataclass
class RoughLine:
    """Dials by ``inner``. ``late``: seconds at most that a frame takes; ``swallow``: the chance that a frame, and all
    after it, goes nowhere, until ``cut`` is called (with the time it takes a client to find out)."""

    inner: Dialer
    random: random.Random
    cut: Callable[[float], Awaitable[None]]
    late: float = 0.0
    swallow: float = 0.0
    crossings: list[Crossing] = field(default_factory=list)

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[PingingTransport]:
        async with self.inner.dial(url, headers) as transport:
            self.crossings.append(crossing := Crossing())
            yield _Rough(self, cast(PingingTransport, transport), crossing)


class _Rough:
    def __init__(self, line: RoughLine, inner: PingingTransport, crossing: Crossing) -> None:
        self._line, self._inner, self._crossing = line, inner, crossing
        self._dead = False
        self._pongs: list[PongCount] = []  # of the frame that is sent next

    async def send(self, frame: bytes) -> None:
        line, pongs, self._pongs = self._line, self._pongs, []
        with anyio.CancelScope(shield=True):
            self._crossing.sends(frame)
            await self._late()
            if not self._dead and line.random.random() < line.swallow:
                self._dead = True
                await line.cut(line.random.uniform(0, 10))
            if self._dead:
                pongs[:] = [lambda: None for _ in pongs]
            self._crossing.asked += [(frame, pong) for pong in pongs]
            if not self._dead:
                await self._inner.send(frame)

    def ask(self, at_once: bool = True) -> PongCount:
        pongs = self._pongs = [self._inner.ask(at_once)]
        return lambda: pongs[0]()  # another one, where the frame is swallowed

    def silent_for(self) -> float:
        return self._inner.silent_for()

    def hurry(self) -> None:
        self._inner.hurry()

    async def receive(self) -> bytes:
        frame = await self._inner.receive()
        await self._late()
        self._crossing.received(frame)
        return frame

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _late(self) -> None:
        if self._line.late:
            await anyio.sleep(self._line.random.choice((0.0, self._line.random.uniform(0, self._line.late))))
