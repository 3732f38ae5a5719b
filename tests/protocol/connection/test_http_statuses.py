"""What an HTTP status means that came in the place of a websocket."""

from __future__ import annotations

import pytest

from livetools.errors import (
    AuthenticationError,
    ConnectFailed,
    InvalidRequest,
    LiveToolsError,
    ModelNotFound,
    QuotaExceeded,
    RemoteProtocolError,
    ServerError,
    SetupRejected,
)
from livetools.protocol.connection.http_statuses import http_error


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (401, "", AuthenticationError, False),
        (403, "", AuthenticationError, False),
        (
            403,
            '{"error": {"message": "User location is not supported for the API use."}}',
            InvalidRequest,
            False,
        ),
        (400, '{"error": {"message": "API key not valid. Please pass one."}}', AuthenticationError, False),
        (404, '{"error": {"message": "models/x is not found for API version v1"}}', ModelNotFound, False),
        (429, "", QuotaExceeded, True),
        (429, '{"error": {"message": "You exceeded your current quota"}}', QuotaExceeded, False),
        (500, "<html>oops</html>", ServerError, True),
        (503, "", ServerError, True),
        (407, "", ConnectFailed, None),
        (404, "", RemoteProtocolError, None),
        (200, "<html>hello</html>", RemoteProtocolError, None),
        (302, "", RemoteProtocolError, None),
        (426, "", RemoteProtocolError, None),
        (418, "", SetupRejected, None),
        (799, "", ServerError, True),
    ],
)
def test_an_http_status_at_the_upgrade_has_its_class(
    status: int, body: str, kind: type[LiveToolsError], retryable: bool | None
) -> None:
    failed = http_error(status, body)
    assert type(failed) is kind
    assert f"HTTP {status}" in str(failed)
    assert "<html>" not in str(failed)
    assert getattr(failed, "retryable", None) is retryable


def test_an_http_body_is_quoted_but_not_at_length() -> None:
    assert "no such path" in str(http_error(404, "no such\n path"))
    assert len(str(http_error(500, "x" * 10_000))) < 500
    http_error(500, "[" * 100_000)
