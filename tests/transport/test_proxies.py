"""The proxy of a dial: from the environment or from an option, as curl and requests read it."""

from __future__ import annotations

import os

import pytest

from livetools import ConfigError, ConnectFailed, WebSocket, connect
from livetools.transport.proxies import proxy_for, read

SERVICE = "wss://service.invalid/ws"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("https://proxy", "https://proxy"),
        ("proxy:3128", "http://proxy:3128"),
        ("127.0.0.1:1", "http://127.0.0.1:1"),
        ("[::1]:3128", "http://[::1]:3128"),
        ("me:secret@proxy:3128", "http://me:secret@proxy:3128"),
        ("http://me@proxy:3128", "http://me:@proxy:3128"),
        ("socks://127.0.0.1:1080/", "socks5h://127.0.0.1:1080/"),
        ("socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080"),
        (" http://proxy:3128\n", "http://proxy:3128"),
    ],
)
def test_a_proxy_is_read_as_curl_reads_it(given: str, read_as: str) -> None:
    assert read(given) == read_as


@pytest.mark.parametrize(
    "given", ["http://", "http://[::1", "http://secret:x@proxy:port", "proxy:99999", ":3128"]
)
def test_what_is_no_url_is_refused_without_its_words(given: str) -> None:
    with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
        read(given)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "wss_proxy", "SOCKS_PROXY"]
)
def test_each_variable_for_tls_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "proxy:3128")
    assert proxy_for(SERVICE) == "proxy:3128"


def test_a_proxy_for_plain_http_is_not_one_for_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    assert proxy_for(SERVICE) is None
    assert proxy_for("ws://service.invalid") == "http://proxy:3128"


def test_a_variable_for_the_scheme_goes_before_the_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://other:1080")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert proxy_for(SERVICE) == "http://proxy:3128"


@pytest.mark.parametrize("exempt", ["service.invalid", ".invalid", "*", "service.invalid:443"])
def test_no_proxy_exempts_a_host_from_the_one_for_all_as_well(
    exempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", exempt)
    assert proxy_for(SERVICE) is None


async def dialled(proxy: str | bool = True) -> str:
    """What is said of a dial through a proxy that nobody serves."""
    with pytest.raises(ConnectFailed) as caught:
        async with connect("gemini-3.8-live", api_key="k", transport=WebSocket(proxy=proxy), setup_timeout=5):
            raise AssertionError("it cannot stand")
    return str(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
async def test_a_variable_without_a_scheme_is_a_proxy_that_is_dialled(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "127.0.0.1:1")
    assert "the proxy 127.0.0.1:1 cannot be reached" in await dialled()


@pytest.mark.anyio
async def test_an_option_without_a_scheme_is_a_proxy_that_is_dialled() -> None:
    assert "the proxy 127.0.0.1:1 cannot be reached" in await dialled("127.0.0.1:1")
