"""Which way a dial goes: the proxy, and the first address of a host that answers.

A host often has several addresses, and one that is silent (IPv6 without a way out is the usual one) must not use up
the time of all: the next is tried after a quarter of a second, and the first that answers is taken (RFC 8305).
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio

from livetools.errors import ConfigError

from .setup_timeout import reached

STAGGER = 0.25  # seconds until the next address is tried beside the one before


def named(url: str) -> str:
    """Host and port of a URL, and nothing else of it: it may hold a password."""
    parts = urlsplit(url)
    usual = {"wss": 443, "https": 443}.get(parts.scheme, 1080 if "socks" in parts.scheme else 80)
    return f"{parts.hostname}:{parts.port or usual}"


def is_address(host: str) -> bool:
    """Whether this is an address already: there is nothing to look up, and no other one to try."""
    return ":" in host or host.replace(".", "").isdigit()


async def connected(host: str, port: int) -> socket.socket:
    """A socket to the first address of ``host`` that answers. asyncio's; trio does this itself.

    Raises ``OSError`` when none does: what the last one said, and that it was refused before all else.
    """
    reached("address")
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    reached("TCP")
    answered: list[socket.socket] = []
    errors: list[OSError] = []

    async def attempt(address: Any, over: anyio.Event) -> None:
        try:
            line = lines.enter_context(socket.socket(*address[:3]))
            line.setblocking(False)
            await loop.sock_connect(line, address[4])
            answered.append(line)
            group.cancel_scope.cancel()
        except OSError as error:
            errors.append(error)
        over.set()

    with ExitStack() as lines:  # closes them all, however this ends
        async with anyio.create_task_group() as group:
            # The resolver's order, with the families by turns: by the place that an address has in its own.
            for address in sorted(addresses, key=lambda a: [b for b in addresses if b[0] == a[0]].index(a)):
                over = anyio.Event()
                group.start_soon(attempt, address, over)
                with anyio.move_on_after(STAGGER):  # the next one begins sooner where this one has failed
                    await over.wait()
        if answered:
            return answered[0].dup()  # two can succeed before the cancellation reaches the second
    # That a host refuses says more than that another of its addresses has no route.
    raise max(reversed(errors), key=lambda error: isinstance(error, ConnectionRefusedError))


# Proxies. People write them as curl and requests take them: 127.0.0.1:3128 without a scheme, http://me@proxy without a
# password, socks://... (so desktops set ALL_PROXY). websockets refuses each of these.

INVALID_PROXY = "the proxy's URL is not valid; see WebSocket(proxy=...) and HTTPS_PROXY"

#: The schemes of proxies.
_PROXIES = frozenset({"http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"})
#: Whose proxy is asked for, by the scheme of the URL. A SOCKS proxy goes before one for HTTP (RFC 6455, 4.1).
_VARIABLES = {"wss": ("wss", "socks", "https", "all"), "ws": ("ws", "socks", "https", "http", "all")}


def proxy_for(url: str) -> str | None:
    """The environment's proxy for a websocket ``url``; ``None`` if it has no proxy, or ``NO_PROXY`` names the host."""
    # A tenth of a second to import, which a dial of this machine does not need.
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(named(url)):
        return None
    known = getproxies()
    for name in _VARIABLES[urlsplit(url).scheme]:
        if proxy := known.get(name):
            # macOS and Windows tell a SOCKS proxy as http://
            return "socks5h://" + proxy[7:] if name == "socks" and proxy.startswith("http://") else proxy
    return None


def read_proxy(proxy: str) -> str:
    """``proxy`` as ``websockets`` takes it: with a scheme, and with a password where it has a user.

    Raises :class:`ConfigError`, without its words, for what is not a URL.
    """
    proxy = proxy.strip()
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        valid = parts.hostname and parts.port != 0 and parts.scheme in _PROXIES
    except ValueError:  # http://[::1 and http://proxy:port
        valid = False
    if not valid or not proxy.isprintable() or " " in proxy:
        raise ConfigError(INVALID_PROXY)
    if parts.scheme == "socks":
        parts = parts._replace(scheme="socks5h")
    if parts.username is not None and parts.password is None:
        user, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{user}:@{host}")
    return urlunsplit(parts)
