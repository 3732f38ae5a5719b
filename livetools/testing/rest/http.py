"""A small HTTP/1.1 for the REST side: one request a connection, answered whole or as a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
from anyio.abc import ByteStream

from livetools.testing.wire import REQUEST_TIMEOUT, Message, ServiceRefusal, decode, utf8

BODY_LIMIT = 64 * 1024 * 1024  # bytes of a request's body
LINE_LIMIT = 4 * 1024  # bytes of a line between two chunks
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 500: "INTERNAL"}


class HttpError(Exception):
    """An answer that is an error: its status and its body."""

    def __init__(self, status: int, body: Message) -> None:
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


def error(status: int, message: str, details: Iterable[Message] = ()) -> HttpError:
    """An error as the service words one."""
    body: Message = {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN")}
    return HttpError(status, {"error": body | ({"details": list(details)} if details else {})})


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came. Header names are lower-case; of a query's repeated names the last counts."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


async def read_request(stream: ByteStream, head: bytes) -> HttpRequest:
    """The request that begins with ``head``. Raises ``HttpError`` if it is not a request."""
    top, _, rest = head.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    try:
        method, target, _ = lines[0].split(" ")
        headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        parts = urlsplit(re.sub("^/{2,}", "/", target))  # else two slashes would begin a host's name
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    except ValueError:
        raise error(400, "This is not an HTTP request.") from None
    if headers.get("expect", "").lower() == "100-continue":
        await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await _body(_Bytes(stream, rest), headers)
    return HttpRequest(method, unquote(parts.path), query, headers, body)


class _Bytes:
    """The stream, and the bytes that were read beyond the request."""

    def __init__(self, stream: ByteStream, rest: bytes) -> None:
        self._stream, self._buffer, self._at = stream, bytearray(rest), 0

    async def take(self, count: int, into: bytearray) -> None:
        """Append the next ``count`` bytes to ``into``, as they come."""
        if len(into) + count > BODY_LIMIT:
            raise error(413, f"More than {BODY_LIMIT} bytes.")
        while count:
            if self._at == len(self._buffer):
                await self._more()
            piece = self._buffer[self._at : self._at + count]
            into += piece
            self._at += len(piece)
            count -= len(piece)

    async def line(self) -> bytes:
        """The next line, without its end."""
        while (end := self._buffer.find(b"\r\n", self._at)) < 0:
            if len(self._buffer) - self._at > LINE_LIMIT:
                raise error(400, f"A line between two chunks is longer than {LINE_LIMIT} bytes.")
            await self._more()
        line = bytes(self._buffer[self._at : end])
        self._at = end + 2
        return line

    async def _more(self) -> None:
        """Read more. Bytes that were taken are dropped here, once a read and not once a piece."""
        del self._buffer[: self._at]
        self._at = 0
        with anyio.move_on_after(REQUEST_TIMEOUT):
            self._buffer += await self._stream.receive()
            return
        raise anyio.EndOfStream  # as if it had gone


async def _body(data: _Bytes, headers: Mapping[str, str]) -> bytes:
    body = bytearray()
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        await data.take(_length(headers.get("content-length") or "0", 10), body)
        return bytes(body)
    while size := _length((await data.line()).split(b";")[0].decode("latin-1"), 16):
        await data.take(size, body)
        if await data.line():
            raise error(400, "A chunk is longer than it says.")
    return bytes(body)


def _length(text: str, base: int) -> int:
    """A length as HTTP writes it; ``int`` alone would accept signs, blanks and underscores."""
    text = text.strip(" \t")
    if not re.fullmatch(r"[0-9]{1,16}" if base == 10 else r"[0-9A-Fa-f]{1,16}", text):
        raise error(400, "The body has no length that can be read.")
    return int(text, base)


def json_body(request: HttpRequest) -> Message:
    """The JSON object in a request's body, ``{}`` if the body is empty. Raises ``HttpError``."""
    try:
        return decode(request.body or b"{}")
    except ServiceRefusal as refusal:
        raise error(400, f"{refusal.reason} ({refusal.why})") from None


async def respond(stream: ByteStream, status: int, body: Message | str) -> None:
    """Send the whole answer, with ``Connection: close``."""
    text = body if isinstance(body, str) else json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    kind = "text/plain" if isinstance(body, str) else "application/json"
    data = utf8(text)
    await stream.send(_head(status, f"{kind}; charset=UTF-8", f"Content-Length: {len(data)}\r\n") + data)


class Chunks:
    """An answer in chunks. Its head goes out with the first: until then it may become an error."""

    def __init__(self, stream: ByteStream, kind: str) -> None:
        self._stream, self._kind = stream, kind
        self.begun = False

    async def write(self, text: str) -> None:
        """Send one chunk."""
        head = b"" if self.begun else _head(200, self._kind, "Transfer-Encoding: chunked\r\n")
        self.begun = True
        data = utf8(text)
        await self._stream.send(head + f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """Send the last chunk, the empty one."""
        await self._stream.send(b"0\r\n\r\n")


def _head(status: int, kind: str, more: str) -> bytes:
    reason = REASONS.get(status, "Error")
    return f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode()
