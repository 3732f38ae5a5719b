"""A certificate for this machine."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

import pytest

from livetools.testing.certificates import certificates


def handshake(client, name):
    """Both ends of a handshake in memory."""
    made = certificates()
    a, b, c, d = (ssl.MemoryBIO() for _ in range(4))
    ours = made.server.wrap_bio(a, b, server_side=True)
    theirs = client.wrap_bio(c, d, server_hostname=name)
    for _ in range(4):
        for end, out, into in ((theirs, d, a), (ours, b, c)):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
            into.write(out.read())
    return theirs.getpeercert()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("by_file", [False, True])
def test_it_is_good_for_this_machine_by_name_and_by_number(name, by_file):
    made = certificates()
    client = ssl.create_default_context(cafile=made.ca_file) if by_file else made.client
    assert handshake(client, name)


def test_it_is_good_for_no_other():
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(certificates().client, "example.org")


def test_it_is_made_once_a_process():
    assert certificates() is certificates()
    assert "BEGIN CERTIFICATE" in Path(certificates().ca_file).read_text()
