"""A websocket server of a few lines, in a thread, that does to its client whatever a script says.

It shares no code with the fake, nor with ``websockets``: frames are made and cut by hand.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Raw:
    """One connection. Every method raises ``OSError`` or ``EOFError`` when the client is gone."""

    def __init__(self, sock: socket.socket, number: int) -> None:
        self.sock, self.number = sock, number

    def exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.sock.recv(min(size - len(data), 2**20))
            if not more:
                raise EOFError
            data += more
        return bytes(data)

    def request(self) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.exactly(1)
        return data

    def upgrade(self) -> None:
        """Answer the handshake."""
        request = self.request()
        key = next(line for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:"))
        accept = base64.b64encode(hashlib.sha1(key.split(b":")[1].strip() + GUID).digest())
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.sock.sendall(head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")

    def receive(self) -> dict[str, Any]:
        """The next message; pings and closes are passed over as ``{}``."""
        first, second = self.exactly(2)
        size = second & 127
        if size >= 126:
            size = struct.unpack(">H" if size == 126 else ">Q", self.exactly(2 if size == 126 else 8))[0]
        mask = self.exactly(4)
        data = masked(self.exactly(size), mask)
        return json.loads(data) if first & 15 in (1, 2) else {}

    @staticmethod
    def frame(data: bytes, opcode: int = 1, fin: bool = True) -> bytes:
        size = len(data)
        head = bytes([(128 if fin else 0) | opcode])
        if size < 126:
            return head + bytes([size]) + data
        return (
            head + (struct.pack(">BH", 126, size) if size < 65536 else struct.pack(">BQ", 127, size)) + data
        )

    def send(self, message: object) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.sock.sendall(self.frame(data))

    def begin(self) -> None:
        """Upgrade, read the setup, complete it."""
        self.upgrade()
        self.receive()
        self.send({"setupComplete": {}})

    def close(self, code: int, reason: str = "") -> None:
        """A close frame; the line stays."""
        self.sock.sendall(self.frame(struct.pack(">H", code) + reason.encode()[:123], 8))

    def reset(self) -> None:
        """Cut the line with RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def masked(data: bytes, mask: bytes) -> bytes:
    """Each byte, combined with the byte of the mask whose turn it is: all at once, as two long numbers."""
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data) ^ int.from_bytes(key)).to_bytes(len(data))


@contextlib.contextmanager
def raw_server(script: Callable[[Raw], None], tls: Any = None) -> Iterator[str]:
    """The URL of a server that plays ``script`` to every connection; each is closed when its script returns.

    ``tls``: an ``ssl.SSLContext`` that wraps each connection.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=300)
    open_sockets: list[socket.socket] = []

    def serve(sock: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError, StopIteration), sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            script(Raw(sock if tls is None else tls.wrap_socket(sock, server_side=True), number))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                open_sockets.append(sock)
                number = len(open_sockets)
                threading.Thread(target=serve, args=(sock, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"ws{'' if tls is None else 's'}://localhost:{listener.getsockname()[1]}"
    finally:
        for sock in [listener, *open_sockets]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
