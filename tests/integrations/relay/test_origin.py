"""Who may open a websocket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import HTTPConnection

from livetools import ConfigError
from livetools.integrations.relay.origin import known_origins, refusal

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
    known = known_origins(origins)
    for origin in (*origins, None):
        assert refusal(websocket(origin, "live.example.org:8000"), known, guarded=False) is None
    for origin in ("http://example.org", "https://example.org:8443", "http://live.example.org:8000", "null"):
        assert refusal(websocket(origin, "live.example.org:8000"), known, guarded=False)


@pytest.mark.parametrize(
    ("entry", "origin"),
    [
        ("https://example.org/", "https://example.org"),
        ("https://EXAMPLE.org:443", "https://example.org"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("http://my_host:3000", "http://my_host:3000"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
    ],
)
def test_an_entry_is_read_as_the_origin_that_a_browser_sends(entry, origin):
    assert refusal(websocket(origin, "live.example.org"), known_origins([entry]), guarded=False) is None


@pytest.mark.parametrize(
    "entry",
    [
        "", " ", "*", "null", "example.org", "*.example.org", "https://*.example.org", "https://example.org/app",
        "https://example.org?x", "https://user@example.org", "https://@example.org", "https://example.org:0",
        "https://example.org:port", "https://", "http://[::1", "file://", "chrome-extension://abc",
        "wss://example.org", " https://example.org", "https://exa mple.org", "https://example.org\n",
        "https://-", None, 7, b"https://example.org", ("https", "example.org", 443),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_read_is_refused_when_the_relay_is_made(entry):
    with pytest.raises(ConfigError, match="origins"):
        known_origins(["https://good.example", entry])


@pytest.mark.parametrize("origins", ["https://example.org", b"https://example.org", 7])
def test_what_is_no_list_of_origins_is_refused(origins):
    with pytest.raises(ConfigError, match="a list of origins is expected"):
        known_origins(origins)


PARTS = st.sampled_from(
    ["null", "file", "http", "https", "://", ":", "/", "//", "@", ".", "*", "example", "org", "443", "[", "]",
     "::1", " ", "\n", "\x00", "%2e", "\\", "?", "#", "evil", "xn--", "\u202e", "é"]
)  # fmt: skip
KNOWN = known_origins(["https://example.org"])


@given(st.lists(PARTS, max_size=12).map("".join) | st.text(max_size=40))
def test_no_origin_but_the_one_that_is_named_comes_in(origin):
    headers = [(b"host", b"api.example.org"), (b"origin", origin.encode("utf-8", "replace"))]
    connection = HTTPConnection(
        {"type": "websocket", "scheme": "wss", "headers": headers, "server": (PUBLIC, 443)}
    )
    came_in = refusal(connection, KNOWN, guarded=True) is None
    assert came_in == (origin.lower().removesuffix("/").removesuffix(":443") == "https://example.org")
