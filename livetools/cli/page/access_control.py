"""Who may come to the page of ``livetools web``: this machine alone, or everyone who has the token."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Nothing inline, nothing from elsewhere, in nobody's frame.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


#: Names of this machine. A site may point a name of its own here: it is not answered.
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
#: Paths that hold nothing of a session: the page itself, its icon and its modules.
_OPEN = ("/web/", "/favicon.ico")

#: Methods that change nothing; a websocket has none, and the relay checks from whose page it comes.
SAFE = frozenset({"GET", "HEAD", "OPTIONS", None})

NO_TOKEN = "the token is missing or wrong: open the address that `livetools web` printed, with its token"


@dataclass(frozen=True, slots=True)
class Door:
    """``hosts`` are names that it accepts beside this machine's own; with ``addresses``, every IP address is.

    With a ``token``, whatever belongs to a session is for those who have opened ``/?token=...`` before. The token is
    then kept in a cookie that no script can read, and no other site can send.
    """

    hosts: frozenset[str] = frozenset()
    addresses: bool = False
    token: str | None = None

    @classmethod
    def to(cls, host: str, names: Collection[str], token: str) -> Door:
        """The door of a server that listens on ``host`` and is known by ``names``: open without a token on loopback."""
        names = frozenset(name.lower() for name in names)
        if host in LOCAL and not names:
            return cls()
        return cls(names | {host}, host not in LOCAL, token)

    @property
    def authorize(self) -> Callable[[object], None] | None:
        """The relay's ``authorize``. With a token the door has checked the visitor; else the relay trusts loopback."""
        return None if self.token is None else lambda websocket: None

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header names this server."""
        name = _name(host)
        return name in LOCAL or name in self.hosts or (self.addresses and _is_address(name))

    def lets(self, connection: HTTPConnection) -> bool:
        """Whether this request may come in."""
        if self.token is None or _is_open(connection):
            return True
        return hmac.compare_digest(connection.cookies.get(self._cookie(connection), ""), self.token)

    def enter(self, connection: HTTPConnection) -> Response | None:
        """The answer to a first visit with the token in the URL: it moves the token from the URL to a cookie."""
        given = parse_qs(connection.url.query).get("token")
        if self.token is None or given is None or connection.url.path != "/":
            return None
        if not hmac.compare_digest(given[0].encode(), self.token.encode()):
            return PlainTextResponse(NO_TOKEN, 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie(connection), self.token, httponly=True, samesite="strict")
        return answer

    def url(self, host: str, port: int) -> str:
        """The address to open."""
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{port}/" + (
            "" if self.token is None else f"?{urlencode({'token': self.token})}"
        )

    @staticmethod
    def _cookie(connection: HTTPConnection) -> str:
        return f"livetools-{connection.url.port or 'page'}"  # browsers keep cookies by name of host, for all its ports


def _name(host: str) -> str:
    """The name in a ``Host``, without its port."""
    return (
        host.partition("]")[0].strip("[]").lower() if host.startswith("[") else host.partition(":")[0].lower()
    )


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_open(connection: HTTPConnection) -> bool:
    if connection.scope["type"] != "http":
        return False
    path = connection.url.path
    return path == "/" or path.startswith(_OPEN) or (path.startswith("/live/") and path.endswith(".js"))


def _is_own(connection: HTTPConnection, host: str) -> bool:
    """Whether no other site asks: browsers name the page that does."""
    origin = connection.headers.get("origin")
    return origin is None or origin.partition("://")[2] == host


class AccessControl:
    """Adds :data:`HEADERS` to every answer, and asks the door about every visitor.

    It refuses websockets that do not come from a browser. The relay checks from whose page a browser's comes.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = self._refusal(HTTPConnection(scope)) or self._app
            return await answer(scope, receive, _with_headers(send))
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            if "origin" not in headers:
                return await send(_closed("only the page may come here"))
            if self._refusal(HTTPConnection(scope)) is not None:
                return await send(_closed(NO_TOKEN))
            host = headers.get("host", "")
            if self._door.token is not None and headers["origin"] == f"https://{host}":
                scope = {**scope, "scheme": "wss"}  # a tunnel has taken the TLS off
        return await self._app(scope, receive, send)

    def _refusal(self, connection: HTTPConnection) -> Response | None:
        """The answer in place of the app's; ``None`` if the app answers."""
        host = connection.headers.get("host", "")
        if not self._door.knows(host):
            return PlainTextResponse(
                f"{host} is not a name of this server: livetools web --allow-host NAME", 400
            )
        if connection.scope.get("method") not in SAFE and not _is_own(connection, host):
            return PlainTextResponse("only the page itself may do this", 403)
        if (entered := self._door.enter(connection)) is not None:
            return entered
        return None if self._door.lets(connection) else PlainTextResponse(NO_TOKEN, 401)


def _closed(reason: str) -> Message:
    return {"type": "websocket.close", "code": 1008, "reason": reason}


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return guarded
