"""The websockets adapter for asyncio: it delivers each message as it arrives, and writes at once.

A message goes from the callback of the loop directly to the listener, without a queue or a task. Writing needs none
either: asyncio takes a frame at once as long as its buffer is empty.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.protocol import OPEN

from livetools.protocol.input.resend import Pong
from livetools.transport.loop.timer import Timer
from livetools.transport.loop.timeslice import SLICE, TimeSlice, passes
from livetools.transport.loop.wake import name_loop

from .contract import Gone
from .line.framing import FIN, PING, PONG, TEXT, Cutter, frame
from .line.pings import Pongs
from .websocket_connection import LINGER, Adapter, Inflow, Limits, Receiving

_HEAD_ENDS = b"\r\n\r\n"


class PushConnection(Receiving, ClientConnection):
    """Cuts the messages out of what comes. Until somebody listens they wait in a queue.

    The response to the upgrade, control frames and fragments are read by ``websockets``, whole messages and the pongs
    that we asked for are cut off by a :class:`Cutter`. Both see the stream in its order.
    """

    def __init__(self, *args: Any, limits: Limits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Past 30 attributes an object has a dict of its own, which is large and slow: websockets has most of them, so
        # what is ours is in the inflow.
        self.inflow: AsyncioInflow = AsyncioInflow(limits, self._ping)

    # What comes

    def data_received(self, data: bytes) -> None:
        inflow = self.inflow
        inflow.passes.count += 1
        inflow.silence.heard = inflow.now()
        if inflow.cutter is None:
            data = self._upgrading(data)
        if inflow.cutter is not None and data and self._reads():
            inflow.cutter.add(data)
            if not inflow.paused:
                self.advance()

    def connection_lost(self, exc: Exception | None) -> None:
        inflow = self.inflow
        if inflow.look is not None:
            inflow.look.cancel()
        self._make_room()
        inflow.ending = (exc,)
        if not inflow.paused or inflow.feed is None:
            self.advance()  # what came before the end is delivered first

    def advance(self) -> None:
        """Give away what has come, but not for longer than others can wait."""
        inflow = self.inflow
        until = time.monotonic() + SLICE
        name_loop()
        while inflow.cutter is not None and self._reads():
            item = inflow.cutter.next()
            if item is None:
                break
            if type(item) is bytes:
                inflow.message(item)
            elif item[0] != FIN | PONG or not inflow.pongs.answer(item[2:]):
                self._pass_on(item)
            if inflow.feed is None and inflow.full:
                return self._pause()
            if not inflow.cutter.left:  # there is nothing to pause for, however late it is
                break
            if time.monotonic() > until:
                return self._pause()
        if inflow.ending is not None:
            (cause,), inflow.ending = inflow.ending, None
            super().connection_lost(cause)
            inflow.blame(cause)
            inflow.end()
        elif inflow.paused:
            inflow.paused = False
            self.transport.resume_reading()
        return None

    def _reads(self) -> bool:
        """Whether new input counts: it comes neither after a close nor after a violation of the protocol."""
        protocol = self.protocol
        return protocol.close_rcvd is None and (protocol.state is OPEN or self.inflow.left)

    def _upgrading(self, data: bytes) -> bytes:
        """Give ``websockets`` its response, and return what came behind it."""
        inflow = self.inflow
        seen = inflow.head + data
        end = seen.find(_HEAD_ENDS)
        size = len(data) if end < 0 else end + len(_HEAD_ENDS) - len(inflow.head)
        inflow.head = seen[-3:]
        self._pass_on(data[:size])
        if self.protocol.state is OPEN:
            inflow.cutter = Cutter(inflow.limits.max_message)
        elif size < len(data):
            self._pass_on(data[size:])
        return data[size:]

    def _pass_on(self, data: bytes) -> None:
        super().data_received(data)
        if self.inflow.cutting is None and self.protocol.close_expected():
            loop = asyncio.get_running_loop()
            self.inflow.cutting = loop.call_later(LINGER, self.transport.abort)  # nothing, where it is closed

    def _pause(self) -> None:
        inflow = self.inflow
        if not inflow.paused:
            inflow.paused = True
            self.transport.pause_reading()
        if inflow.feed is not None or not inflow.full:
            asyncio.get_running_loop().call_soon(self.advance)

    def watch(self) -> None:
        """Notice from here on when the line falls silent.

        Not with a :class:`Timer`: each look is later than the one before, and :class:`Silence` itself takes a gap of
        the clock off the silence, on both loops.
        """
        inflow = self.inflow
        if inflow.look is not None and inflow.is_dead(unread=inflow.paused):
            return self.transport.abort()
        inflow.look = asyncio.get_running_loop().call_later(inflow.silence.wait, self.watch)
        return None

    # What goes

    @property
    def writes(self) -> bool:
        """Whether a frame may be written."""
        return self.protocol.state is OPEN and not self.transport.is_closing()

    def _ping(self, payload: bytes) -> None:
        if self.writes:
            self.transport.write(frame(PING, payload, os.urandom(4)))

    def pause_writing(self) -> None:
        super().pause_writing()
        now = self.inflow.now
        watchdog = Timer(now, self._give_up)
        watchdog.set(now() + self.inflow.limits.write_timeout)
        self.inflow.full_buffer = asyncio.Event(), watchdog

    def resume_writing(self) -> None:
        super().resume_writing()
        self._make_room()

    def _make_room(self) -> None:
        if self.inflow.full_buffer is not None:
            (room, watchdog), self.inflow.full_buffer = self.inflow.full_buffer, None
            watchdog.close()
            room.set()

    def _give_up(self) -> None:
        self.inflow.blame(TimeoutError(f"no frame was taken for {self.inflow.limits.write_timeout:g} s"))
        self.transport.abort()


class AsyncioInflow(Inflow):
    """The messages of one connection on their way to the listener, or to a queue until there is one."""

    def __init__(self, limits: Limits, ping: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time  # one bound method for all
        super().__init__(limits, Pongs(ping, loop.call_later, now), now)
        self.cutter: Cutter | None = None  # from the upgrade on
        self.head = b""  # the last bytes of the response so far
        self.feed: Callable[[bytes], None] | None = None
        self.paused = False  # reading is: there is more than was given away
        # Set when the line is gone, for this reason; what came before is given away first.
        self.ending: tuple[Exception | None] | None = None
        self.error: Exception | None = None  # raised by the listener
        self.passes = passes()
        self.look: asyncio.TimerHandle | None = None  # at the silence of the line
        self.cutting: asyncio.TimerHandle | None = None  # of a line that the peer does not close
        # While asyncio's buffer is full: set when there is room, and what ends a line that takes nothing.
        self.full_buffer: tuple[asyncio.Event, Timer] | None = None

    def message(self, message: bytes) -> None:
        """A message has come whole: it goes to the listener, if there is one."""
        if self.feed is None:
            return super().message(message)
        self.pongs.messages += 1
        self.pongs.taken += 1
        try:
            self.feed(message)
        except Exception as error:
            self.error, self.feed = error, None
            self.news.set()
        return None

    @property
    def full(self) -> bool:
        """See :class:`Inflow`. What came before the end is not held back."""
        return self.ending is None and super().full


class AsyncioAdapter(Adapter[PushConnection]):
    """A send puts its whole frame into asyncio's buffer at once: only the wait can be cancelled."""

    _inflow: AsyncioInflow

    @property
    def writable(self) -> bool:
        """See :class:`~.contract.Putting`."""
        return self._inflow.full_buffer is None and self._connection.writes

    def put(self, message: bytes) -> bool:
        """See :class:`~.contract.Putting`."""
        self._connection.transport.write(frame(TEXT, message, next(self._masks)))
        return True

    def put_with_ping(self, message: bytes, at_once: bool = True) -> Pong:
        """See :class:`~.contract.Pinging`."""
        pong, ping = self._pongs.ask(at_once)
        data = frame(TEXT, message, next(self._masks))
        if ping is not None:
            data += frame(PING, ping, next(self._masks))
        self._connection.transport.write(data)
        return pong

    async def listen(self, feed: Callable[[bytes], None]) -> Gone:
        """See :data:`~.contract.Listen`."""
        inflow, slice = self._inflow, TimeSlice()
        try:
            while inflow.waiting:
                self._pongs.taken += 1
                feed(inflow.waiting.popleft())
                await slice.share()
            inflow.feed = feed
            self._read_on()
            while not inflow.over and inflow.error is None:
                await inflow.news.wait()
            if inflow.error is not None:
                raise inflow.error
        except Exception:
            self._connection.transport.abort()
            raise
        finally:
            inflow.feed = None
        return await self._gone()

    async def _write(self, message: bytes, at_once: bool | None) -> Pong | None:
        pong = None
        if not self._connection.writes:
            raise await self._gone()
        if at_once is None:
            self.put(message)
        else:
            pong = self.put_with_ping(message, at_once)
        if self._inflow.full_buffer is not None:
            room, _ = self._inflow.full_buffer
            await room.wait()
            if not self._connection.writes:
                raise await self._gone()
        return pong

    def _read_on(self) -> None:
        if self._inflow.paused:
            self._connection.advance()

    async def _close(self) -> None:
        await self._connection.close()

    async def _cut(self) -> None:
        self._connection.transport.abort()
