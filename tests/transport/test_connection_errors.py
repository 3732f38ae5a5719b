"""Every exception of websockets becomes one of ours."""

from __future__ import annotations

import inspect
import socket
import ssl

import pytest
from websockets import exceptions as ws
from websockets.datastructures import Headers
from websockets.frames import Close
from websockets.http11 import Response

from livetools.errors import ConfigError, ConnectFailed, LiveToolsError, RemoteProtocolError
from livetools.transport.connection_errors import dial_error, gone
from livetools.transport.loop.wake import on_trio

URL = "wss://example.test/ws"
SECRET = "AIza-secret"


def response(status: int) -> Response:
    return Response(status, "No", Headers({"x-goog-api-key": SECRET}), b"no")


SAMPLES: dict[type[Exception], Exception] = {
    ws.ConnectionClosed: ws.ConnectionClosed(None, None),
    ws.ConnectionClosedOK: ws.ConnectionClosedOK(None, None),
    ws.ConnectionClosedError: ws.ConnectionClosedError(None, None),
    ws.InvalidURI: ws.InvalidURI("ws:", SECRET),
    ws.InvalidProxy: ws.InvalidProxy(SECRET, "no host"),
    ws.InvalidProxyStatus: ws.InvalidProxyStatus(response(407)),
    ws.InvalidStatus: ws.InvalidStatus(response(403)),
    ws.InvalidHeader: ws.InvalidHeader("Upgrade", SECRET),
    ws.InvalidHeaderFormat: ws.InvalidHeaderFormat("Upgrade", "bad", SECRET, 0),
    ws.InvalidHeaderValue: ws.InvalidHeaderValue("Upgrade", SECRET),
    ws.InvalidOrigin: ws.InvalidOrigin(SECRET),
    ws.InvalidUpgrade: ws.InvalidUpgrade("Upgrade", SECRET),
    ws.DuplicateParameter: ws.DuplicateParameter(SECRET),
    ws.InvalidParameterName: ws.InvalidParameterName(SECRET),
    ws.PayloadTooBig: ws.PayloadTooBig(2, 1),
    ws.InvalidParameterValue: ws.InvalidParameterValue("name", SECRET),
}


def every_exception() -> list[type[Exception]]:
    return [
        value
        for value in vars(ws).values()
        if inspect.isclass(value)
        and issubclass(value, ws.WebSocketException)
        and value.__module__ == ws.__name__
    ]


@pytest.mark.parametrize("kind", every_exception())
def test_each_exception_of_websockets_is_mapped_and_its_text_stays_behind(kind: type[Exception]) -> None:
    error = SAMPLES.get(kind) or kind(SECRET)
    mapped = dial_error(error, URL)
    assert isinstance(mapped, LiveToolsError)
    assert SECRET not in str(mapped)
    assert len(str(mapped)) > 20


def test_a_server_that_hangs_up_in_the_handshake_is_told_from_one_that_talks_nonsense() -> None:
    hung = ws.InvalidMessage("did not receive a valid HTTP response")
    hung.__cause__ = EOFError()
    assert isinstance(dial_error(hung, URL), ConnectFailed)
    assert isinstance(dial_error(ws.InvalidMessage("SSH-2.0"), URL), RemoteProtocolError)


def test_a_certificate_that_is_not_accepted_is_explained() -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_message = "unable to get local issuer certificate"
    wrapped = RuntimeError("broken resource")
    wrapped.__cause__ = refused
    mapped = dial_error(wrapped, URL)
    assert isinstance(mapped, ConnectFailed)
    assert "SSL_CERT_FILE" in str(mapped)


def test_an_unknown_host_names_the_host() -> None:
    assert "example.test:443" in str(dial_error(OSError(-2, "Name or service not known"), URL))


UNKNOWN = socket.gaierror(-2, "Name or service not known")


def test_a_host_that_has_no_address_is_not_blamed_on_the_socks_proxy() -> None:
    assert "example.test:443 has no address" in str(dial_error(UNKNOWN, URL, "socks5://proxy.test:1080"))


def test_a_proxy_that_has_no_address_is_blamed_itself() -> None:
    told = OSError("Could not connect to proxy")  # as python-socks tells it
    told.__cause__ = UNKNOWN
    for error, proxy in ((told, "socks5://proxy.test:1080"), (UNKNOWN, "http://proxy.test:1080")):
        assert "the proxy proxy.test:1080 cannot be reached" in str(dial_error(error, URL, proxy))


@pytest.mark.anyio
async def test_a_missing_socks_package_is_named_with_the_extra_of_the_loop() -> None:
    error = dial_error(ImportError("python-socks"), URL)
    assert isinstance(error, ConfigError)
    assert f"pip install 'python-socks[{'trio' if on_trio() else 'asyncio'}]'" in str(error)


@pytest.mark.parametrize(
    ("error", "closing", "expected"),
    [
        (
            ws.ConnectionClosedError(Close(1011, "oops"), Close(1011, "oops"), True),
            False,
            (1011, "oops", False),
        ),
        (ws.ConnectionClosedOK(Close(1000, ""), Close(1000, ""), False), True, (1000, "", True)),
        (ws.ConnectionClosedOK(Close(1000, ""), Close(1000, ""), True), True, (1000, "", False)),
        (ws.ConnectionClosedError(None, None), False, (1006, "", False)),
        (ws.ConnectionClosedError(None, None), True, (1006, "", True)),
        (
            ws.ConnectionClosedError(None, Close(1011, "keepalive ping timeout")),
            False,
            (1006, "keepalive ping timeout", False),
        ),
    ],
)
def test_an_end_says_its_code_its_reason_and_whose_it_was(
    error: ws.ConnectionClosed, closing: bool, expected: tuple[int, str, bool]
) -> None:
    end = gone(error, closing)
    assert (end.code, end.reason, end.by_us) == expected
