"""Runs one task for each connection: it dials, feeds received messages to the machine, and reports the end.

A connection is entered and left in its own task, because two that overlap in one task are an error of
trio's, and a goAway makes them overlap. The reader never writes: on a full socket it would stop reading, and
both ends would wait for each other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.protocol.actions import Close
from livetools.protocol.errors import ConnectFailed, LiveToolsError

from .dialling import Progress, begin
from .endpoint import Endpoint
from .secrecy import Sealed, place
from .timeslice import TimeSlice
from .transport import Dialer, Gone, Listen, Transport
from .wake import make_wake

log = logging.getLogger("livetools.session")


class Wire(Protocol):
    """Whom the sockets report to."""

    def opened(self, link: int) -> None: ...
    def received(self, link: int, data: bytes) -> None: ...
    def disconnected(self, link: int, close: Close) -> None: ...


@dataclass(slots=True)
class _Socket:
    scope: anyio.CancelScope
    transport: Transport | None = None


class Sockets:
    """The connections of a session, by the machine's number. ``dial`` and ``hang_up`` start, and return."""

    def __init__(self, group: TaskGroup, dialer: Dialer, endpoint: Endpoint, wire: Wire) -> None:
        self._group, self._dialer, self._endpoint, self._wire = group, dialer, endpoint, wire
        self._open: dict[int, _Socket] = {}
        self.progress = Progress()  # of the last dial
        self._changed = make_wake()

    def __len__(self) -> int:
        return len(self._open)

    def transport(self, link: int) -> Transport | None:
        """The connection of this number, if it stands."""
        socket = self._open.get(link)
        return None if socket is None else socket.transport

    def dial(self, link: int) -> None:
        """Open a connection."""
        socket = self._open[link] = _Socket(anyio.CancelScope())
        self._group.start_soon(self._run, link, socket)

    def hang_up(self, link: int) -> None:
        """Close a connection, or give up its dial."""
        socket = self._open.get(link)
        if socket is None:
            return
        if socket.transport is None:
            socket.scope.cancel()
        else:
            self._group.start_soon(socket.transport.aclose)

    async def gone(self) -> None:
        """Until every connection has ended."""
        while self._open:
            await self._changed.wait()

    async def _run(self, link: int, socket: _Socket) -> None:
        close = Close(by_us=True)  # where the dial was given up
        try:
            with socket.scope:
                close = await self._converse(link, socket)
        finally:
            if self._open.pop(link, None) is not None:
                self._changed.set()
        self._wire.disconnected(link, close)

    async def _converse(self, link: int, socket: _Socket) -> Close:
        """Dial and read until the end. Every failure becomes a fact."""
        self.progress = progress = begin()
        try:
            with Sealed():
                target = await self._endpoint.target()
            async with self._dialer.dial(target.url, target.headers) as transport:
                socket.transport = transport
                progress.stage = "setup"
                self._wire.opened(link)
                listen: Listen = getattr(transport, "listen", partial(_read, transport))
                end = await listen(partial(self._wire.received, link))
                close = Close(end.code, end.reason, end.by_us)
                del self._open[link]
                self._changed.set()
                self._wire.disconnected(link, close)
                return close
        except Gone as end:
            return Close(end.code, end.reason, end.by_us)
        except LiveToolsError as error:
            return Close(
                error=error.with_traceback(None)
            )  # nobody can do anything with the places in this task
        except Exception as error:
            log.error("the connection failed in an unforeseen way: %s", place(error))
            return Close(error=ConnectFailed(f"the connection failed: {type(error).__name__}"))


async def _read(transport: Transport, feed: Callable[[bytes], None]) -> Gone:
    """Feed every message, until the end, which is returned."""
    slice = TimeSlice()
    try:
        while True:
            feed(await transport.receive())
            await slice.share()
    except Gone as end:
        return end
