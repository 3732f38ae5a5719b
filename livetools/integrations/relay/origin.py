"""Who may open a websocket. A browser lets a page of any site try, and says in ``Origin`` which site it is."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from livetools.errors import ConfigError

#: Scheme, host and port.
Origin: TypeAlias = tuple[str, str, int]

_PORTS = {"http": 80, "https": 443}
_SCHEMES = {"ws": "http", "wss": "https"}
#: A host name, an IPv4 or an IPv6 address, in the letters that browsers send.
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|[0-9a-f:.]+")


def known_origins(origins: Iterable[str]) -> frozenset[Origin]:
    """The places that a list of origins names.

    Raises ``ConfigError`` for a single string, whose letters would be the list, and for an entry that cannot be read:
    it would match nothing, or every origin that cannot be read either.
    """
    if isinstance(origins, str | bytes):
        raise ConfigError(
            f"origins={origins!r:.80} is one string: a list of origins is expected, [{origins!r:.80}]"
        )
    try:
        entries = list(origins)
    except TypeError:
        raise ConfigError(f"origins={origins!r:.80}: a list of origins is expected") from None
    return frozenset(_entry(each) for each in entries)


def _entry(origin: object) -> Origin:
    place = _place(_in_ascii(origin)) if isinstance(origin, str) else None
    if place is None:
        raise ConfigError(
            f"origins: {origin!r:.80} cannot be read as an origin: scheme, host and, where it is not the usual one, "
            "port, as in 'https://example.org' or 'http://localhost:3000'. There are no wildcards: name each origin"
        )
    return place


def _in_ascii(origin: str) -> str:
    """The origin as browsers send it: a host name in other letters is encoded (IDNA)."""
    scheme, mark, rest = origin.partition("://")
    host, colon, port = rest.partition(":")
    if mark and not host.isascii():
        try:
            return f"{scheme}://{host.encode('idna').decode()}{colon}{port}"
        except UnicodeError:
            return ""
    return origin


def refusal(connection: HTTPConnection, known: Collection[Origin] | None, guarded: bool) -> str | None:
    """The reason to refuse a websocket; ``None`` to accept it.

    With ``known`` places, the page must be from one of them. Without, from the very place that the websocket came to:
    scheme, host and port. A client that sends no ``Origin`` is not a browser, and nobody else's page drives it.

    ``guarded`` says that callers are asked who they are. Where they are not, a server that listens on this machine
    alone answers to this machine's names only: a site may point a name of its own here, and its page then comes
    from the place it asks for (DNS rebinding).
    """
    origin, host = connection.headers.get("origin"), connection.headers.get("host", "")
    place = None if origin is None else _place(origin)
    if known is not None:
        return None if origin is None or place in known else f"pages of {origin} are not allowed here"
    own = _place(f"{_SCHEMES.get(connection.scope['scheme'], 'http')}://{host}")
    if not guarded and _is_loopback(_server(connection)) and not (own and _is_loopback(own[1])):
        return f"{host or 'no host'} is not a name of this machine: name your pages, relay(origins=[...])"
    if origin is None or (place is not None and place == own):
        return None
    return f"a page of {origin} is not allowed on {host}: name your pages, relay(origins=[...])"


def is_one_of(origin: str, known: Collection[Origin]) -> bool:
    """Whether a page's ``Origin`` is one of those places."""
    place = _place(origin)
    return place is not None and place in known


def _server(connection: HTTPConnection) -> str:
    server = connection.scope.get("server")
    return str(server[0]) if server else ""


def _place(origin: str) -> Origin | None:
    """Scheme, host and port of an origin; ``None`` for what is not one, such as ``null``."""
    try:
        parts = urlsplit(origin)
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
    except (ValueError, KeyError):
        return None
    if parts.scheme not in _PORTS or not port or not origin.isprintable() or " " in origin:
        return None
    if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    host = parts.hostname
    return (parts.scheme, host, port) if host and _HOST.fullmatch(host) else None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
