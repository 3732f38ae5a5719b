"""The websockets adapter for asyncio: it delivers each message as it arrives, and writes at once.

A message goes from the callback of the loop directly to the listener, without a queue or a task. Writing needs none
either: asyncio takes a frame at once as long as its buffer is empty.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, Event

from livetools.transport.loop.timeslice import SLICE, TimeSlice, passes
from livetools.transport.loop.wake import act_as, act_no_longer, make_wake

from .adapter import Adapter, Noting
from .contract import Gone
from .framing import PING, TEXT, Cutter, Unlawful, frame, masks

WAITING = 16  # messages that wait for ``receive`` before reading is paused
DATA = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})
_HEAD_ENDS = b"\r\n\r\n"


_NONE: deque[bytes] = deque(maxlen=0)  # with a listener there is no queue


class PushConnection(Noting, ClientConnection):
    """Cuts the messages out of what comes. Until somebody listens they wait in a queue.

    ``write_timeout``: seconds that asyncio's buffer may stay full. The response to the upgrade, control frames and
    fragments are read by ``websockets``, everything else by a :class:`Cutter`.
    """

    # past 30 attributes an object has a dict of its own, six times as large: websockets has most of them
    __slots__ = ("_cutting", "_watchdog", "inflow", "write_timeout")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.inflow = _Inflow()
        self.write_timeout = float("inf")
        self._cutting: asyncio.TimerHandle | None = None
        self._watchdog: asyncio.TimerHandle | None = None

    # What comes

    def data_received(self, data: bytes) -> None:
        inflow = self.inflow
        inflow.passes.count += 1
        if inflow.cutter is None:
            data = self._upgrading(data)
        if inflow.cutter is not None and data:
            inflow.cutter.add(data)
            if not inflow.paused:
                self.advance()

    def process_event(self, event: Event) -> None:
        if not (isinstance(event, Frame) and event.opcode in DATA):
            return super().process_event(event)
        inflow = self.inflow
        if inflow.parts is None:
            inflow.parts = bytearray()
        inflow.parts += event.data
        if event.fin:
            message, inflow.parts = bytes(inflow.parts), None
            self._message(message)
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        self.inflow.ending = (exc,)
        if not self.inflow.paused or self.inflow.feed is None:
            self.advance()  # what came before the end is delivered first

    def advance(self) -> None:
        """Give away what has come, but not for longer than others can wait."""
        inflow, protocol = self.inflow, self.protocol
        until = time.monotonic() + SLICE
        acting = act_as(inflow.reader)
        try:
            # nothing is read behind a close
            while inflow.cutter is not None and protocol.close_rcvd is None and protocol.parser_exc is None:
                try:
                    item = inflow.cutter.next()
                except Unlawful as error:
                    self._fail(error)
                    break
                if item is None:
                    break
                if type(item) is bytes:
                    self._message(item)
                else:
                    self._pass_on(item)
                if inflow.feed is None and inflow.full:
                    return self._pause()
                if not inflow.cutter.left:  # there is nothing to pause for, however late it is
                    break
                if time.monotonic() > until:
                    return self._pause()
        finally:
            act_no_longer(acting)
        if inflow.ending is not None:
            ending, inflow.ending = inflow.ending, None
            self._end(*ending)
        elif inflow.paused:
            inflow.paused = False
            self.transport.resume_reading()
        return None

    def _fail(self, error: Unlawful) -> None:
        self.protocol.fail(error.code, error.reason)
        self.protocol.parser_exc = error
        self._pass_on(b"")

    def _upgrading(self, data: bytes) -> bytes:
        """Give ``websockets`` its response, and return what came behind it."""
        seen = self.inflow.head + data
        end = seen.find(_HEAD_ENDS)
        size = len(data) if end < 0 else end + len(_HEAD_ENDS) - len(self.inflow.head)
        self.inflow.head = seen[-3:]
        self._pass_on(data[:size])
        if self.protocol.state is OPEN:
            self.inflow.cutter = Cutter(self.protocol.max_message_size)
        elif size < len(data):
            self._pass_on(data[size:])
        return data[size:]

    def _pass_on(self, data: bytes) -> None:
        super().data_received(data)
        if self._cutting is None and self.protocol.close_expected():
            self._cutting = self.loop.call_later(
                self.linger, self.transport.abort
            )  # nothing, where it is closed

    def _message(self, message: bytes) -> None:
        self.pongs.messages += 1
        inflow = self.inflow
        if inflow.feed is None:
            if inflow.left:
                return
            if inflow.waiting is _NONE:
                inflow.waiting = deque()
            inflow.waiting.append(message)
            inflow.news.set()
            return
        self.pongs.taken += 1
        try:
            inflow.feed(message)
        except Exception as error:
            inflow.fail(error)

    def _pause(self) -> None:
        if not self.inflow.paused:
            self.inflow.paused = True
            self.transport.pause_reading()
        if self.inflow.feed is not None or not self.inflow.full:
            self.loop.call_soon(self.advance)

    def leave(self) -> None:
        """From here on nobody receives: read on to the end of the line, and drop what comes."""
        self.inflow.left = True
        if self.inflow.paused:
            self.advance()

    def _end(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.inflow.over = True
        self.inflow.news.set()

    # What goes

    async def write(self, data: bytes) -> None:
        """Put it into asyncio's buffer, and wait while that is full. Raises ``ConnectionClosed``.

        Completes though its caller is cancelled.
        """
        if self.protocol.state is not OPEN:
            async with self.send_context():  # raises, once it is known how it ended
                return
        try:
            self.transport.write(data)
            await self.drain()
        except Exception as error:
            self.set_connection_exc(error)
            self.transport.abort()
            await asyncio.shield(self.connection_lost_waiter)
            raise self.close_exc from None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self.write_timeout < float("inf"):
            self._watchdog = self.loop.call_later(self.write_timeout, self._give_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None

    def _give_up(self) -> None:
        self.set_connection_exc(TimeoutError(f"no frame was taken for {self.write_timeout:g} s"))
        self.transport.abort()


class _Inflow:
    """The messages of one connection on their way to the listener, or to a queue until there is one."""

    __slots__ = (
        "cutter", "ending", "error", "feed", "head", "left", "news", "over", "parts", "passes", "paused", "reader",
        "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.cutter: Cutter | None = None  # from the upgrade on
        self.head = b""  # the last bytes of the response so far
        self.parts: bytearray | None = None  # of a message in fragments
        self.waiting = _NONE
        self.feed: Callable[[bytes], None] | None = None
        self.paused = False  # reading is: there is more than was given away
        self.ending: tuple[Exception | None] | None = (
            None  # the line is gone, for this reason; the rest comes first
        )
        self.over = False
        self.left = False  # nobody will receive any more
        self.error: Exception | None = None  # raised by the listener
        self.news = make_wake()
        self.passes = passes()
        self.reader: asyncio.Task[Any] | None = None  # that listens

    @property
    def full(self) -> bool:
        """Whether reading is paused: more waits than a queue should hold, and somebody may still take it."""
        return self.ending is None and not self.left and len(self.waiting) > WAITING

    def fail(self, error: Exception) -> None:
        """Whoever listened has raised this."""
        self.error, self.feed = error, None
        self.news.set()


class AsyncioAdapter(Adapter[PushConnection]):
    """A send puts its whole frame into asyncio's buffer at once: what may be cancelled is only the wait."""

    def __init__(self, connection: PushConnection, write_timeout: float) -> None:
        super().__init__(connection, connection.pongs, write_timeout)
        connection.write_timeout = write_timeout
        self._masks = masks(os.urandom)

    @property
    def writable(self) -> bool:
        """See :class:`~.transport.Putting`."""
        connection = self._connection
        is_open = not connection.paused and connection.protocol.state is OPEN
        return is_open and not connection.transport.is_closing()

    def put(self, message: bytes) -> bool:
        """See :class:`~.transport.Putting`."""
        self._connection.transport.write(frame(TEXT, message, next(self._masks)))
        return True

    async def listen(self, feed: Callable[[bytes], None]) -> Gone:
        """See :data:`~.transport.Listen`."""
        inflow, slice = self._connection.inflow, TimeSlice()
        try:
            while inflow.waiting:
                self._pongs.taken += 1
                feed(inflow.waiting.popleft())
                await slice.share()
            inflow.feed, inflow.reader = feed, asyncio.current_task()
            if inflow.paused:
                self._connection.advance()
            while not inflow.over and inflow.error is None:
                await inflow.news.wait()
            if inflow.error is not None:
                raise inflow.error
        except Exception:
            self._connection.transport.abort()
            raise
        finally:
            inflow.feed = inflow.reader = None
        return self._gone(self._connection.close_exc)

    async def receive(self) -> bytes:
        """See :class:`~.transport.Transport`."""
        inflow = self._connection.inflow
        while not inflow.waiting:
            if inflow.over:
                raise self._gone(self._connection.close_exc)
            await inflow.news.wait()
        message = inflow.waiting.popleft()
        self._pongs.taken += 1
        if inflow.paused and len(inflow.waiting) <= WAITING // 4:
            self._connection.advance()
        return message

    async def _write(self, message: bytes, ping: bytes | None) -> None:
        data = frame(TEXT, message, next(self._masks))
        if ping is not None:
            data += frame(PING, ping, next(self._masks))
        try:
            await self._connection.write(data)
        except ConnectionClosed as error:
            raise self._gone(error) from None

    async def _close(self) -> None:
        self._connection.leave()
        await self._connection.close()

    async def _cut(self) -> None:
        self._connection.transport.abort()
