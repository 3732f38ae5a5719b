"""A certificate for localhost, and the authority that vouches for it: made once a process, gone with it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import ssl
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Certificates:
    """What both ends of a TLS connection need. ``ca_file`` is a PEM file, good for ``SSL_CERT_FILE``."""

    server: ssl.SSLContext
    client: ssl.SSLContext
    ca_file: str


@functools.cache
def certificates() -> Certificates:
    """The certificates of this process, for ``localhost`` and ``127.0.0.1``.

    Raises ``ImportError`` that says what to install where ``trustme`` is missing.
    """
    try:
        import trustme
    except ImportError as error:
        raise ImportError("TLS on the fake server needs trustme: pip install 'livetools[testing]'") from error
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    handle, path = tempfile.mkstemp(prefix="livetools-ca-", suffix=".pem")
    os.close(handle)
    authority.cert_pem.write_to_path(path)
    atexit.register(_remove, path)
    return Certificates(server, client, path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
