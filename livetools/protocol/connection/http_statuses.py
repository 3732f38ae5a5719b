"""Says what an HTTP status means that came in the place of a websocket: the error, and whether to try again.

The service itself answers 101 and then closes (observed 2026-09-10), so a status is mostly that of a gateway, a proxy
or a wrong address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

import livetools.errors as errors
from livetools.errors import ConnectFailed, LiveToolsError, RemoteProtocolError
from livetools.setup.secrecy import scrub

from .close_codes import BILLING, KEY, REFUSED, Diagnosis, known, make_error

#: What is clearly about the key or the quota.
HTTP_STATUSES: Mapping[int, Diagnosis] = {
    401: Diagnosis(errors.AuthenticationError, "no", KEY),
    403: Diagnosis(errors.AuthenticationError, "no", KEY),
    429: Diagnosis(errors.QuotaExceeded, "yes", BILLING),
}
HTTP_FAILING = Diagnosis(errors.ServerError, "yes", "try again later")  # 500 and above


def http_error(status: int, body: str = "") -> LiveToolsError:
    """The error of an upgrade that was answered with this status instead of 101; its ``code`` is the status.

    An answer that is not of a Live API is a ``RemoteProtocolError``.
    """
    reason = scrub(_reason(status, body))
    # Google's own words, where the body has them, say more than the status. A gateway's 5xx page may hold anything.
    verdict = known(reason, setup=True) if 400 <= status < 500 else None
    if verdict := verdict or HTTP_STATUSES.get(status) or (HTTP_FAILING if status >= 500 else None):
        return make_error(verdict, status, reason, "connect")
    if status == 407:
        return ConnectFailed(f"the proxy asks for credentials: {reason}. Put them into the proxy's URL")
    if status < 400 or status in (404, 405, 426):
        return RemoteProtocolError(f"no Live API at this address: {reason}. Check base_url and api_version")
    return make_error(REFUSED, status, reason, "connect")


def _reason(status: int, body: str) -> str:
    """``HTTP 403 Forbidden: …``, with Google's own message where the body is its JSON, and no HTML."""
    try:
        phrase = f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = f"HTTP {status}"
    try:
        detail = json.loads(body)["error"]["message"]
    # A body can be anything: no JSON, or JSON of any form.
    except (ValueError, RecursionError, LookupError, TypeError):
        detail = "" if body.lstrip().startswith("<") else body
    detail = " ".join(str(detail).split())[:200]
    return f"{phrase}: {detail}" if detail else phrase
