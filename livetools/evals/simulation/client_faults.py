"""Faults for an eval: a lost connection, a slow tool, a caller who interrupts.

They work on the client's side, and so against any server, the real one too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Self, TypeAlias

import anyio

from livetools.evals.value_checks import expect_count, expect_name, expect_number
from livetools.events import Call
from livetools.tools import Hooks
from livetools.transport.contract import Dialer, Gone, Transport


@dataclass(frozen=True, slots=True)
class Drop:
    """Cuts the connection in this turn (from 1), at the model's first word or call."""

    turn: int

    def __post_init__(self) -> None:
        expect_count(self.turn, "Drop: turn")


@dataclass(frozen=True, slots=True)
class SlowTool:
    """Makes every call of ``name`` take ``seconds`` longer."""

    name: str
    seconds: float

    def __post_init__(self) -> None:
        expect_name(self.name, "SlowTool")
        expect_number(self.seconds, "SlowTool", "seconds")


@dataclass(frozen=True, slots=True)
class BargeIn:
    """Makes the caller interrupt the answer in this turn (from 1): the next turn begins at its first word."""

    turn: int

    def __post_init__(self) -> None:
        expect_count(self.turn, "BargeIn: turn")


ClientFault: TypeAlias = Drop | SlowTool | BargeIn


class Slow(Hooks):
    """The hook that makes tools slow."""

    def __init__(self, faults: Mapping[str, float]) -> None:
        self._seconds = faults

    async def before(self, call: Call) -> None:
        """Wait, before the tool runs."""
        await anyio.sleep(self._seconds.get(call.name, 0.0))


class Cuttable:
    """A dialer around another one. Its connection can be cut as a network does it: without a close frame."""

    def __init__(self) -> None:
        self._inner: Dialer | None = None
        self._current: _Line | None = None

    def around(self, inner: Dialer) -> Self:
        """Dial through ``inner``."""
        self._inner = inner
        return self

    def dial(self, url: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[Transport]:
        """As the dialer inside."""
        return self._dial(url, headers)

    @asynccontextmanager
    async def _dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        assert self._inner is not None
        async with self._inner.dial(url, headers) as transport:
            self._current = line = _Line(transport)
            yield line

    async def cut(self) -> None:
        """Cut the open connection. Does nothing if no connection is open."""
        if self._current is not None:
            await self._current.cut()


class _Line:
    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._cut = False

    async def cut(self) -> None:
        self._cut = True
        await self._inner.aclose()

    async def send(self, frame: bytes) -> None:
        try:
            await self._inner.send(frame)
        except Gone as gone:
            raise self._why(gone) from None

    async def receive(self) -> bytes:
        try:
            return await self._inner.receive()
        except Gone as gone:
            raise self._why(gone) from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _why(self, gone: Gone) -> Gone:
        return Gone(1006, "cut by a fault") if self._cut else gone
