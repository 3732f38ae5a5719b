"""Finds the proxy of a dial, in the environment or in ``WebSocket(proxy=...)``, and reads it as curl does.

People write a proxy as curl and requests take it: ``127.0.0.1:3128`` without a scheme, ``http://me@proxy`` without a
password, ``socks://…`` (so desktops set ``ALL_PROXY``). ``websockets`` refuses each of these.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from livetools.errors import ConfigError

INVALID = "the proxy's URL is not valid; see WebSocket(proxy=...) and HTTPS_PROXY"

#: Whose proxy is asked for, by the scheme of the URL. A SOCKS proxy goes before one for HTTP (RFC 6455, 4.1).
_VARIABLES = {"wss": ("wss", "socks", "https", "all"), "ws": ("ws", "socks", "https", "http", "all")}


def proxy_for(url: str) -> str | None:
    """The environment's proxy for a websocket ``url``; ``None`` where there is none, or ``NO_PROXY`` names the host."""
    parts = urlsplit(url)
    secure = parts.scheme == "wss"
    if proxy_bypass(f"{parts.hostname}:{parts.port or (443 if secure else 80)}"):
        return None
    known = getproxies()
    for name in _VARIABLES["wss" if secure else "ws"]:
        if proxy := known.get(name):
            # macOS and Windows tell a SOCKS proxy as http://
            return "socks5h://" + proxy[7:] if name == "socks" and proxy.startswith("http://") else proxy
    return None


def read(proxy: str) -> str:
    """``proxy`` as ``websockets`` takes it: with a scheme, and with a password where it has a user.

    Raises :class:`ConfigError`, without its words, for what is not a URL.
    """
    proxy = proxy.strip()
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:  # http://[::1 and http://proxy:port
        valid = False
    if not valid:
        raise ConfigError(INVALID)
    if parts.scheme == "socks":
        parts = parts._replace(scheme="socks5h")
    if parts.username is not None and parts.password is None:
        user, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{user}:@{host}")
    return urlunsplit(parts)
