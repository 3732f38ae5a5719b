"""Runs one task for each connection: it dials, feeds received messages to the machine, and reports the end.

A connection is entered and left in its own task, because two that overlap in one task are an error of
trio's, and a goAway makes them overlap. The reader never writes: on a full socket it would stop reading, and
both ends would wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

import anyio

from livetools.errors import AuthenticationError, ConnectFailed, LiveToolsError
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Close
from livetools.setup.secrecy import Sealed, Secrets, place
from livetools.transport.contract import Dialer, Gone, Listen, Transport
from livetools.transport.endpoint import Endpoint
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import Wake, make_wake
from livetools.transport.setup_timeout import Progress, begin, reached

from .task_host import Starter

log = get_logger("livetools.session")

# A connection keeps one of these for as long as it lives, so all share them.
GIVEN_UP = Close(by_us=True)  # the end of a dial that was cancelled
UNTOLD = Close()  # of a connection whose dialer swallows what has ended the listening


class Wire(Protocol):
    """Whom the sockets report to."""

    def opened(self, link: int) -> None: ...
    def received(self, link: int, data: bytes) -> None: ...
    def disconnected(self, link: int, close: Close) -> None: ...


class Sockets:
    """The connections of a session, by the machine's number. ``dial`` and ``hang_up`` start, and return.

    ``standing``: those that are open.
    """

    def __init__(self, starter: Starter, dialer: Dialer, endpoint: Endpoint, wire: Wire) -> None:
        self._starter, self._dialer, self._endpoint, self._wire = starter, dialer, endpoint, wire
        self.standing: dict[int, Transport] = {}
        self._scopes: dict[int, anyio.CancelScope] = {}  # of every task: it dials, reads, or closes
        self.progress = Progress()  # of the last dial
        self._changed: Wake | None = None  # set when a connection has ended, once somebody waits for that

    def dial(self, link: int) -> None:
        """Open a connection."""
        self._scopes[link] = scope = anyio.CancelScope()
        self._starter.start(self._run(link, scope), copy_context())

    def hang_up(self, link: int) -> None:
        """Close a connection, or give up its dial."""
        if (transport := self.standing.get(link)) is not None:
            self._starter.group.start_soon(transport.aclose)
        elif link in self._scopes:
            self._scopes[link].cancel()

    def close(self) -> None:
        """Cut off every connection that is still there, and what only closes one."""
        for scope in self._scopes.values():
            scope.cancel()

    def hurry(self, link: int) -> None:
        """Send the ping that a connection has put off, if it can."""
        transport: Any = self.standing.get(link)
        if hasattr(transport, "hurry"):
            transport.hurry()

    def silent_for(self) -> float:
        """Seconds for which the newest connection has given no sign of life, though it was asked for one."""
        transport: Any = self.standing[max(self.standing)] if self.standing else None
        return float(transport.silent_for()) if hasattr(transport, "silent_for") else 0.0

    async def gone(self) -> None:
        """Until every connection has ended."""
        self._changed = make_wake()
        while self._scopes:
            await self._changed.wait()

    async def _run(self, link: int, scope: anyio.CancelScope) -> None:
        close = GIVEN_UP
        self.progress = begin()
        try:
            with scope:
                close = await self._converse(link)
        finally:
            del self._scopes[link]
            self.standing.pop(link, None)
            if self._changed is not None:
                self._changed.set()
        self._wire.disconnected(link, close)

    async def _converse(self, link: int, renewed: bool = False) -> Close:
        """Dial and read until the end. Every failure becomes a fact.

        ``renewed``: the credentials have been refreshed. Those that are refused are, once a dial.
        """
        target: Secrets | None
        close: Close | None = UNTOLD
        try:
            with Sealed():
                target = await self._endpoint.target()
            try:
                async with self._dialer.dial(target.url, target.headers) as transport:
                    target = None  # while the connection is open nothing here keeps its key
                    close = await self._listen(link, transport)
            except AuthenticationError as error:
                if renewed or target is None or not await self._endpoint.renew(target, error):
                    raise self._endpoint.advised(error) from None
                close = None
            return close or await self._converse(link, renewed=True)
        except Gone as end:
            return Close(end.code, end.reason, end.by_us)
        except LiveToolsError as error:
            # Nobody can do anything with the places in this task.
            return Close(error=error.with_traceback(None))
        except Exception as error:
            log.error("the connection failed in an unforeseen way: %s", place(error))
            return Close(error=ConnectFailed(f"the connection failed: {type(error).__name__}"))

    async def _listen(self, link: int, transport: Transport) -> Close:
        self.standing[link] = transport
        reached("setup")
        self._wire.opened(link)
        end = await _listener(transport)(partial(self._wire.received, link))
        close = Close(end.code, end.reason, end.by_us)
        del self.standing[link]
        # At once: the closing handshake may take a second. Its end is reported again, which changes nothing.
        self._wire.disconnected(link, close)
        return close


def _listener(transport: Transport) -> Listen:
    return getattr(transport, "listen", None) or partial(_read, transport)


async def _read(transport: Transport, feed: Callable[[bytes], None]) -> Gone:
    slice = TimeSlice()
    try:
        while True:
            feed(await transport.receive())
            await slice.share()
    except Gone as end:
        return end
