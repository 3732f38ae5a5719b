"""The websockets adapter for asyncio: it delivers each message as it arrives, and writes at once.

A message goes from the callback of the loop directly to the listener, without a queue or a task. Writing needs none
either: asyncio takes a frame at once as long as its buffer is empty.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.protocol import CONNECTING, OPEN
from websockets.uri import parse_uri

from livetools.transport.loop.timer import Timer
from livetools.transport.loop.timeslice import SLICE, passes
from livetools.transport.loop.wake import name_loop

from .contract import Gone
from .line.framing import FIN, PING, PONG, Cutter, frame
from .line.pings import Pongs
from .proxy_and_address import STAGGER, connected, is_address
from .websocket_connection import LINGER, Adapter, Inflow, Limits, Receiving

_HEAD_ENDS = b"\r\n\r\n"


async def dial(url: str, limits: Limits, **options: Any) -> tuple[AbstractAsyncContextManager[Any], Adapter]:
    """What closes a connection when it is left, and the transport of it. ``options`` are those of ``websockets``."""
    target = parse_uri(url)
    if options["proxy"] is None and not is_address(target.host):
        options["sock"] = await connected(target.host, target.port)
    elif options["proxy"] is not None and isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop):
        options["happy_eyeballs_delay"] = STAGGER  # for the addresses of a proxy; uvloop cannot
    options["create_connection"] = partial(PushConnection, limits=limits)
    # write_limit 1: a send returns when the kernel has the frame, not when a buffer of ours has it. 0 says
    # the same over TCP, but over TLS asyncio takes an empty buffer for a full one, and a send waits without end.
    connection: Any = await connect(url, write_limit=1, **options)
    return connection, AsyncioAdapter(connection)


class AsyncioInflow(Inflow):
    """The messages of one connection on their way to the listener, or to a queue until there is one."""

    def __init__(self, limits: Limits, pongs: Pongs, now: Callable[[], float]) -> None:
        super().__init__(limits, pongs, now)
        self.cutter = Cutter(limits.max_message)
        self.head = b""  # the last bytes of the response to the upgrade so far
        self.feed: Callable[[bytes], None] | None = None
        self.paused = False  # reading is: there is more than was given away
        self.ended = False  # what comes does not count: it is behind a close, or a violation of the protocol
        # Set when the line is gone, for this reason; what came before is given away first.
        self.ending: tuple[Exception | None] | None = None
        self.passes = passes()
        self.cutting: asyncio.TimerHandle | None = None  # of a line that the peer does not close
        # While asyncio's buffer is full: set when there is room, and what ends a line that takes nothing.
        self.full_buffer: tuple[asyncio.Event, Timer] | None = None

    def message(self, message: bytes) -> None:
        """A message has come whole: it goes to the listener, if there is one."""
        if self.feed is None or self.waiting:
            return super().message(message)
        self.counts.messages += 1
        self.counts.taken += 1
        try:
            self.feed(message)
        except Exception as error:
            self.error, self.ended = error, True
            self.end()
        return None


class PushConnection(Receiving, ClientConnection):
    """Cuts the messages out of what comes. Until somebody listens they wait in a queue.

    The response to the upgrade, control frames and fragments are read by ``websockets``, whole messages and the pongs
    that we asked for are cut off by a :class:`Cutter`. Both see the stream in its order.
    """

    def __init__(self, *args: Any, limits: Limits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = asyncio.get_running_loop().time  # one bound method for all
        # Past 30 attributes an object has a dict of its own, which is large and slow: websockets has most of them, so
        # what is ours is in the inflow.
        self.inflow: AsyncioInflow = AsyncioInflow(limits, Pongs(self, now), now)

    # What comes

    def data_received(self, data: bytes) -> None:
        inflow = self.inflow
        inflow.passes.count += 1
        if self.protocol.state is CONNECTING:
            data = self._upgrading(data)
        if not inflow.ended:
            inflow.cutter.add(data)
            if not inflow.paused:
                self._advance()

    def connection_lost(self, exc: Exception | None) -> None:
        inflow = self.inflow
        if inflow.look is not None:
            inflow.look.cancel()
        self._make_room()
        inflow.ending = (exc,)
        if not inflow.paused or inflow.feed is None:
            self._advance()  # what came before the end is delivered first

    def read_on(self) -> None:
        if self.inflow.paused:
            self._advance()

    def _advance(self) -> None:
        """Give away what has come, but not for longer than others can wait."""
        inflow, cutter = self.inflow, self.inflow.cutter
        inflow.silence.heard = inflow.now()
        until = time.monotonic() + SLICE
        name_loop()
        while not inflow.ended and (item := cutter.next()) is not None:
            if type(item) is bytes:
                inflow.message(item)
            elif item[0] != FIN | PONG or not inflow.pongs.answer(item[2:]):
                self._pass_on(item)
            # What came before the end is not held back.
            full = inflow.feed is None and inflow.full and inflow.ending is None
            # Where nothing is left there is nothing to pause for, however late it is.
            if full or (time.monotonic() > until and cutter.left):
                if not inflow.paused:
                    inflow.paused = True
                    self.transport.pause_reading()
                if not full:  # else it is resumed when there is room
                    asyncio.get_running_loop().call_soon(self._advance)
                return
        if inflow.ending is not None:
            (cause,), inflow.ending = inflow.ending, None
            super().connection_lost(cause)
            inflow.blame(cause)
            inflow.end()
        elif inflow.paused:
            inflow.paused = False
            self.transport.resume_reading()

    def _upgrading(self, data: bytes) -> bytes:
        """Give ``websockets`` its response, and return what came behind it."""
        inflow = self.inflow
        seen = inflow.head + data
        end = seen.find(_HEAD_ENDS)
        size = len(data) if end < 0 else end + len(_HEAD_ENDS) - len(inflow.head)
        inflow.head = seen[-3:]
        self._pass_on(data[:size])
        if self.protocol.state is CONNECTING:  # it is refused, with a body
            self._pass_on(data[size:])
        return data[size:]

    def _pass_on(self, data: bytes) -> None:
        super().data_received(data)
        inflow, protocol = self.inflow, self.protocol
        if inflow.cutting is None and protocol.close_expected():
            inflow.cutting = self.later(LINGER, self.abort)
        reads = protocol.close_rcvd is None and (protocol.state is OPEN or inflow.left)
        inflow.ended = not (reads or protocol.state is CONNECTING)

    # What goes

    @property
    def writes(self) -> bool:
        """Whether a frame may be written."""
        return self.protocol.state is OPEN and not self.transport.is_closing()

    async def write(self, make: Callable[[], bytes]) -> None:
        if not self.writes:
            raise await self.gone()
        self.transport.write(make())
        if self.inflow.full_buffer is not None:
            room, _ = self.inflow.full_buffer
            await room.wait()
            if not self.writes:
                raise await self.gone()

    def pause_writing(self) -> None:
        super().pause_writing()
        inflow, seconds = self.inflow, self.inflow.limits.write_timeout
        watchdog = Timer(inflow.now, partial(self.give_up, f"no frame was taken for {seconds:g} s"))
        watchdog.set(inflow.now() + seconds)
        inflow.full_buffer = asyncio.Event(), watchdog

    def resume_writing(self) -> None:
        super().resume_writing()
        self._make_room()

    def _make_room(self) -> None:
        if self.inflow.full_buffer is not None:
            (room, watchdog), self.inflow.full_buffer = self.inflow.full_buffer, None
            watchdog.close()
            room.set()

    def write_ping(self, payload: bytes) -> None:
        if self.writes:
            self.transport.write(frame(PING, payload))

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)

    async def leave(self) -> None:
        await self.close()

    def abort(self) -> None:
        self.transport.abort()


class AsyncioAdapter(Adapter):
    """A send puts its whole frame into asyncio's buffer at once: only the wait can be cancelled."""

    _connection: PushConnection
    _inflow: AsyncioInflow

    @property
    def writable(self) -> bool:
        """See :class:`~.contract.Putting`."""
        return self._inflow.full_buffer is None and self._connection.writes

    def put(self, message: bytes) -> bool:
        """See :class:`~.contract.Putting`."""
        self._connection.transport.write(self._framed(message))
        return True

    async def listen(self, feed: Callable[[bytes], None]) -> Gone:
        """See :data:`~.contract.Listen`."""
        inflow = self._inflow
        inflow.feed = feed
        try:
            while True:
                feed(await self.receive())  # what came before; all else is fed as it comes
        except Gone as end:
            return end
        except Exception:
            self._connection.abort()
            raise
        finally:
            inflow.feed = None
