"""Misbehaviour on demand: what networks and servers do to a client, each a switch, each seeded.

::

    server.faults.garbage = 0.1          # a tenth of the frames are followed by garbage
    server.faults.flapping = 3           # the first three connections are cut right after the setup
    await turn.fault("half_frame")       # now, once

Shares are of the frames after ``setupComplete``, drawn from the server's seed: the same seed, the same
faults.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, get_args

from .wire import Message, encode

if TYPE_CHECKING:
    from .connection import Connection
    from .session import FakeSession

Fault: TypeAlias = Literal[
    "drop", "half_frame", "stall", "duplicate", "reorder", "garbage", "oversize", "unknown", "text_frame"
]
UNKNOWN: Message = {"somethingNew": {"a": 1}, "serverContent": {"unexpected": True}}
STALL = 30.0  # seconds of the server's clock that a stalled connection says nothing
OVERSIZE = 2 * 1024 * 1024  # bytes: twice what websocket libraries take unless told otherwise


@dataclass(slots=True)
class Faults:
    """The switches of a server. A float is a share of the frames, from 0 to 1."""

    drop: float = 0.0  # the line is cut before the frame
    half_frame: float = 0.0  # the line is cut in the middle of it
    stall: float = 0.0  # nothing is sent for half a minute, this frame neither
    duplicate: float = 0.0  # the frame comes twice
    reorder: float = 0.0  # the frame changes places with the one that follows
    garbage: float = 0.0  # bytes that are no JSON follow
    oversize: float = 0.0  # an unknown message of two megabytes follows
    unknown: float = 0.0  # a message with fields that nobody knows follows
    text_frame: float = 0.0  # the frame is a text frame
    never_setup: bool = False  # the setup is never completed
    early_content: bool = False  # an unknown message comes before setupComplete
    flapping: int = 0  # so many connections are cut right after their setup
    slow_pong: float = 0.0  # seconds that each frame of the client waits before it is read, pings too

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Switches from ``name`` or ``name=value``, as a command line gives them.

        Raises ``ValueError``, which names them all, for one that there is not.
        """
        known = {each.name: each for each in fields(cls)}
        result = cls()
        for text in texts:
            name, _, value = text.replace("-", "_").partition("=")
            if name not in known:
                raise ValueError(f"no fault is called {name!r}; there are {', '.join(known)}")
            kind: type[float | int | bool] = type(getattr(result, name))
            try:
                setattr(result, name, kind(float(value)) if value else kind(1))
            except ValueError:
                raise ValueError(f"fault {name}: {value!r} is no number") from None
        return result

    def draw(self, chance: random.Random) -> Fault | None:
        """What befalls the next frame."""
        for kind in get_args(Fault):
            share = getattr(self, kind)
            if share and chance.random() < share:
                return kind  # type: ignore[no-any-return]
        return None


async def deliver(session: FakeSession, connection: Connection, frame: Message | str | bytes) -> None:
    """Send one frame, entered in the journal, with whatever befalls it; raises ``Gone``."""
    server = session.server
    raw = {} if isinstance(frame, dict) else {"_text": frame if isinstance(frame, str) else repr(frame)}
    server.record("server", connection.number, frame if isinstance(frame, dict) else raw)
    if connection.silent_until:
        await server.clock.sleep_until(connection.silent_until)
    if not isinstance(frame, dict):
        text = isinstance(frame, str)
        await connection.send(frame.encode() if isinstance(frame, str) else frame, text=text)
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


async def commit(kind: Fault, session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    """Do this to the frame that is about to go out; ``None``: to nothing in particular, now."""
    session.server.note(f"fault on connection {connection.number}: {kind}")
    await _DEEDS[kind](session, connection, frame)


async def _drop(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    await session.drop()


async def _half_frame(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    session.detach(connection)
    await connection.send_half(frame or encode(UNKNOWN))


async def _stall(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    clock = session.server.clock
    connection.silent_until = clock.now() + STALL
    if frame is not None:
        await clock.sleep_until(connection.silent_until)
        await connection.send(frame)


async def _duplicate(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    for _ in range(2):
        await connection.send(frame or encode(UNKNOWN))


async def _reorder(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    connection.held_back = frame


def _followed_by(
    more: Callable[[], bytes],
) -> Callable[[FakeSession, Connection, bytes | None], Awaitable[None]]:
    async def deed(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
        if frame is not None:
            await connection.send(frame)
        await connection.send(more())

    return deed


async def _text_frame(session: FakeSession, connection: Connection, frame: bytes | None) -> None:
    await connection.send(frame or encode(UNKNOWN), text=True)


_DEEDS: dict[Fault, Callable[[FakeSession, Connection, bytes | None], Awaitable[None]]] = {
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
