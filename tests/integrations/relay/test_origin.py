"""Who may open a websocket."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from livetools.integrations.relay.origin import refusal

LOCAL, PUBLIC = "127.0.0.1", "203.0.113.7"


def websocket(origin: str | None, host: str, scheme: str = "ws", server: str = LOCAL) -> HTTPConnection:
    headers = [(b"host", host.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    return HTTPConnection(
        {"type": "websocket", "scheme": scheme, "headers": headers, "server": (server, 8000)}
    )


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [
        ("http://localhost:8000", "localhost:8000", "ws"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "ws"),
        ("http://[::1]:8000", "[::1]:8000", "ws"),
        ("http://LOCALHOST:8000", "localhost:8000", "ws"),
        ("http://localhost", "localhost:80", "ws"),
        ("https://localhost", "localhost", "wss"),
        ("https://localhost:443", "localhost", "wss"),
        (None, "localhost:8000", "ws"),  # not a browser
    ],
)
def test_a_page_of_the_same_place_may_come(origin, host, scheme):
    assert refusal(websocket(origin, host, scheme), None, guarded=False) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:8001",  # another port
        "https://localhost:8000",  # another scheme
        "http://localhost.evil.example:8000",
        "http://localhost:8000.evil.example",
        "http://localhost:8000@evil.example",
        "http://user@localhost:8000",
        "http://localhost:8000/path",
        "localhost:8000",
        "file://",
        "null",
        "",
        "http://[::1",
        "http://localhost:port",
        "http://127.0.0.1:8000",  # another name of the same machine
    ],
)
@pytest.mark.parametrize("guarded", [True, False])
def test_a_page_of_any_other_place_may_not(origin, guarded):
    assert refusal(websocket(origin, "localhost:8000"), None, guarded)


def test_a_name_that_was_pointed_at_this_machine_opens_nothing():
    rebound = websocket("http://evil.example:8000", "evil.example:8000")
    assert "origins=" in (refusal(rebound, None, guarded=False) or "")
    assert refusal(rebound, None, guarded=True) is None  # the caller has to show who it is


@pytest.mark.parametrize(
    "host", ["", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_a_strange_host_is_refused_without_an_origin_too(host):
    assert refusal(websocket(None, host), None, guarded=False)


def test_a_public_server_answers_to_its_name():
    page = websocket("https://example.org", "example.org", "wss", PUBLIC)
    assert refusal(page, None, guarded=False) is None


def test_named_origins_are_the_only_ones():
    origins = ["https://example.org", "http://localhost:5173"]
    for origin in (*origins, None):
        assert refusal(websocket(origin, "live.example.org:8000"), origins, guarded=False) is None
    for origin in ("http://example.org", "https://example.org:8443", "http://live.example.org:8000", "null"):
        assert refusal(websocket(origin, "live.example.org:8000"), origins, guarded=False)
