"""What a listening port is called from outside: its URLs, and whom to trust there."""

from __future__ import annotations

import ssl

from .certificates import certificates
from .port import Port


class Address:
    """The address of a server on this machine, with TLS or without."""

    def __init__(self, listener: Port, tls: bool) -> None:
        self.listener = listener
        self.tls = tls

    @property
    def port(self) -> int:
        """The port; asking for it binds it."""
        return self.listener.number

    @property
    def _place(self) -> str:
        host = self.listener.host
        if self.tls and host in ("127.0.0.1", "0.0.0.0"):
            host = "localhost"  # what the certificate names
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
    def ca_file(self) -> str | None:
        """The certificate authority as a PEM file, for ``SSL_CERT_FILE``; ``None`` without TLS."""
        return certificates().ca_file if self.tls else None

    @property
    def ssl_context(self) -> ssl.SSLContext | None:
        """A client's context that trusts this server; ``None`` without TLS."""
        return certificates().client if self.tls else None
