"""Just enough HTTP/1.1 for the REST side: one request a connection, answered whole or as a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from anyio.abc import ByteStream

from .wire import Message

BODY_LIMIT = 64 * 1024 * 1024  # bytes of a request's body
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 500: "INTERNAL"}


class HttpError(Exception):
    """An answer that is an error: the status, and the body that goes with it."""

    def __init__(self, status: int, body: Message) -> None:
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


def error(status: int, message: str, details: Iterable[Message] = ()) -> HttpError:
    """An error as the service words one."""
    body: Message = {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN")}
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
    """The request whose beginning is ``head``. Raises ``HttpError`` on what is no request."""
    top, _, rest = head.partition(b"\r\n\r\n")
    lines = top.decode("latin-1").split("\r\n")
    try:
        method, target, _ = lines[0].split(" ")
        headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    except ValueError:
        raise error(400, "This is no HTTP request.") from None
    if headers.get("expect", "").lower() == "100-continue":
        await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    parts = urlsplit(re.sub("^/{2,}", "/", target))  # else two slashes would begin a host's name
    query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    body = await _body(_Bytes(stream, rest), headers)
    return HttpRequest(method, unquote(parts.path), query, headers, body)


class _Bytes:
    """The stream, with what was read too much of it."""

    def __init__(self, stream: ByteStream, rest: bytes) -> None:
        self._stream, self._rest, self._taken = stream, rest, 0

    async def exactly(self, count: int) -> bytes:
        self._taken += count
        if self._taken > BODY_LIMIT:
            raise error(413, f"More than {BODY_LIMIT} bytes.")
        while len(self._rest) < count:
            self._rest += await self._stream.receive()
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    async def line(self) -> bytes:
        while b"\r\n" not in self._rest:
            self._rest += await self._stream.receive()
        line, _, self._rest = self._rest.partition(b"\r\n")
        return line


async def _body(data: _Bytes, headers: Mapping[str, str]) -> bytes:
    try:
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return await data.exactly(int(headers.get("content-length") or 0))
        body = b""
        while size := int((await data.line()).split(b";")[0], 16):
            body += await data.exactly(size)
            await data.line()
    except ValueError:
        raise error(400, "The body has no length that can be read.") from None
    return body


async def respond(stream: ByteStream, status: int, body: Message | str) -> None:
    """Answer whole, and say that the connection ends."""
    text = body if isinstance(body, str) else json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    kind = "text/plain" if isinstance(body, str) else "application/json"
    data = text.encode()
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
        data = text.encode()
        await self._stream.send(head + f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """Send the last chunk, the empty one."""
        await self._stream.send(b"0\r\n\r\n")


def _head(status: int, kind: str, more: str) -> bytes:
    reason = REASONS.get(status, "Error")
    return f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode()
