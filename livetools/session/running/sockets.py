"""Runs one task for each connection: it dials, feeds received messages to the machine, and reports the end.

A connection is entered and left in its own task, because two that overlap in one task are an error of
trio's, and a goAway makes them overlap. The reader never writes: on a full socket it would stop reading, and
both ends would wait for each other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from livetools.errors import AuthenticationError, ConnectFailed, LiveToolsError
from livetools.log import get_logger
from livetools.protocol.calls.actions import Close
from livetools.setup.secrecy import Sealed, place
from livetools.transport.contract import Dialer, Gone, Listen, Transport
from livetools.transport.credentials import NOT_ACCEPTED
from livetools.transport.endpoint import Endpoint
from livetools.transport.loop.timeslice import TimeSlice
from livetools.transport.loop.wake import Wake, make_wake
from livetools.transport.setup_timeout import Progress, begin, reached

log = get_logger("livetools.session")


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
        self._changed: Wake | None = None  # set when a connection has ended, once somebody waits for that
        self._told = False  # that nobody notices when the line falls silent

    def dial(self, link: int) -> None:
        """Open a connection."""
        self._scopes[link] = scope = anyio.CancelScope()
        self._group.start_soon(self._run, link, scope)

    def hang_up(self, link: int) -> None:
        """Close a connection, or give up its dial."""
        if (transport := self.standing.get(link)) is not None:
            self._group.start_soon(transport.aclose)
        elif (scope := self._scopes.get(link)) is not None:
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
        close = None
        try:
            with scope:
                close = await self._converse(link)
        finally:
            self._forget(link)
        self._wire.disconnected(link, close or Close(by_us=True))  # the dial was given up

    def _forget(self, link: int) -> None:
        self.standing.pop(link, None)
        if self._scopes.pop(link, None) is not None and self._changed is not None:
            self._changed.set()

    async def _converse(self, link: int) -> Close:
        """Dial and read until the end. Every failure becomes a fact."""
        self.progress = begin()
        try:
            async with AsyncExitStack() as stack:
                transport = await self._dialled(stack)
                self.standing[link] = transport
                self._tell_unwatched(transport)
                reached("setup")
                self._wire.opened(link)
                end = await _listen(transport, partial(self._wire.received, link))
                close = Close(end.code, end.reason, end.by_us)
                self._forget(link)
                # At once: the closing handshake may take a second. Its end is reported again, which changes nothing.
                self._wire.disconnected(link, close)
                return close
        except Gone as end:
            return Close(end.code, end.reason, end.by_us)
        except LiveToolsError as error:
            # Nobody can do anything with the places in this task.
            return Close(error=error.with_traceback(None))
        except Exception as error:
            log.error("the connection failed in an unforeseen way: %s", place(error))
            return Close(error=ConnectFailed(f"the connection failed: {type(error).__name__}"))

    def _tell_unwatched(self, transport: Transport) -> None:
        """Say once that this kind of transport cannot tell a dead line from a quiet one."""
        if not (self._told or hasattr(transport, "send_with_ping")):
            self._told = True
            kind = type(transport).__name__
            log.info("%s sends no pings: that a line is dead shows only when it takes no more frames", kind)

    async def _dialled(self, stack: AsyncExitStack) -> Transport:
        """A connection that ``stack`` closes. Credentials that are refused are refreshed, once a dial."""
        renewed = False
        while True:
            with Sealed():
                target = await self._endpoint.target()
            try:
                return await stack.enter_async_context(self._dialer.dial(target.url, target.headers))
            except AuthenticationError as error:
                if renewed or error.code not in NOT_ACCEPTED or not await self._endpoint.renew(target):
                    raise self._endpoint.advised(error) from None
                renewed = True


def _listen(transport: Transport, feed: Callable[[bytes], None]) -> Awaitable[Gone]:
    """Feed every message, until the end, which is returned."""
    listen: Listen = getattr(transport, "listen", partial(_read, transport))
    return listen(feed)


async def _read(transport: Transport, feed: Callable[[bytes], None]) -> Gone:
    slice = TimeSlice()
    try:
        while True:
            feed(await transport.receive())
            await slice.share()
    except Gone as end:
        return end
