"""Writes frames in order, one task at a time, in the task that caused them where it may wait.

While one task writes, further frames stay where they come from, which bounds what waits behind a slow socket; the
writing task takes them afterwards. What a cancelled task leaves, and what is caused by callbacks, which must not wait,
is written by a task that is started for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from anyio.abc import TaskGroup

from livetools.protocol.input.resend import OutFrame
from livetools.session.frame_log import FrameLog
from livetools.session.listening.listeners import FrameTaps
from livetools.transport.contract import Gone
from livetools.transport.loop.timeslice import TimeSlice


class Writer(ABC):
    """Writes frames to ``connections``, those that are open by their numbers. Made in the loop.

    What nobody waits for is written by a task in ``group``. ``frame_taps`` hear the frames, if somebody wants it.
    """

    def __init__(self, connections: Mapping[int, Any], group: TaskGroup, taps: Sequence[object] = ()) -> None:
        if (log := FrameLog.wanted()) is not None:
            taps = (*taps, log)
        self.frame_taps = FrameTaps(taps) if taps else None
        self.connections, self.group = connections, group
        self._unwritten: list[OutFrame] = []  # frames that were taken, and must be sent
        self._writing = False  # a task writes, or is about to, and takes what there is meanwhile itself
        self._ended = False  # no task is started any more
        self._slice = TimeSlice()

    @abstractmethod
    def step(self) -> None:
        """Take the next frames, with :meth:`write`."""

    def write(self, frames: list[OutFrame]) -> None:
        """Write at once what may be, and keep the rest for :meth:`flush`."""
        for frame in frames:
            transport: Any = self.connections.get(frame.link)
            # Behind other frames, for a caller who waits until it is sent, or where the socket does not take it now.
            if self._unwritten or frame.receipt is not None or not getattr(transport, "writable", False):
                self._unwritten.append(frame)
                continue
            data = self._made(frame, transport)
            # Where the line is gone its reader says so.
            if data is None or transport.put(data):
                frame.hand_over()

    def write_later(self) -> None:
        """Let a task of the writer's own write what was taken."""
        if self._unwritten and not self._writing:
            self._writing = True
            self.start_writing(self._write_out)

    def start_writing(self, write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run this in a task; nothing, where the end has come."""
        if not self._ended:
            self.group.start_soon(write)

    async def flush(self) -> None:
        """Write everything, unless somebody is at it already, and let others run now and then.

        Cancelling loses nothing: a task continues it.
        """
        if self._unwritten and not self._writing:
            try:
                await self._write_out()
            except BaseException:
                self.step()
                self.write_later()
                raise
        await self._slice.share()

    async def _write_out(self) -> None:
        while True:
            self._writing = True
            try:
                while self._unwritten:
                    await self._send(self._unwritten.pop(0))
                    if self._unwritten:
                        await self._slice.share()
            finally:
                self._writing = False
            self.step()  # what the machine has had meanwhile
            if not self._unwritten:
                return

    def stream(self, link: int | None, media: bytes) -> bool:
        """Write media at once, past the machine's queues; False: something is in front of it."""
        if link is None or self._writing or self._unwritten:
            return False
        transport: Any = self.connections.get(link)
        if not getattr(transport, "writable", False):
            return False
        if self.frame_taps is not None:
            self.frame_taps.frame("client", link, media)
        return bool(transport.put(media))

    async def _send(self, frame: OutFrame) -> None:
        transport = self.connections.get(frame.link)
        if transport is None:
            return  # it is gone, and the machine writes again what it owes
        data = self._made(frame, transport)
        frame.begin()
        try:
            if data is not None:
                await transport.send(data)
        except Gone:
            return  # its reader says so, once it has read what came before the end
        except BaseException:
            frame.hand_over()  # a send that was cancelled was sent
            raise
        frame.hand_over()

    def _made(self, frame: OutFrame, transport: Any) -> bytes | None:
        """The bytes of a frame that is written now. A ping goes behind it where the machine wants to know whether it
        arrives, and the transport can tell."""
        data, write = frame.make(), frame.last_of
        if data is not None and self.frame_taps is not None:
            self.frame_taps.frame("client", frame.link, data)
        if write is not None and write.asks:
            # Without data no ping goes behind what was written before.
            tells = data is not None and hasattr(transport, "ask")
            write.pinged(transport.ask(write.at_once) if tells else None)
        return data
