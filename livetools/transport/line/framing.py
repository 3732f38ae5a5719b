"""Encodes and decodes websocket frames of whole messages, which are nearly all traffic. Bytes in, bytes out.

A parser that is right for every frame costs more than the rest of a message's way. So the :class:`Cutter` cuts out
messages that are one plain frame, and hands every other frame (control frames, fragments, what the protocol forbids,
what is too big) to the parser of ``websockets``, which judges it. That parser gets each of these frames from its first
byte to its last, perhaps in several pieces, and none of the others.
"""

from __future__ import annotations

import os
from struct import pack

try:
    from websockets.speedups import apply_mask
except ImportError:  # no wheel for this machine
    from websockets.utils import apply_mask

#: The opcodes (RFC 6455, 5.2).
CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
#: The bits that say so: FIN of the first byte, the mask bit of the second.
FIN, MASKED = 0x80, 0x80
DATA = frozenset({CONT, TEXT, BINARY})
WHOLE = (FIN | TEXT, FIN | BINARY)  # how a message in one frame begins


class Piece(bytes):
    """Bytes for the full parser."""


class Cutter:
    """A server's stream, cut into messages. ``bound``: bytes of a message.

    :meth:`add` what came, then take :meth:`next` until it returns ``None``.
    """

    __slots__ = ("_at", "_bound", "_fragments", "_inside", "data")

    def __init__(self, bound: int | None) -> None:
        self._bound = float("inf") if bound is None else bound
        # What came and was not given away, from ``_at`` on. It is empty where all was.
        self.data: bytes | bytearray = b""
        self._at = 0
        self._inside = 0  # bytes that are still to come of a frame whose beginning was handed on
        self._fragments = False  # a message in fragments has begun, and has not ended

    def add(self, data: bytes) -> None:
        """More came."""
        if not self.data:  # the new bytes are taken as they are, without a copy
            self.data = data
            return
        # A bytearray grows in place: a large message that comes in many reads is copied once, not once for each read.
        rest = self.data if isinstance(self.data, bytearray) else bytearray(self.data)
        del rest[: self._at]
        rest += data
        self.data, self._at = rest, 0

    def next(self) -> bytes | None:
        """A whole message, a :class:`Piece` for the full parser, or ``None``: more must come."""
        data, at = self.data, self._at
        # The beginning of this frame was handed on, so its rest follows as it comes.
        if self._inside and data:
            return self._piece()
        if len(data) - at < 2:
            return None
        first, second = data[at], data[at + 1]
        size, begin = second, at + 2
        # 126 and 127 announce a longer length. A server's frame with the mask bit is against the protocol.
        if 125 < second < MASKED:
            begin = at + (4 if second == 126 else 10)
            if len(data) < begin:
                return None
            size = int.from_bytes(data[at + 2 : begin], "big")
        end = begin + size
        # The parser refuses a message that is too big by its announced length, before its bytes have come.
        if first in WHOLE and not self._fragments and size <= self._bound and second < MASKED:
            return self._taken(begin, end) if len(data) >= end else None
        # A pong is handed on whole: it is taken by who asked for it.
        if first == FIN | PONG and second <= 125 and len(data) < end:
            return None
        if first & 15 < CLOSE:  # control frames may come between fragments
            self._fragments = not first & FIN
        self._inside = end - at
        return self._piece()

    def _piece(self) -> Piece:
        piece = Piece(self._taken(self._at, min(self._at + self._inside, len(self.data))))
        self._inside -= len(piece)
        return piece

    def _taken(self, begin: int, end: int) -> bytes:
        data = self.data
        # A read of a hundred messages is not kept until the next one comes.
        self.data, self._at = (b"", 0) if end == len(data) else (data, end)
        return bytes(data[begin:end])


def frame(opcode: int, data: bytes) -> bytes:
    """A whole frame of a client's, with a mask that nobody can foresee (RFC 6455, 5.3)."""
    size, mask = len(data), os.urandom(4)
    if size < 126:
        head = bytes((FIN | opcode, MASKED | size))
    elif size < 65536:
        head = pack("!BBH", FIN | opcode, MASKED | 126, size)
    else:
        head = pack("!BBQ", FIN | opcode, MASKED | 127, size)
    return head + mask + apply_mask(data, mask)
