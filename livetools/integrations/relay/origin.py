"""Who may open a websocket. A browser lets a page of any site try, and says in ``Origin`` which site it is."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

_PORTS = {"http": 80, "https": 443}
_SCHEMES = {"ws": "http", "wss": "https"}


def refusal(connection: HTTPConnection, origins: Collection[str] | None, guarded: bool) -> str | None:
    """The reason to refuse a websocket; ``None`` to accept it.

    With ``origins``, the page must be from one of them. Without, from the very place that the websocket came to:
    scheme, host and port. A client that sends no ``Origin`` is not a browser, and nobody else's page drives it.

    ``guarded`` says that callers are asked who they are. Where they are not, a server that listens on this machine
    alone answers to this machine's names only: a site may point a name of its own here, and its page then comes
    from the place it asks for (DNS rebinding).
    """
    origin, host = connection.headers.get("origin"), connection.headers.get("host", "")
    if origins is not None:
        known = {_place(each) for each in origins}
        return None if origin is None or _place(origin) in known else f"pages of {origin} may not come here"
    own = _place(f"{_SCHEMES.get(connection.scope['scheme'], 'http')}://{host}")
    if not guarded and _is_loopback(_server(connection)) and not (own and _is_loopback(own[1])):
        return f"{host or 'no host'} is not a name of this machine: name your pages, relay(origins=[...])"
    if origin is None or (own is not None and _place(origin) == own):
        return None
    return f"a page of {origin} may not come to {host}: name your pages, relay(origins=[...])"


def is_one_of(origin: str, origins: Collection[str]) -> bool:
    """Whether a page's ``Origin`` is one of those that were named."""
    place = _place(origin)
    return place is not None and place in {_place(each) for each in origins}


def _server(connection: HTTPConnection) -> str:
    server = connection.scope.get("server")
    return str(server[0]) if server else ""


def _place(origin: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; ``None`` for what is not one, such as ``null``."""
    try:
        parts = urlsplit(origin)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    if not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        return None
    return parts.scheme, parts.hostname, port


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
