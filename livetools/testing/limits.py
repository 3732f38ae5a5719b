"""How long things last on the service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Limits:
    """Times in seconds of the server's clock, as measured on the service (2026-09-10, two runs)."""

    go_away: float = 540.0  # of a connection: goAway is sent
    time_left: float = 50.0  # after which it is closed with 1008
    handle: float = 2 * 3600.0  # how long a handle is good for after its connection ended
