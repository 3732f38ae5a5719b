"""How a frame goes out, and what may befall it on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from .connection import Connection
from .faults import Fault
from .roles import Session
from .wire import Message, encode, utf8

UNKNOWN: Message = {"somethingNew": {"a": 1}, "serverContent": {"unexpected": True}}
STALL = 30.0  # seconds of the server's clock that a stalled connection says nothing
OVERSIZE = 2 * 1024 * 1024  # bytes: twice what websocket libraries take unless told otherwise


async def deliver(session: Session, connection: Connection, frame: Message | str | bytes) -> None:
    """Send one frame, entered in the journal, with whatever befalls it; raises ``Gone``."""
    server = session.server
    raw = {} if isinstance(frame, dict) else {"_text": frame if isinstance(frame, str) else repr(frame)}
    server.record("server", connection.number, frame if isinstance(frame, dict) else raw)
    if connection.silent_until:
        await server.clock.sleep_until(connection.silent_until)
    if not isinstance(frame, dict):
        text = isinstance(frame, str)
        await connection.send(utf8(frame) if isinstance(frame, str) else frame, text=text)
        return
    kind = None if "setupComplete" in frame else server.faults.draw(server.chance)
    late, connection.held_back = connection.held_back, None
    if kind is None or (kind == "reorder" and _is_last(frame)):
        await connection.send(encode(frame))
    else:
        await commit(kind, session, connection, encode(frame))
    if late is not None:
        await connection.send(late)


def _is_last(frame: Message) -> bool:
    """Whether nothing may follow for long: a frame that is held back here would be lost."""
    return "toolCall" in frame or "turnComplete" in frame.get("serverContent", {})


async def commit(kind: Fault, session: Session, connection: Connection, frame: bytes | None) -> None:
    """Do this to the frame that is about to go out; ``None``: to nothing in particular, now."""
    session.server.note(f"fault on connection {connection.number}: {kind}")
    await _DEEDS[kind](session, connection, frame)


async def _drop(session: Session, connection: Connection, frame: bytes | None) -> None:
    await session.drop()


async def _half_frame(session: Session, connection: Connection, frame: bytes | None) -> None:
    session.detach(connection)
    await connection.send_half(frame or encode(UNKNOWN))


async def _stall(session: Session, connection: Connection, frame: bytes | None) -> None:
    clock = session.server.clock
    connection.silent_until = clock.now() + STALL
    if frame is not None:
        await clock.sleep_until(connection.silent_until)
        await connection.send(frame)


async def _duplicate(session: Session, connection: Connection, frame: bytes | None) -> None:
    for _ in range(2):
        await connection.send(frame or encode(UNKNOWN))


async def _reorder(session: Session, connection: Connection, frame: bytes | None) -> None:
    connection.held_back = frame


def _followed_by(
    more: Callable[[], bytes],
) -> Callable[[Session, Connection, bytes | None], Awaitable[None]]:
    async def deed(session: Session, connection: Connection, frame: bytes | None) -> None:
        if frame is not None:
            await connection.send(frame)
        await connection.send(more())

    return deed


async def _text_frame(session: Session, connection: Connection, frame: bytes | None) -> None:
    await connection.send(frame or encode(UNKNOWN), text=True)


_DEEDS: dict[Fault, Callable[[Session, Connection, bytes | None], Awaitable[None]]] = {
    "drop": _drop,
    "half_frame": _half_frame,
    "stall": _stall,
    "duplicate": _duplicate,
    "reorder": _reorder,
    "garbage": _followed_by(lambda: b"\x00\xff{ this is not JSON"),
    "oversize": _followed_by(lambda: encode({"somethingNew": {"pad": "x" * OVERSIZE}})),
    "unknown": _followed_by(lambda: encode(UNKNOWN)),
    "text_frame": _text_frame,
}
