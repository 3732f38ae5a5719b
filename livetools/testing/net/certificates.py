"""Makes a certificate for this machine, and the authority that signs it.

The authority is made once a process and gone with it; or it is kept in a directory, so that what trusts it today
trusts it tomorrow.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from livetools.log import get_logger
from livetools.setup.install_hints import install

if TYPE_CHECKING:
    import trustme

log = get_logger("livetools.testing")

_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Certificates:
    """What both ends of a TLS connection need. ``ca_file`` is a PEM file, good for ``SSL_CERT_FILE``."""

    server: ssl.SSLContext
    client: ssl.SSLContext
    ca_file: str


@functools.cache
def certificates(directory: Path | None = None, host: str | None = None) -> Certificates:
    """The certificates of this process, for ``localhost``, ``127.0.0.1``, ``::1`` and ``host``.

    With ``directory`` the authority is kept there, as ``ca.pem`` and, for its owner alone, ``ca-key.pem``; where
    it cannot be kept, a new one is made and the log says so. Raises ``ImportError`` that says what to install where
    ``trustme`` is missing.
    """
    try:
        import trustme
    except ImportError as error:
        raise ImportError(f"TLS on the fake server needs trustme: {install('testing')}") from error
    authority, path = _kept(directory) if directory is not None else (None, None)
    if authority is None or path is None:
        authority = trustme.CA()
        path = _temporary(authority)
    names = _NAMES if host is None or host in _NAMES else (*_NAMES, host)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return Certificates(server, client, path)


def _kept(directory: Path) -> tuple[trustme.CA, str] | tuple[None, None]:
    """The authority of this directory, created if it has none; ``(None, None)`` if it cannot be stored."""
    both, public = directory / "ca-key.pem", directory / "ca.pem"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not both.exists():
            _make(both)
        pem = both.read_bytes()
        authority = _authority(pem)
        certificate = authority.cert_pem.bytes()
        if not public.exists() or public.read_bytes() != certificate:
            public.write_bytes(certificate)
    except (OSError, ValueError) as error:
        log.warning("the certificate authority is a new one: %s cannot be used: %s", both, error)
        return None, None
    return authority, str(public)


def _make(path: Path) -> None:
    """Write a new authority, its key first, readable by its owner alone. If two processes do so, the first one wins."""
    import trustme

    made = trustme.CA()
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(made.private_key_pem.bytes() + made.cert_pem.bytes())
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)


def _authority(pem: bytes) -> trustme.CA:
    import trustme

    begin = pem.find(b"-----BEGIN CERTIFICATE-----")
    if begin <= 0:
        raise ValueError("it does not hold a key and a certificate")
    return trustme.CA.from_pem(cert_bytes=pem[begin:], private_key_bytes=pem[:begin])


def _temporary(authority: trustme.CA) -> str:
    """The authority in a file that goes with the process."""
    handle, path = tempfile.mkstemp(prefix="livetools-ca-", suffix=".pem")
    os.close(handle)
    authority.cert_pem.write_to_path(path)
    atexit.register(_remove, path)
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
