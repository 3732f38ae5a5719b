"""Who a client is: the endpoint and version that it dialled, and its credentials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

_GEMINI = re.compile(
    r"/ws/google\.ai\.generativelanguage\.(v\w+)\.GenerativeService\.BidiGenerateContent(?:Constrained)?$"
)
_VERTEX = re.compile(r"/ws/google\.cloud\.aiplatform\.(v\w+)\.LlmBidiService/BidiGenerateContent$")


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """Who connects: which API and version, and with what key or token."""

    vertex: bool
    version: str
    credential: str | None


def header(request: Request, name: str) -> str | None:
    """The header's value; the last one where it was sent twice, which ``websockets`` raises for."""
    return next(reversed(request.headers.get_all(name)), None)


def caller(request: Request) -> ClientIdentity | None:
    """Read the path and the credentials of an upgrade; ``None`` if the path is not a Live endpoint.

    Any API version, any prefix, doubled slashes (google-genai for JavaScript sends ``//ws/…``). No path at all is
    Vertex AI, as google-genai for Python 3.6.1 dials a base URL of one's own without a project.
    """
    try:
        parts = urlsplit(re.sub("/{2,}", "/", request.path))
    except ValueError:  # such as http://[::1
        return None
    gemini, vertex = _GEMINI.search(parts.path), _VERTEX.search(parts.path)
    if not (gemini or vertex or parts.path in ("", "/")):
        return None
    query = parse_qs(parts.query)
    authorization = header(request, "Authorization") or ""
    credential = (
        header(request, "x-goog-api-key")
        or next(iter(query.get("key") or query.get("access_token") or []), None)
        or authorization.partition(" ")[2]
        or None
    )
    if gemini:
        return ClientIdentity(False, gemini[1], credential)
    return ClientIdentity(True, vertex[1] if vertex else "v1beta1", credential)
