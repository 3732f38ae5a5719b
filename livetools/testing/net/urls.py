"""The URLs of a listening port, and the certificate to trust there."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from livetools.transport.endpoint import is_loopback

from .certificates import Certificates, certificates
from .port import Port

EVERYWHERE = ("", "0.0.0.0", "::")


class Address:
    """The address of a server on this machine, with TLS or without.

    ``authority`` is the directory that keeps its certificate authority; ``None`` makes one for this process.
    """

    def __init__(self, listener: Port, tls: bool) -> None:
        self.listener = listener
        self.tls = tls
        self.authority: Path | None = None

    @property
    def port(self) -> int:
        """The port; asking for it binds it."""
        return self.listener.number

    @property
    def _place(self) -> str:
        host = self.listener.host
        if self.tls and host in ("127.0.0.1", *EVERYWHERE):
            host = "localhost"  # what the certificate names
        elif host in EVERYWHERE:
            host = "::1" if ":" in host else "127.0.0.1"
        return self._at(host)

    def _at(self, host: str) -> str:
        return f"{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def url(self) -> str:
        """``ws://127.0.0.1:…``, or ``wss://localhost:…``."""
        return f"{'wss' if self.tls else 'ws'}://{self._place}"

    @property
    def http_url(self) -> str:
        """The same with ``http`` or ``https``: what google-genai takes as a base URL."""
        return f"{'https' if self.tls else 'http'}://{self._place}"

    @property
    def public(self) -> bool:
        """Whether other machines may reach it."""
        return not is_loopback(self.listener.host)

    @property
    def public_url(self) -> str | None:
        """What another machine calls it, as ``http_url`` has it; ``None`` if it does not, or if nobody knows."""
        host = self._named
        return f"{'https' if self.tls else 'http'}://{self._at(host)}" if self.public and host else None

    @property
    def _named(self) -> str | None:
        """The host name for clients; where the server listens everywhere, an address of this machine."""
        host = self.listener.host
        return own_address(ipv6=":" in host) if host in EVERYWHERE else host

    @property
    def _certificates(self) -> Certificates | None:
        return certificates(self.authority, self._named if self.public else None) if self.tls else None

    @property
    def ca_file(self) -> str | None:
        """The certificate authority as a PEM file, for ``SSL_CERT_FILE``; ``None`` without TLS."""
        return self._certificates.ca_file if self._certificates is not None else None

    @property
    def ssl_context(self) -> ssl.SSLContext | None:
        """A client's context that trusts this server; ``None`` without TLS."""
        return self._certificates.client if self._certificates is not None else None

    @property
    def server_ssl(self) -> ssl.SSLContext | None:
        """The server's own context; ``None`` without TLS."""
        return self._certificates.server if self._certificates is not None else None


def own_address(*, ipv6: bool = False) -> str | None:
    """This machine's address on its network; ``None`` where it has none.

    The system is asked which one it would send from. Nothing is sent: that is how UDP connects.
    """
    family, somewhere = (socket.AF_INET6, "2001:db8::1") if ipv6 else (socket.AF_INET, "192.0.2.1")
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return None
