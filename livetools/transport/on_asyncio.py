"""The websockets adapter for asyncio: it delivers each message as it arrives, and writes at once.

A message goes from the callback of the loop directly to the listener, without a queue or a task. Writing needs none
either: asyncio takes a frame at once as long as its buffer is empty.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
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
from .websocket_connection import LINGER, Flow, LineLimits, WebSocketTransport


async def dial(url: str, limits: LineLimits, **options: Any) -> tuple[Any, Any]:
    """What closes a connection when it is left, and the transport of it. ``options`` are those of ``websockets``."""
    name_loop()  # in this task's context, in which asyncio also runs the callbacks of the connection
    target, usual = parse_uri(url), isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop)
    # uvloop makes the connection object before it dials: a refused dial would look like TLS that failed.
    if options["proxy"] is None and not (usual and is_address(target.host)):
        options["sock"] = await connected(target.host, target.port)
    elif options["proxy"] is not None and usual:
        options["happy_eyeballs_delay"] = STAGGER  # for the addresses of a proxy; uvloop cannot
    options["create_connection"] = partial(PushConnection, limits)
    # write_limit 1: a send returns when the kernel has the frame, not when a buffer of ours has it. 0 says
    # the same over TCP, but over TLS asyncio takes an empty buffer for a full one, and a send waits without end.
    connection: Any = await connect(url, write_limit=1, **options)
    return connection, connection


#: Lines of a response that are passed on one by one. ``websockets`` takes 128 headers: what follows so many lines is no
#: upgrade any more, but the page of a refusal.
HEAD_LINES = 200


class AsyncioFlow(Flow):
    """The messages of one connection on their way to the listener, or to a queue until there is one."""

    def __init__(self, limits: LineLimits, pongs: Pongs) -> None:
        super().__init__(limits, pongs)
        self.cutter = Cutter(limits.max_message)
        self.lines = 0  # of the response, so far
        self.paused = False  # reading is paused: more has come than was given away
        self.cutting = False  # a timer will cut the line: it is for the peer to close it, which it may not do
        self.lost = False  # the line has ended, and what came before that is not all given away
        self.passes = passes()
        # While asyncio's buffer is full: an event that is set when there is room, and a timer that ends a line which
        # takes nothing.
        self.full_buffer: tuple[asyncio.Event, Timer] | None = None


class PushConnection(WebSocketTransport, ClientConnection):
    """Cuts the messages out of what comes. Until somebody listens they wait in a queue.

    The response to the upgrade, control frames and fragments are read by ``websockets``, whole messages and the pongs
    that we asked for are cut off by a :class:`Cutter`. Both see the stream in its order. A send puts its whole frame
    into asyncio's buffer at once: only the wait can be cancelled.
    """

    def __init__(self, limits: LineLimits, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.flow: AsyncioFlow = AsyncioFlow(limits, Pongs(self, asyncio.get_running_loop().time))

    # What comes

    def data_received(self, data: bytes) -> None:
        flow = self.flow
        flow.passes.count += 1
        if self.protocol.state is CONNECTING:
            data = self._lines_passed(data)
        if not flow.ended:
            flow.cutter.add(data)
            if not flow.paused:
                self._advance()

    def _lines_passed(self, data: bytes) -> bytes:
        """Pass on the lines of the response until it is complete. What is left: the first frame may come with it."""
        at = 0
        while self.protocol.state is CONNECTING and at < len(data):
            end = data.find(b"\n", at) + 1 if self.flow.lines < HEAD_LINES else 0
            line = data[at : end or None]
            self.flow.lines += end > 0
            self._pass_on(line)
            at += len(line)
        return data[at:]

    def connection_lost(self, exc: Exception | None) -> None:
        flow = self.flow
        if flow.look is not None:
            flow.look.cancel()
        self._make_room()
        flow.blame(exc)
        flow.lost = True
        if not flow.paused or flow.feed is None:
            self._advance()  # what came before the end is delivered first

    def read_on(self) -> None:
        if self.flow.paused:
            self._advance()

    def _advance(self) -> None:
        """Give away what has come, but not for longer than others can wait."""
        flow, cutter = self.flow, self.flow.cutter
        flow.silence.heard = flow.now()
        until = time.monotonic() + SLICE
        while cutter.data and not flow.ended and (item := cutter.next()) is not None:
            if type(item) is bytes:
                flow.message(item)
            elif item[0] != FIN | PONG or not flow.pongs.answer(item[2:]):
                self._pass_on(item)
            # What came before the end is not held back.
            full = flow.feed is None and flow.full and not flow.lost
            # Where nothing is left to give away, reading is not paused, even if the time is up.
            if full or (cutter.data and time.monotonic() > until):
                if not flow.paused:  # uvloop pauses no transport that is closed
                    flow.paused = True
                    self.transport.pause_reading()
                if not full:  # else it is resumed when there is room
                    asyncio.get_running_loop().call_soon(self._advance)
                return
        if flow.lost:
            flow.lost = False
            super().connection_lost(None)
            flow.end()
        elif flow.paused:
            flow.paused = False
            self.transport.resume_reading()

    def _pass_on(self, data: bytes) -> None:
        super().data_received(data)
        flow, protocol = self.flow, self.protocol
        if not flow.cutting and protocol.close_expected():
            flow.cutting = True
            self.later(LINGER, self.abort)
        reads = protocol.close_rcvd is None and (protocol.state is OPEN or flow.left)
        flow.ended = not (reads or protocol.state is CONNECTING)

    async def listen(self, feed: Callable[[bytes], None]) -> Gone:
        """See :data:`~.contract.Listen`."""
        self.flow.feed = feed
        try:
            while True:
                feed(await self.receive())  # what came before; all else is fed as it comes
        except Gone as end:
            return end
        except Exception:
            self.abort()
            raise
        finally:
            self.flow.feed = None

    # What goes

    @property
    def writes(self) -> bool:
        """Whether a frame may be written."""
        return self.protocol.state is OPEN and not self.transport.is_closing()

    @property
    def writable(self) -> bool:
        """See :class:`~.contract.Putting`."""
        return self.flow.full_buffer is None and self.writes

    def put(self, message: bytes) -> bool:
        """See :class:`~.contract.Putting`."""
        self.transport.write(self.flow.framed(message))
        return True

    async def send(self, message: bytes) -> None:  # type: ignore[override]  # what a session sends
        """See :class:`~.contract.Transport`."""
        if not self.writes:
            raise await self.gone()
        self.put(message)
        if self.flow.full_buffer is not None:
            room, _ = self.flow.full_buffer
            await room.wait()
            if not self.writes:
                raise await self.gone()

    def pause_writing(self) -> None:
        super().pause_writing()
        flow, seconds = self.flow, self.flow.limits.write_timeout
        watchdog = Timer(flow.now, partial(self.give_up, f"no frame was taken for {seconds:g} s"))
        watchdog.set(flow.now() + seconds)
        flow.full_buffer = asyncio.Event(), watchdog

    def resume_writing(self) -> None:
        super().resume_writing()
        self._make_room()

    def _make_room(self) -> None:
        if self.flow.full_buffer is not None:
            (room, watchdog), self.flow.full_buffer = self.flow.full_buffer, None
            watchdog.close()
            room.set()

    def write_ping(self, payload: bytes) -> None:
        if self.writes:
            self.transport.write(frame(PING, payload))

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)

    async def leave(self, code: int, reason: str) -> None:
        await self.close(code, reason)

    def abort(self) -> None:
        self.transport.abort()
