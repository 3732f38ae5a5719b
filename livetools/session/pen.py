"""Frames, written in order by whoever has some, one writer at a time.

While somebody writes, the newcomer's frames stay in the machine, which bounds what waits behind a slow
socket, and that writer takes them up. What a cancelled writer leaves, and what those cause who must not
wait, the pen's own task writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from livetools.protocol.machine import Machine
from livetools.protocol.outbox import Frame, Write

from .framelog import FrameLog
from .timeslice import TimeSlice
from .transport import Gone, SendWithPing, Transport

PUT = True  # write at once where a transport can; off, every frame waits its turn


class Owner(Protocol):
    """Whom the pen asks for a connection, and tells that the machine may have more to show."""

    def transport(self, link: int) -> Transport | None: ...
    def show(self) -> None: ...
    def spawn(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None: ...


class Pen:
    """Writes what the machine wants written. Made in the loop. ``log`` notes frames, if somebody wants it."""

    def __init__(self, machine: Machine, owner: Owner) -> None:
        self.log = FrameLog.wanted()
        self._machine, self._owner = machine, owner
        self._out: deque[Frame] = deque()
        self._writing = False
        self._more = False  # the machine may have frames that nobody has taken yet
        self._left = False  # a task of the pen's own is on its way
        self._slice = TimeSlice()

    def collect(self) -> None:
        """Take the machine's frames, and write at once what may be; or leave them to the writer who is at it."""
        if self._writing:
            self._more = True
            return
        for frame in self._machine.frames():
            if self._out or not self._put(frame):
                self._out.append(frame)

    def leave(self) -> None:
        """Let a task of the pen's own write what was collected."""
        if (self._out or self._more) and not self._writing and not self._left:
            self._left = True
            self._owner.spawn(self._finish)

    def forget(self, link: int) -> None:
        """This connection is gone: the machine writes again what it owes."""
        self._out = deque(frame for frame in self._out if frame.link != link)

    async def flush(self) -> None:
        """Write everything, unless somebody is at it already. Cancelling loses nothing: a task goes on with it."""
        if self._writing:
            return
        try:
            await self._write_out()
        except BaseException:
            self.leave()
            raise

    async def _finish(self) -> None:
        self._left = False
        if not self._writing:
            await self._write_out()

    async def _write_out(self) -> None:
        self._writing = True
        try:
            while True:
                while self._out:
                    await self._send(self._out.popleft())
                    await self._slice.share()
                if not self._more:
                    break
                self._more = False
                self._out.extend(self._machine.frames())
                self._owner.show()
        finally:
            self._writing = False

    def stream(self, media: bytes) -> bool:
        """Write media at once, past the machine's queues; False: something is in front of it."""
        if self._writing or self._out or not PUT:
            return False
        link = self._machine.media_link()
        transport: Any = None if link is None else self._owner.transport(link)
        if link is None or not getattr(transport, "writable", False):
            return False
        if self.log is not None:
            self.log.sent(link, media)
        return bool(transport.put(media))

    def _put(self, frame: Frame) -> bool:
        """Write it if nobody waits for the socket to take it, and the socket takes it; False: it must be sent."""
        if frame.receipt is not None or (frame.write is not None and frame.write.asks) or not PUT:
            return False
        transport: Any = self._owner.transport(frame.link)
        if transport is None or not getattr(transport, "writable", False):
            return False
        data = frame.make()
        if data is not None:
            if self.log is not None:
                self.log.sent(frame.link, data)
            if not transport.put(data):
                return True  # it is gone: its reader says so
        elif frame.write is not None:
            frame.write.pong = None  # no ping went behind what was written before
        _handed(frame)
        return True

    async def _send(self, frame: Frame) -> None:
        transport = self._owner.transport(frame.link)
        if transport is None:
            return  # it is gone, and the machine knows what it owes
        data = frame.make()
        try:
            if data is not None:
                if self.log is not None:
                    self.log.sent(frame.link, data)
                await _write(transport, data, frame.write)
            elif frame.write is not None:
                frame.write.pong = None  # no ping went behind what was written before
        except Gone:
            return  # its reader says so, once it has read what came before the end
        except BaseException:
            _handed(frame)  # a send that was cancelled was sent
            raise
        _handed(frame)


def _handed(frame: Frame) -> None:
    if frame.receipt is not None:
        frame.receipt.sent()
    if frame.write is not None:
        frame.write.handed = True


async def _write(transport: Transport, data: bytes, write: Write | None) -> None:
    """Send it, with a ping behind it where the machine wants to know what arrived and the transport can tell."""
    if write is None or not write.asks:
        return await transport.send(data)
    write.pong = None  # also where it is cut short: it was sent then, and that is all that is known
    asking: SendWithPing | None = getattr(transport, "send_with_ping", None)
    if asking is None:
        return await transport.send(data)
    write.pong = await asking(data)
    return None
