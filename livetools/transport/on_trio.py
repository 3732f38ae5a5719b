"""The websockets adapter for trio: it reads when it is asked to."""

from __future__ import annotations

import trio
from websockets.exceptions import ConnectionClosed
from websockets.frames import DATA_OPCODES, Frame
from websockets.protocol import Event
from websockets.trio.client import ClientConnection, connect

from .adapter import Adapter, Noting
from .contract import Gone
from .dialling import reached


class TrioDial(connect):
    """Notes when TLS begins."""

    async def enable_tls(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        reached("TLS")
        return await super().enable_tls(stream)


class TrioConnection(Noting, ClientConnection):
    """Closes the line itself, where a peer that said close does not; and ends, though messages wait for a reader.

    ``websockets`` stops reading while more than 16 messages wait. When the connection is left, nobody takes them any
    more: it would wait for ever to read on, and so would whoever leaves.
    """

    _cutting = False
    _left = False

    def leave(self) -> None:
        """From here on nobody receives: read on to the end of the line, and drop what comes."""
        self._left = True
        self.resume_reading()

    def resume_reading(self) -> None:
        if self.recv_flow_control is not None:
            super().resume_reading()

    def process_event(self, event: Event) -> None:
        if not (self._left and isinstance(event, Frame) and event.opcode in DATA_OPCODES):
            super().process_event(event)

    async def send_data(self) -> None:
        # ours sets the deadline before it is sent
        theirs = self.close_deadline is None and self.protocol.close_expected()
        if theirs and not self._cutting:
            self._cutting = True
            self.nursery.start_soon(self._cut)
        try:
            await super().send_data()
        except trio.BrokenResourceError:
            if not theirs:
                raise
            # nobody reads our reply to a close: what came before that close is still to be handed out

    async def _cut(self) -> None:
        with trio.move_on_after(self.linger):
            await self.stream_closed.wait()
            return
        await trio.aclose_forcefully(self.stream)


class TrioAdapter(Adapter[TrioConnection]):
    """Shields each write: trio would stop in the middle of a frame, and lose the next one without an error."""

    async def receive(self) -> bytes:
        """See :class:`~.transport.Transport`."""
        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise self._gone(error) from None
        self._pongs.taken += 1
        return message

    async def _write(self, frame: bytes, ping: bytes | None) -> None:
        try:
            with trio.CancelScope(deadline=trio.current_time() + self._timeout, shield=True) as scope:
                await self._send(frame, ping)
        except ConnectionClosed as error:
            raise self._gone(error) from None
        if scope.cancelled_caught:
            late = f"no frame was taken for {self._timeout:g} s"
            # For the reader, who may hear of the cut first. The connection's own word on it cannot be had here:
            # its task has yet to see the cut.
            self._connection.set_connection_exc(TimeoutError(late))
            await self._cut()
            raise Gone(1006, late, self._closing)
        await trio.lowlevel.checkpoint_if_cancelled()  # so that a loop of sends can be cancelled

    async def _send(self, frame: bytes, ping: bytes | None) -> None:
        if ping is None:
            return await self._connection.send(frame, text=True)
        async with self._connection.send_context():
            protocol = self._connection.protocol
            protocol.send_text(frame)
            protocol.send_ping(ping)
            protocol.writes = [b"".join(protocol.writes)]
        return None

    async def _close(self) -> None:
        self._connection.leave()
        await self._connection.aclose()

    async def _cut(self) -> None:
        self._connection.leave()
        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._connection.stream)
