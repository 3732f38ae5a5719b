"""Encodes and decodes websocket frames of whole messages, which are nearly all traffic. Bytes in, bytes out.

A parser that is right for every frame costs more than the rest of a message's way. So the :class:`Cutter` cuts what
is whole and plain, and hands everything else (control frames, fragments, what the protocol forbids, what is too big)
piece by piece to the parser of ``websockets``, which always finds itself at the beginning of a frame, or inside one
that was begun with it, and judges it.
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
#: The bits of the first and of the second byte that say so.
FIN, MASKED = 0x80, 0x80
DATA = frozenset({CONT, TEXT, BINARY})
WHOLE = (FIN | TEXT, FIN | BINARY)  # how a message in one frame begins


class Piece(bytes):
    """Bytes for the full parser."""


class Cutter:
    """A server's stream, cut into messages. ``bound``: bytes of a message.

    :meth:`add` what came, then take :meth:`next` until it returns ``None``.
    """

    __slots__ = ("_at", "_bound", "_data", "_fragments", "_inside")

    def __init__(self, bound: int | None) -> None:
        self._bound = float("inf") if bound is None else bound
        self._data: bytes | bytearray = b""
        self._at = 0
        self._inside = 0  # bytes that are still to come of a frame whose beginning was handed on
        self._fragments = False  # a message in fragments has begun, and has not ended

    def add(self, data: bytes) -> None:
        """More came."""
        # Everything was given away: the new bytes are taken as they are, without a copy.
        if self._at == len(self._data):
            self._data = data
        # A bytearray grows in place: a large message that comes in many reads is copied once, not once for each read.
        elif type(self._data) is bytearray:
            del self._data[: self._at]
            self._data += data
        else:
            self._data = bytearray(self._data[self._at :])
            self._data += data
        self._at = 0

    @property
    def left(self) -> bool:
        """Whether there are bytes that :meth:`next` has not given away."""
        return self._at < len(self._data)

    def next(self) -> bytes | None:
        """A whole message, a :class:`Piece` for the full parser, or ``None``: more must come."""
        data, at = self._data, self._at
        left = len(data) - at
        # The beginning of this frame was handed on, so its rest follows as it comes.
        if self._inside and left:
            return self._piece(left)
        if left < 2:
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
            if len(data) < end:
                return None
            if end == len(data):  # a read of a hundred messages is not kept until the next one comes
                self._data, self._at = b"", 0
            else:
                self._at = end
            return bytes(data[begin:end])
        # A pong is handed on whole: it is taken by who asked for it.
        if first == FIN | PONG and second <= 125 and len(data) < end:
            return None
        if first & 15 < CLOSE:  # control frames may come between fragments
            self._fragments = not first & FIN
        self._inside = end - at
        return self._piece(left)

    def _piece(self, left: int) -> Piece:
        size = min(self._inside, left)
        piece = Piece(self._data[self._at : self._at + size])
        self._at += size
        self._inside -= size
        return piece


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
