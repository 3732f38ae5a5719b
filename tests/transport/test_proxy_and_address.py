"""The first address that answers, and what is said of a dial by how far it got."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.raw import Raw, raw_server

from livetools import ConfigError, ConnectFailed, LiveToolsError, SetupTimeout, WebSocket, connect
from livetools.testing import FakeLiveServer
from livetools.transport.loop.wake import on_trio
from livetools.transport.proxy_and_address import connected, is_address, named, proxy_for, read_proxy

pytestmark = pytest.mark.anyio

#: Where a dial through a silent proxy is given up, 15.0, 16.1 and 17.0 raise inside of a callback of the loop.
GIVES_UP_A_SILENT_PROXY = pytest.mark.skipif(
    tuple(int(part) for part in version("websockets").split(".")[:2]) < (17, 4),
    reason="websockets before 17.4 has an error of its own in a callback, which reaches the loop's logger",
)

MODEL = "gemini-3.8-live"
HOST = "several.example.invalid"


@contextlib.contextmanager
def black_hole(address: str = "127.0.0.2", port: int = 0) -> Iterator[int]:
    """An address that does not answer: its queue of connections is full. Its port."""
    with contextlib.ExitStack() as stack:
        hole = stack.enter_context(socket.socket())
        hole.bind((address, port))
        hole.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect((address, hole.getsockname()[1]))
        yield hole.getsockname()[1]


@contextlib.asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """A port that takes connections and says nothing."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, _keep)
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        group.cancel_scope.cancel()
    await listener.aclose()


async def _keep(stream: Any) -> None:
    async with stream:
        await anyio.sleep_forever()


class Resolver:
    """Knows one host, in the forms of both loops."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.addresses]

    async def getnameinfo(self, *_: Any) -> Any:
        raise NotImplementedError


@contextlib.contextmanager
def resolves_to(*addresses: str) -> Iterator[None]:
    """What every name stands for, on the loop that runs."""
    resolver = Resolver(*addresses)
    if not on_trio():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolver.getaddrinfo)
            yield
        return
    import trio.socket

    before = trio.socket.set_custom_hostname_resolver(resolver)  # type: ignore[arg-type]
    try:
        yield
    finally:
        trio.socket.set_custom_hostname_resolver(before)


@pytest.mark.virtual_time
async def test_a_silent_address_does_not_use_up_the_time_of_the_next() -> None:
    async with FakeLiveServer() as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        with black_hole(port=port), resolves_to("127.0.0.2", "127.0.0.1"):
            session = connect(
                MODEL,
                api_key="k",
                base_url=f"ws://{HOST}:{port}",
                transport=WebSocket(allow_insecure=True, proxy=None),
                setup_timeout=8,
            )
            with anyio.fail_after(30):
                async with session:
                    assert "hi" in str(await session.ask("hi"))


async def failure(base_url: str, *, timeout: float = 0.4, **transport: Any) -> LiveToolsError:
    """What a session that cannot be opened raises."""
    dialer = WebSocket(allow_insecure=True, **{"proxy": None, **transport})
    session = connect(
        MODEL, api_key="k", base_url=base_url, transport=dialer, setup_timeout=timeout, reconnect=False
    )
    with pytest.raises(LiveToolsError) as caught:
        await session.__aenter__()
    return caught.value


@pytest.mark.virtual_time
async def test_a_host_that_does_not_answer() -> None:
    with black_hole() as port:
        error = await failure(f"ws://127.0.0.2:{port}")
    assert isinstance(error, SetupTimeout)
    assert f"127.0.0.2:{port} does not answer (TCP)" in str(error)
    assert "no session within 0.4 s" in str(error)


@pytest.mark.virtual_time
async def test_a_port_that_is_silent_in_tls() -> None:
    async with silent() as port:
        error = await failure(f"wss://127.0.0.1:{port}")
    assert isinstance(error, SetupTimeout)
    assert "silent in TLS: is it a plain port" in str(error)


@pytest.mark.virtual_time
async def test_a_port_that_does_not_answer_the_upgrade() -> None:
    async with silent() as port:
        error = await failure(f"ws://127.0.0.1:{port}")
    assert isinstance(error, SetupTimeout)
    assert "does not answer the upgrade" in str(error)
    assert "wss://" in str(error)


@pytest.mark.virtual_time
@GIVES_UP_A_SILENT_PROXY
async def test_a_proxy_that_is_silent_is_named_without_its_password() -> None:
    async with silent() as port:
        error = await failure("wss://service.invalid", proxy=f"http://me:secret@127.0.0.1:{port}")
    assert isinstance(error, SetupTimeout)
    assert f"service.invalid:443 did not get through the proxy 127.0.0.1:{port}" in str(error)
    assert "secret" not in str(error)


def refuse(line: Raw) -> None:
    line.request()
    line.sock.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")


@GIVES_UP_A_SILENT_PROXY
async def test_a_silent_address_of_a_proxy_does_not_use_up_the_time_of_the_next() -> None:
    with raw_server(refuse) as url:
        port = int(url.rsplit(":", 1)[1])
        with black_hole(port=port), resolves_to("127.0.0.2", "127.0.0.1"):
            error = await failure("wss://service.invalid", proxy=f"http://{HOST}:{port}", timeout=4)
    assert "the proxy refused to connect to service.invalid:443 (HTTP 403)" in str(error)


@pytest.mark.virtual_time
async def test_a_service_that_does_not_complete_the_setup() -> None:
    async with FakeLiveServer() as server:
        server.faults.never_setup = True
        error = await failure(server.url)
    assert isinstance(error, SetupTimeout)
    assert "did not complete the setup" in str(error)


async def test_a_proxy_that_is_dead_is_named_without_its_password() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        error = await failure("wss://service.invalid", timeout=30, proxy=f"http://me:secret@127.0.0.1:{port}")
    assert type(error) is ConnectFailed
    assert f"the proxy 127.0.0.1:{port} cannot be reached" in str(error)
    assert "secret" not in str(error)


async def test_a_name_without_an_address() -> None:
    error = await failure("wss://nowhere.invalid", timeout=20)
    assert "nowhere.invalid:443 has no address" in str(error)


async def test_tls_to_a_plain_port_and_plain_to_a_tls_port() -> None:
    async with FakeLiveServer() as server:
        error = await failure(server.url.replace("ws://", "wss://"), timeout=1)
    assert "plain port (ws://)" in str(error)
    async with FakeLiveServer(tls=True) as server:
        error = await failure(server.url.replace("wss://", "ws://"), timeout=30)
    assert "TLS" in str(error)


async def test_a_port_that_closes_in_the_middle_of_tls_may_be_a_plain_one() -> None:
    async def hang_up(stream: anyio.abc.SocketStream) -> None:
        await stream.receive()
        await stream.aclose()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, hang_up)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        error = await failure(f"wss://127.0.0.1:{port}", timeout=30)
        group.cancel_scope.cancel()
    assert "is it a plain port (ws://)" in str(error)


async def test_a_file_of_authorities_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    async with FakeLiveServer(tls=True) as server:
        error = await failure(server.url, timeout=30)
    assert "SSL_CERT_FILE names /nowhere/ca.pem, which does not exist" in str(error)


async def test_a_file_of_authorities_without_the_one_that_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with FakeLiveServer(tls=True) as server:
        error = await failure(server.url, timeout=30)
    assert f"SSL_CERT_FILE names {tmp_path / 'ca.pem'}: is its authority in that file?" in str(error)


async def test_of_addresses_that_all_fail_the_refusal_is_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with resolves_to("127.0.0.1", "127.0.0.3"):
            error = await failure(f"ws://{HOST}:{port}", timeout=30)
    assert f"nobody listens on {HOST}:{port}" in str(error)


def test_a_url_is_named_by_host_and_port() -> None:
    assert named("http://me:secret@proxy.test:8080/x?key=k") == "proxy.test:8080"
    assert named("wss://host.test/x") == "host.test:443"
    assert named("socks5://host.test") == "host.test:1080"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("fe80::1", True),
        ("localhost", False),
        ("127.1.example", False),
        ("", False),
    ],
)
def test_an_address_is_told_from_a_name_that_has_to_be_looked_up(host: str, address: bool) -> None:
    assert is_address(host) == address


# Proxies

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
    assert read_proxy(given) == read_as


@pytest.mark.parametrize(
    "given", ["http://", "http://[::1", "http://secret:x@proxy:port", "proxy:99999", ":3128"]
)
def test_what_is_no_url_is_refused_without_its_words(given: str) -> None:
    with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
        read_proxy(given)
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
        async with connect(
            "gemini-3.8-live", api_key="k", transport=WebSocket(proxy=proxy), setup_timeout=30
        ):
            raise AssertionError("it cannot stand")
    return str(caught.value)


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
async def test_a_variable_without_a_scheme_is_a_proxy_that_is_dialled(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "127.0.0.1:1")
    assert "the proxy 127.0.0.1:1 cannot be reached" in await dialled()


async def test_an_option_without_a_scheme_is_a_proxy_that_is_dialled() -> None:
    assert "the proxy 127.0.0.1:1 cannot be reached" in await dialled("127.0.0.1:1")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_dial_that_is_cancelled_at_any_step_leaves_no_socket_to_the_collector() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for steps in range(12):
            dial = asyncio.ensure_future(connected("127.0.0.1", server.getsockname()[1]))
            for _ in range(steps):
                await asyncio.sleep(0)
            dial.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                (await dial).close()
            del dial
    gc.collect()  # a socket that nobody has closed is a warning, and so an error
