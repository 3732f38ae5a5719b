"""A certificate for this machine."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

import pytest

from livetools.testing.net.certificates import certificates


def handshake(client, name, made=None):
    """Both ends of a handshake in memory."""
    made = made or certificates()
    a, b, c, d = (ssl.MemoryBIO() for _ in range(4))
    ours = made.server.wrap_bio(a, b, server_side=True)
    theirs = client.wrap_bio(c, d, server_hostname=name)
    for _ in range(4):
        for end, out, into in ((theirs, d, a), (ours, b, c)):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
            into.write(out.read())
    return theirs.getpeercert()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
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


def test_an_authority_that_is_kept_is_trusted_by_whoever_trusted_it_before(tmp_path):
    place = tmp_path / "kept"
    before = certificates(place)
    assert before.ca_file == str(place / "ca.pem")
    trusting = ssl.create_default_context(cafile=before.ca_file)
    certificates.cache_clear()  # another process
    after = certificates(place)
    assert after is not before
    assert after.ca_file == before.ca_file
    assert handshake(trusting, "localhost", after)


def test_its_key_is_for_its_owner_alone(tmp_path):
    certificates(tmp_path / "kept")
    assert (tmp_path / "kept" / "ca-key.pem").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert "PRIVATE" not in (tmp_path / "kept" / "ca.pem").read_text()
    assert sorted(each.name for each in (tmp_path / "kept").iterdir()) == ["ca-key.pem", "ca.pem"]


@pytest.mark.parametrize("broken", [b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\n"])
def test_where_it_cannot_be_kept_a_new_one_is_made_and_told(tmp_path, caplog, broken):
    (tmp_path / "ca-key.pem").write_bytes(broken)
    made = certificates(tmp_path)
    assert handshake(ssl.create_default_context(cafile=made.ca_file), "localhost", made)
    assert "the certificate authority is a new one" in caplog.text
    assert (tmp_path / "ca-key.pem").read_bytes() == broken


def test_it_names_the_host_that_it_is_made_for(tmp_path):
    made = certificates(host="192.0.2.7")
    assert handshake(made.client, "192.0.2.7", made)
