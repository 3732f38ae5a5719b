"""``WebSocket``, the default transport: ``websockets`` on asyncio and trio, behind one thin adapter.

What the defaults of ``websockets`` would do to a live session, and what is done instead:

- a ping timeout of 20 s kills healthy sessions (pongs of 8 to 30 s were measured: sip-to-ai#14, 2026-09;
  python-genai#2935): a line is dead when no byte of any kind came for ``dead_after`` seconds, see ``silence``. The
  pings that ask what has arrived (``ask``) end no session, however late their pongs are;
- messages above 1 MiB end the connection (1009): 64 MiB, so that no peer can fill the memory;
- a redirect to another origin would carry ``x-goog-api-key`` along (of the headers only ``authorization`` and
  the cookies are taken off): no redirects;
- at DEBUG it logs the request's headers: its logger is kept at INFO;
- a send that is cancelled on a full socket tears the frame on trio: it is shielded.
"""

from __future__ import annotations

import logging
import ssl as tls
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any
from urllib.parse import urlsplit

from livetools.errors import ConfigError
from livetools.log import get_logger
from livetools.setup.did_you_mean import explains_keywords
from livetools.setup.install_hints import install
from livetools.setup.secrecy import Sealed, Secrets
from livetools.transport.loop.wake import on_trio

from .contract import Transport
from .endpoint import is_loopback
from .proxy_and_address import named, proxy_for, read_proxy
from .setup_timeout import reached

DEAD_AFTER = 40.0  # seconds without a byte after which a line is dead
_KINDS: Mapping[str, tuple[Any, str]] = {
    "ssl": (tls.SSLContext | None, "an ssl.SSLContext or None"),
    "proxy": (str | bool | None, "a URL, True or None"),
    "headers": (Mapping | None, "a mapping of names to values, or None"),
    "allow_insecure": (bool, "True or False"),
}


@explains_keywords(
    **dict.fromkeys(("ssl_context", "context", "tls", "verify", "cafile"), "ssl="),
    **dict.fromkeys(("proxies", "http_proxy", "https_proxy"), "proxy="),
    **dict.fromkeys(("additional_headers", "extra_headers", "http_headers"), "headers="),
    **dict.fromkeys(("insecure", "allow_http"), "allow_insecure="),
    **dict.fromkeys(("keepalive", "heartbeat", "ping"), "ping_interval="),
    **dict.fromkeys(("ping_timeout", "pong_timeout", "heartbeat_timeout"), "dead_after="),
    **dict.fromkeys(("idle_timeout", "read_timeout"), "dead_after="),
    **dict.fromkeys(("max_size", "max_msg_size", "max_message_size", "limit"), "max_message="),
    **dict.fromkeys(("timeout", "send_timeout"), "write_timeout="),
    **dict.fromkeys(("open_timeout", "connect_timeout", "setup_timeout"), "connect(setup_timeout=...)"),
    **dict.fromkeys(("url", "uri", "base_url"), "connect(base_url=...)"),
)
@dataclass(frozen=True)
class WebSocket:
    """Options of the connection: TLS, proxy, headers, limits. Pass it as ``connect(transport=WebSocket(...))``.

    ``ssl``: a context for ``wss://`` (default: the system's). ``proxy``: ``True`` for the environment's
    (``HTTPS_PROXY``, ``ALL_PROXY``, ``NO_PROXY``), a URL (``host:port`` is read as ``http://host:port``), or ``None``
    for none; loopback is always reached directly. ``headers``: additional headers of every connection.
    ``allow_insecure``: permit ``ws://`` to other hosts than loopback. ``ping_interval``: seconds between further
    keepalive pings, for a proxy that cuts quiet lines; ``None`` for none. ``dead_after``: seconds without a byte, of
    whatever kind, after which the connection counts as lost and another one is dialled; ``None`` for never. A line that
    says nothing for 15 s (or half of ``dead_after``, if that is less) is sent a ping. ``write_timeout``: seconds after
    which a frame that the peer does not accept breaks the connection. ``max_message``: the size in bytes of a received
    message, ``None`` for no limit; a larger message ends the session (1009).

    Raises ``ConfigError`` for a value of another kind, and for a ``max_message``, ``dead_after``,
    ``ping_interval`` or ``write_timeout`` that is not a positive number.

    ::

        transport = WebSocket(proxy=None, ping_interval=20, max_message=2**20)
        async with connect(MODEL, tools=[get_weather], transport=transport) as session:
            print(await session.ask("Weather in Oslo?"))
    """

    ssl: tls.SSLContext | None = field(default=None, repr=False)
    proxy: str | bool | None = field(default=True, repr=False)  # may hold a password
    headers: Mapping[str, str] | None = field(default=None, repr=False)  # may hold a token
    allow_insecure: bool = False
    ping_interval: float | None = None
    dead_after: float | None = DEAD_AFTER
    write_timeout: float = 30.0
    max_message: int | None = 64 * 2**20

    def __post_init__(self) -> None:
        for name, (kind, wanted) in _KINDS.items():
            if not isinstance(value := getattr(self, name), kind):
                raise ConfigError(f"{name} is a {type(value).__name__}: expected {wanted}")
        if isinstance(self.proxy, str):
            read_proxy(self.proxy)
        most = self.max_message
        if most is not None and not (type(most) is int and most > 0):
            raise ConfigError(f"max_message is {most!r:.40}: a number of bytes above 0, or None, is expected")
        never = ", or None for never,"
        for name, other in (("dead_after", never), ("ping_interval", never), ("write_timeout", "")):
            seconds = getattr(self, name)
            number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
            if (number and 0 < seconds < inf) or (other and seconds is None):
                continue
            raise ConfigError(f"{name} is {seconds!r:.40}: seconds above 0{other} are expected")

    @asynccontextmanager
    async def dial(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[Transport]:
        """Connect to ``url``: TCP, TLS, proxy and upgrade. See :class:`~.contract.Dialer` for the contract.

        Raises ``ConnectFailed`` when nobody answers, ``RemoteProtocolError`` when something other than a
        websocket does, and what the HTTP status says when the upgrade is refused.
        """
        from .connection_errors import dial_error

        secret, failure = Secrets(options={"proxy": None}), None
        try:
            with Sealed():
                secret.options = self._options(url, headers)
                del headers
                dialled, transport = await _dial()(url, **secret.options)
        except Exception as error:
            failure = dial_error(error, url, secret.options["proxy"])
        if failure is not None:
            raise failure  # out here, so that it does not lead to the foreign one, whose words may hold a password
        del secret
        try:
            yield transport
        finally:
            try:
                await transport.aclose()
            finally:
                await dialled.__aexit__(None, None, None)

    def _way(self, url: str) -> str | None:
        """The proxy that this dial goes through, if any; its origin is noted."""
        proxy = None if is_loopback(urlsplit(url).hostname or "") else self.proxy
        if proxy is True:
            proxy = proxy_for(url)
        way = read_proxy(proxy) if proxy else None
        reached("proxy" if way else "TCP", where=named(url), proxy=named(way or url))
        return way

    def _options(self, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
        """What the loop's ``dial`` takes."""
        from .websocket_connection import LineLimits

        options: dict[str, Any] = {
            "limits": LineLimits(self.max_message, self.write_timeout, self.dead_after),
            "max_size": self.max_message,
            "proxy": self._way(url),
            "additional_headers": {**(self.headers or {}), **headers},
            "compression": None,
            "close_timeout": None,  # our own, which covers more
            "open_timeout": None,  # the setup's deadline covers it
            "ping_interval": self.ping_interval,
            "ping_timeout": None,  # whether the line is dead is not for pongs alone to say
            "logger": quiet_logger(),
        }
        if self.ssl is not None and url.startswith("wss:"):
            options["ssl"] = self.ssl
        return options


def _dial() -> Callable[..., Awaitable[tuple[AbstractAsyncContextManager[Any], Transport]]]:
    """The dial of the loop that runs. They are two because the loops differ in what a cancelled send leaves behind,
    and in how they read.
    """
    if not on_trio():
        from .on_asyncio import dial
    else:
        try:
            from .on_trio import dial
        except ImportError:
            raise ConfigError(f"a session on trio needs websockets 17 or newer: {install('trio')}") from None
    return dial


def quiet_logger() -> logging.Logger:
    """The logger for ``websockets``: the headers of an upgrade, keys among them, stand in its DEBUG lines."""
    logger = get_logger("livetools.websocket")
    logger.setLevel(logger.level or logging.INFO)
    return logger
