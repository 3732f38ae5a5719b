"""Maps each exception of ``websockets`` to an error of livetools or to ``Gone``. No other module reads them.

No text of a foreign exception that may hold a header is passed on.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

from livetools.errors import ConfigError, ConnectFailed, LiveToolsError, RemoteProtocolError
from livetools.protocol.connection.http_statuses import http_error
from livetools.transport.loop.wake import on_trio

from .contract import Gone
from .proxy_and_address import INVALID_PROXY, named
from .setup_timeout import current

if TYPE_CHECKING:
    from websockets.exceptions import ConnectionClosed


#: Bytes of a refusal's page that are looked at: Google's own errors are shorter, and a page may be a megabyte.
BODY = 64 * 1024


def gone(error: ConnectionClosed, closing: bool, cause: BaseException | None = None) -> Gone:
    """How a connection ended. ``closing``: our ``aclose`` has been called; ``cause``: what broke the line, if known."""
    by_us = closing and error.rcvd_then_sent is not True
    if error.rcvd is not None:
        return Gone(error.rcvd.code, error.rcvd.reason, by_us)
    # We have closed, and the peer has not answered: what it sent was too big.
    if error.sent is not None and error.sent.code == 1009:
        return Gone(1009, f"the message exceeds max_message ({error.sent.reason})")
    if error.sent is not None and not closing:
        # ``websockets`` closed by itself: what came was not websocket traffic, or a pong did not come.
        return Gone(1006, error.sent.reason or str(error.__cause__ or ""))
    # What the operating system said, if it is known.
    return Gone(1006, f"{type(cause).__name__}: {cause}" if isinstance(cause, OSError) else "", by_us)


def dial_error(error: Exception, url: str, proxy: str | None = None) -> LiveToolsError:
    """Why there is no connection, for everything that dialling may raise, through ``proxy`` if there was one."""
    from websockets import exceptions as ws

    where = named(url)
    match error:
        case LiveToolsError():
            return error
        # A redirect is not followed: it could carry the key to another host.
        case ws.InvalidStatus(response=response) if response.status_code in range(300, 400):
            status = response.status_code
            return RemoteProtocolError(f"{where} redirects (HTTP {status}). Set base_url to where it leads")
        case ws.InvalidStatus(response=response):
            body = bytes(response.body or b"")[:BODY]
            return http_error(response.status_code, body.decode("utf-8", "replace"))
        case ws.InvalidURI():
            return ConfigError(f"the URL of the service is not valid (host {where}); see base_url")
        case ws.InvalidProxy():
            return ConfigError(INVALID_PROXY)
        case ws.InvalidProxyStatus(response=response):
            return ConnectFailed(f"the proxy refused to connect to {where} (HTTP {response.status_code})")
        case ws.ProxyError():
            through = "the proxy" if proxy is None else f"the proxy {named(proxy)}"
            return ConnectFailed(f"{through} did not reach {where}; see WebSocket(proxy=...) and HTTPS_PROXY")
        # The line was closed where the response to the upgrade should have come.
        case ws.InvalidMessage() if isinstance(error.__cause__, EOFError):
            tls = ". Does the port want TLS? Then use wss://" if url.startswith("ws:") else ""
            return ConnectFailed(f"{where} closed the connection before the websocket was open{tls}")
        case ws.InvalidHandshake() | ws.ProtocolError() | ws.PayloadTooBig():
            return RemoteProtocolError(
                f"{where} answers, but not as a websocket ({type(error).__name__}). Check base_url,"
                " and whether the port speaks TLS (wss) or not (ws)"
            )
        case ImportError():
            needed = f"pip install 'python-socks[{'trio' if on_trio() else 'asyncio'}]'"
            return ConfigError(f"a SOCKS proxy is configured; it needs the package python-socks: {needed}")
    return _unreachable(error, where, proxy)


def _unreachable(error: Exception, where: str, proxy: str | None) -> LiveToolsError:
    """The operating system's and TLS's errors, of which trio wraps the latter, and what is left."""
    # The most telling cause first: what TLS says, then the proxy, then the address.
    causes = list(_causes(error))
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if isinstance(tls, ssl.SSLCertVerificationError):
        return ConnectFailed(f"the certificate of {where} is refused: {tls.verify_message}. {_authorities()}")
    if tls is not None:
        return _no_tls(where, tls.reason or str(tls))
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    # A peer that does not speak TLS closes the line, and all that is left is an error of the socket.
    if isinstance(error, OSError) and current().stage == "TLS":
        return _no_tls(where, why)
    # socks5:// and socks4:// look up the host here. A proxy without an address gives another kind of error.
    host_unknown = isinstance(error, socket.gaierror) and (proxy or "").startswith("socks")
    if proxy is not None and isinstance(error, OSError) and not host_unknown:
        return ConnectFailed(
            f"the proxy {named(proxy)} cannot be reached ({why}), so {where} cannot: see WebSocket(proxy=...) and"
            " HTTPS_PROXY; proxy=None goes without"
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ConnectFailed(f"{where} has no address: check base_url, and the DNS of this machine")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ConnectFailed(f"nobody listens on {where}")
    if isinstance(error, OSError):
        return ConnectFailed(f"{where} cannot be reached: {why}")
    return ConnectFailed(f"the connection to {where} broke while it was made ({type(error).__name__})")


def _no_tls(where: str, why: str) -> ConnectFailed:
    return ConnectFailed(f"TLS with {where} failed ({why}): is it a plain port (ws://), or a proxy?")


def _authorities() -> str:
    """What to do about a certificate of an unknown authority."""
    file = os.environ.get("SSL_CERT_FILE")
    if file and not os.path.exists(file):
        return f"SSL_CERT_FILE names {file}, which does not exist"
    if file:
        return f"SSL_CERT_FILE names {file}: is its authority in that file?"
    return "Pass WebSocket(ssl=context) for a private one, or set SSL_CERT_FILE"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything that led to it; trio groups what went wrong with each address of a host."""
    yield error
    for cause in (error.__cause__, *getattr(error, "exceptions", ())):
        if cause is not None:
            yield from _causes(cause)
