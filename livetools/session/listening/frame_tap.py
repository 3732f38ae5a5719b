"""Observe the frames of a session: a listener is called for each one that is sent or received."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal, Protocol, TypeAlias

from livetools.events import Event
from livetools.protocol.input.resend import Pong
from livetools.session.session import Session
from livetools.transport.contract import Dialer, Gone, PingingTransport, Transport

from .listeners import Guard, Listener

Direction: TypeAlias = Literal["client", "server"]


class FrameListener(Protocol):
    """What a tap calls. It must not block: it is on the path of every frame. One that raises is logged, and not called
    any more.
    """

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """A whole message, as sent or received. Connections count from 1."""
        ...

    def closed(self, connection: int, code: int, reason: str, by_us: bool) -> None:
        """A connection that was open has ended. ``by_us``: the session closed it."""
        ...


def tap(session: Session, listener: FrameListener) -> Session:
    """Call ``listener`` for every frame of ``session``, which is returned. Call it before the session is entered.

    Frames hold the arguments, the results and the media of the conversation, and session handles; no keys.
    """
    session._assembly.dial_through(lambda dialer: _Tapped(dialer, listener))
    return session


def listen(
    session: Session,
    event: Callable[[Event], None],
    sound: Callable[[bytes, int], None] = lambda pcm, rate: None,
    end: Callable[[], None] = lambda: None,
) -> Callable[[], None]:
    """Add a listener to ``session``, open or not yet. It hears everything, beside the iterator. Returns what stops
    it.

    None of these methods may block. Where one raises it is logged, and from then on only ``end`` is called.
    """
    # The end has a guard of its own: what was recorded is finished even where an event has failed.
    name, listeners = "a listener", session._assembly.listeners
    listener = Listener(
        Guard(name), event, sound=sound, end=lambda error: end(), end_guard=Guard(f"the end of {name}")
    )
    listeners.add(listener)
    return partial(listeners.remove, listener)


def awaited_for(session: Session) -> float | None:
    """For how many seconds the model has been waited for: since the user ended to say what it answers now, or is still
    to answer. ``None``: nobody has spoken, or the session is not open."""
    driver = session._driver
    since = None if driver is None else driver.machine.awaited_since
    return None if driver is None or since is None else driver.clock.now() - since


class _Tapped:
    """A dialer whose transports call the listener. The errors of a listener cost the session nothing."""

    def __init__(self, dialer: Dialer, listener: FrameListener) -> None:
        self._dialer, self._listener = dialer, listener
        self._call = Guard(f"the frame listener {type(listener).__name__}").call
        self._connections = 0

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        """See :class:`~.contract.Dialer`."""
        async with self._dialer.dial(url, headers) as transport:
            self._connections += 1
            number = self._connections
            # A transport without pings must not seem to have them: its writes are then what tells a dead line.
            kind = _ListenedWithPing if hasattr(transport, "silent_for") else _Listened
            yield kind(
                transport,
                lambda direction, data: self._call(self._listener.frame, direction, number, data),
                lambda end: self._call(self._listener.closed, number, end.code, end.reason, end.by_us),
            )


class _Listened:
    """A transport that calls the listener for its frames."""

    def __init__(
        self,
        transport: Transport,
        passed: Callable[[Direction, bytes], object],
        ended: Callable[[Gone], object],
    ) -> None:
        self._transport, self._passed, self._ended = transport, passed, ended
        self._open = True

    async def send(self, frame: bytes) -> None:
        """See :class:`~.contract.Transport`. The listener is called first, so before the answer can come."""
        self._passed("client", frame)
        await self._transport.send(frame)

    async def receive(self) -> bytes:
        """See :class:`~.contract.Transport`."""
        try:
            data = await self._transport.receive()
        # Every further receive raises the end again; it is reported once.
        except Gone as end:
            if self._open:
                self._open = False
                self._ended(end)
            raise
        self._passed("server", data)
        return data

    async def aclose(self) -> None:
        """See :class:`~.contract.Transport`."""
        await self._transport.aclose()


class _ListenedWithPing(_Listened):
    """The same, of a transport that can tell what the other end has received."""

    _transport: PingingTransport

    async def send_with_ping(self, frame: bytes, at_once: bool = True) -> Pong | None:
        """See :class:`~.contract.Pinging`."""
        self._passed("client", frame)
        return await self._transport.send_with_ping(frame, at_once)

    def silent_for(self) -> float:
        """See :class:`~.contract.Pinging`."""
        return self._transport.silent_for()

    def hurry(self) -> None:
        """See :class:`~.contract.Pinging`."""
        self._transport.hurry()
