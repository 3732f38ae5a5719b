"""How a websocket is closed: codes that pages and phones get alike, and reasons that fit."""

from __future__ import annotations

#: The server stops, and the client may come again (RFC 6455 7.4, and the IANA's list).
SERVER_STOPS = 1012
#: The client may come again at once (the IANA's list).
TRY_AGAIN = 1013
#: Bytes that the reason of a close frame may have (RFC 6455 5.5).
MAX_REASON = 123


def close_reason(text: str) -> str:
    """The text as the reason of a close frame: one line, cut where it is too long."""
    return " ".join(text.split()).encode(errors="replace")[:MAX_REASON].decode(errors="ignore")
