"""Sends frames, and injects the faults that are switched on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from livetools.testing.net.connection import ServerConnection
from livetools.testing.service import Service
from livetools.testing.settings.fault_switches import Fault
from livetools.testing.wire import Message, encode, utf8

UNKNOWN: Message = {"somethingNew": {"a": 1}, "serverContent": {"unexpected": True}}
STALL = 30.0  # seconds of the server's clock that a stalled connection says nothing
OVERSIZE = 2 * 1024 * 1024  # bytes: twice what websocket libraries take unless told otherwise


async def deliver(service: Service, connection: ServerConnection, frame: Message | str | bytes) -> None:
    """Send one frame, with the faults that are injected, and log it; raises ``SocketClosed``.

    A fault may cut the connection.
    """
    raw = {} if isinstance(frame, dict) else {"_text": frame if isinstance(frame, str) else repr(frame)}
    service.record("server", connection.number, frame if isinstance(frame, dict) else raw)
    if connection.silent_until:
        await service.clock.sleep_until(connection.silent_until)
    if not isinstance(frame, dict):
        text = isinstance(frame, str)
        await connection.send(utf8(frame) if isinstance(frame, str) else frame, text=text)
        return
    kind = None if "setupComplete" in frame else service.faults.draw(service.chance)
    late, connection.held_back = connection.held_back, None
    if kind is None or (kind == "reorder" and _is_last(frame)):
        await connection.send(encode(frame))
    else:
        await inject(kind, service, connection, encode(frame))
    if late is not None:
        await connection.send(late)


def _is_last(frame: Message) -> bool:
    """Whether this is the last frame for a while, which must not be held back behind the next one."""
    return "toolCall" in frame or "turnComplete" in frame.get("serverContent", {})


async def inject(kind: Fault, service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    """Do this to the frame that is about to go out; ``None``: to none in particular, now."""
    service.note(f"fault on connection {connection.number}: {kind}")
    await _INJECTIONS[kind](service, connection, frame)


async def _drop(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    service.record_close(connection.number, 1006)
    await connection.drop()


async def _half_frame(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    await connection.send_half(frame or encode(UNKNOWN))


async def _stall(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    connection.silent_until = service.clock.now() + STALL
    if frame is not None:
        await service.clock.sleep_until(connection.silent_until)
        await connection.send(frame)


async def _duplicate(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    for _ in range(2):
        await connection.send(frame or encode(UNKNOWN))


async def _reorder(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    connection.held_back = frame


def _followed_by(
    more: Callable[[], bytes],
) -> Callable[[Service, ServerConnection, bytes | None], Awaitable[None]]:
    async def injection(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
        if frame is not None:
            await connection.send(frame)
        await connection.send(more())

    return injection


async def _text_frame(service: Service, connection: ServerConnection, frame: bytes | None) -> None:
    await connection.send(frame or encode(UNKNOWN), text=True)


_INJECTIONS: dict[Fault, Callable[[Service, ServerConnection, bytes | None], Awaitable[None]]] = {
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
