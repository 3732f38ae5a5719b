"""The protocol of a transport: three methods with a contract, and optional ones.

The user of a transport need not know its kind: a websocket, the in-memory pair of the tests, or one of the user's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from livetools.protocol.input.resend import PongCount


class Gone(Exception):
    """The end of a connection, however it came. ``code`` is 1006 where the line broke without a close frame.

    ``by_us``: we closed it first.
    """

    def __init__(self, code: int = 1006, reason: str = "", by_us: bool = False) -> None:
        super().__init__(f"{code} {reason}".rstrip())
        self.code, self.reason, self.by_us = code, reason, by_us


class Sending(Protocol):
    """What frames are written to."""

    async def send(self, frame: bytes) -> None:
        """Hand one message (JSON, UTF-8) to the kernel: whole or not at all, from any task, in order.

        Once begun it completes though its caller is cancelled, so that a frame is never torn, and it ends
        within the transport's write timeout. Raises :class:`Gone`, and nothing else.
        """


class Transport(Sending, Protocol):
    """One open connection that carries whole messages both ways.

    ::

        class Counted:
            \"\"\"Counts what a connection sends.\"\"\"

            def __init__(self, transport):
                self.transport = transport

            def __getattr__(self, name):
                return getattr(self.transport, name)

            async def send(self, frame):
                print(len(frame), "bytes")
                await self.transport.send(frame)
    """

    async def receive(self) -> bytes:
        """The next message. One task at a time; cancelling loses nothing. Every end raises :class:`Gone`."""

    async def aclose(self) -> None:
        """Close it, within a bound of time. Idempotent, from any task; never raises but when cancelled."""


# What a transport may offer beside its three methods. Each is used where it is there.

#: ``listen(feed)``: call ``feed`` with each message as it comes, in the listener's task or in a callback of its loop,
#: and return the end. It leaves others the loop every few milliseconds. Cancelling loses nothing. What ``feed`` raises
#: is raised here, and ends the connection.
Listen: TypeAlias = Callable[[Callable[[bytes], None]], Awaitable[Gone]]


class Pinging(Protocol):
    """A transport that can ask what has arrived. Without it, what a dead line has swallowed is guessed from what the
    model said.
    """

    def ask(self, at_once: bool = True) -> PongCount:
        """Ask for a ping behind the frame that is written next, in the same write if possible.

        What is returned says how many messages were received behind the pong, ``None`` before that has come. The
        transport may let several frames share a later ping, ``at_once`` as soon as it can, else within a second.
        """

    def silent_for(self) -> float:
        """Seconds since a byte of any kind came, while a ping is out; else 0.

        The transport pings a line that says nothing, and ends a dead one by itself.
        """

    def hurry(self) -> None:
        """Somebody waits for the pongs that are due: send the ping that was put off. Nothing, where none was."""


class Putting(Protocol):
    """A transport that takes a frame without waiting, as long as nothing waits in front of it."""

    @property
    def writable(self) -> bool:
        """Whether it would take one now: nothing waits in front of it, and the line is open."""

    def put(self, frame: bytes) -> bool:
        """Write it, whole. Asked only while :attr:`writable`; False: the line is gone all the same.

        It may wait in a buffer for the kernel, which ends within the write timeout.
        """


class Dialer(Protocol):
    """What ``connect(transport=...)`` takes: it opens one :class:`Transport` after the other.

    ::

        class Logged:
            \"\"\"Says where it dials; the headers hold secrets.\"\"\"

            def __init__(self):
                self.dialer = WebSocket()

            def dial(self, url, headers):
                print("dials", url)
                return self.dialer.dial(url, headers)

        async with connect(MODEL, transport=Logged()) as session:
            print(await session.ask("Hello?"))
    """

    def dial(self, url: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[Transport]:
        """Open a connection on entering, close it on leaving; both happen in one task.

        Entering raises a ``LiveToolsError`` that says in words why there is no connection, and is safe to
        cancel. ``headers`` hold secrets: they stand in no text.
        """
