"""What a server is called before anybody serves there."""

from __future__ import annotations

import socket

import anyio
import pytest

from livetools.testing.port import Port
from livetools.testing.urls import Address


def close(address):
    anyio.run(address.listener.close)


@pytest.mark.parametrize(
    ("host", "tls", "url"),
    [
        ("127.0.0.1", False, "ws://127.0.0.1:{}"),
        ("127.0.0.1", True, "wss://localhost:{}"),
        ("0.0.0.0", True, "wss://localhost:{}"),
        ("::1", False, "ws://[::1]:{}"),
    ],
)
def test_the_urls_name_a_port_that_is_bound(host, tls, url):
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"no {host} on this machine")
    address = Address(Port(host, 0), tls)
    assert address.url == url.format(address.port)
    assert address.http_url == address.url.replace("ws", "http", 1)
    assert (address.ca_file is not None) is tls
    assert (address.ssl_context is not None) is tls
    close(address)


def test_a_port_that_is_taken_is_an_error_of_the_system():
    first = Address(Port("127.0.0.1", 0), tls=False)
    taken = Address(Port("127.0.0.1", first.port), tls=False)

    async def both():
        await first.listener.open(None, None)
        await taken.listener.open(None, None)

    with pytest.raises(OSError, match=r"in use"):
        anyio.run(both)
    close(first)
    close(taken)
