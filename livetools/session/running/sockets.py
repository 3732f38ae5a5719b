"""Runs one task for each connection: it dials, feeds received messages to the machine, and reports the end.

A connection is entered and left in its own task, because two that overlap in one task are an error of
trio's, and a goAway makes them overlap. The reader never writes: on a full socket it would stop reading, and
both ends would wait for each other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.errors import ConnectFailed, LiveToolsError
from livetools.protocol.calls.actions import Close
from livetools.setup.secrecy import Sealed, place
from livetools.transport.contract import Dialer, Gone, Listen, Transport
from livetools.transport.dialling import Progress, begin
from livetools.transport.endpoint import Endpoint
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import make_wake

log = logging.getLogger("livetools.session")


class Wire(Protocol):
    """Whom the sockets report to."""

    def opened(self, link: int) -> None: ...
    def received(self, link: int, data: bytes) -> None: ...
    def disconnected(self, link: int, close: Close) -> None: ...


class Sockets:
    """The connections of a session, by the machine's number. ``dial`` and ``hang_up`` start, and return.

    ``standing``: those that are open.
    """

    def __init__(self, group: TaskGroup, dialer: Dialer, endpoint: Endpoint, wire: Wire) -> None:
        self._group, self._dialer, self._endpoint, self._wire = group, dialer, endpoint, wire
        self.standing: dict[int, Transport] = {}
        self._scopes: dict[int, anyio.CancelScope] = {}  # of those, and of what is being dialled
        self.progress = Progress()  # of the last dial
        self._changed = make_wake()

    def __len__(self) -> int:
        return len(self._scopes)

    def dial(self, link: int) -> None:
        """Open a connection."""
        scope = self._scopes[link] = anyio.CancelScope()
        self._group.start_soon(self._run, link, scope)

    def hang_up(self, link: int) -> None:
        """Close a connection, or give up its dial."""
        if (transport := self.standing.get(link)) is not None:
            self._group.start_soon(transport.aclose)
        elif (scope := self._scopes.get(link)) is not None:
            scope.cancel()

    async def gone(self) -> None:
        """Until every connection has ended."""
        while self._scopes:
            await self._changed.wait()

    async def _run(self, link: int, scope: anyio.CancelScope) -> None:
        close = Close(by_us=True)  # where the dial was given up
        try:
            with scope:
                close = await self._converse(link)
        finally:
            self._forget(link)
        self._wire.disconnected(link, close)

    def _forget(self, link: int) -> None:
        self.standing.pop(link, None)
        if self._scopes.pop(link, None) is not None:
            self._changed.set()

    async def _converse(self, link: int) -> Close:
        """Dial and read until the end. Every failure becomes a fact."""
        self.progress = progress = begin()
        try:
            with Sealed():
                target = await self._endpoint.target()
            async with self._dialer.dial(target.url, target.headers) as transport:
                self.standing[link] = transport
                progress.stage = "setup"
                self._wire.opened(link)
                listen: Listen = getattr(transport, "listen", partial(_read, transport))
                end = await listen(partial(self._wire.received, link))
                close = Close(end.code, end.reason, end.by_us)
                self._forget(link)
                # At once: the closing handshake may take a second. It is told again after that, which changes nothing.
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
