"""What a server is called before anybody serves there."""

from __future__ import annotations

import socket

import anyio
import pytest

from livetools.testing import FakeLiveServer
from livetools.testing.net.port import Port
from livetools.testing.net.urls import Address, own_address


def close(address):
    anyio.run(address.listener.close)


@pytest.mark.parametrize(
    ("host", "tls", "url"),
    [
        ("127.0.0.1", False, "ws://127.0.0.1:{}"),
        ("127.0.0.1", True, "wss://localhost:{}"),
        ("0.0.0.0", True, "wss://localhost:{}"),
        ("0.0.0.0", False, "ws://127.0.0.1:{}"),
        ("", False, "ws://127.0.0.1:{}"),
        ("::", False, "ws://[::1]:{}"),
        ("::", True, "wss://localhost:{}"),
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
        await first.listener.open(None, None, None)
        await taken.listener.open(None, None, None)

    with pytest.raises(OSError, match=r"in use"):
        anyio.run(both)
    close(first)
    close(taken)


@pytest.mark.parametrize("tls", [False, True])
def test_what_listens_everywhere_has_an_address_for_other_machines(tls):
    here, everywhere = Address(Port("127.0.0.1", 0), tls), Address(Port("0.0.0.0", 0), tls)
    assert (here.public, here.public_url) == (False, None)
    assert everywhere.public
    if own_address() is None:
        pytest.skip("this machine is on no network")
    scheme = "https" if tls else "http"
    assert everywhere.public_url == f"{scheme}://{own_address()}:{everywhere.port}"
    close(here)
    close(everywhere)


@pytest.mark.anyio
async def test_its_certificate_is_good_for_other_machines_too():
    if (address := own_address()) is None:
        pytest.skip("this machine is on no network")

    def shake_hands(context, port):
        with socket.create_connection((address, port), 5) as plain:
            context.wrap_socket(plain, server_hostname=address).close()

    async with FakeLiveServer(tls=True, host="0.0.0.0") as server:
        await anyio.to_thread.run_sync(shake_hands, server.ssl_context, server.port)


@pytest.mark.anyio
async def test_a_port_that_was_left_refuses():
    async with FakeLiveServer() as server:
        await (await anyio.connect_tcp("127.0.0.1", server.port)).aclose()
    with pytest.raises(OSError, match=r"."):
        await anyio.connect_tcp("127.0.0.1", server.port)
