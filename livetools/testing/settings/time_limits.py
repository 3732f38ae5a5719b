"""``Limits``: the time limits of connections and handles."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Limits:
    """Times in seconds of the server's clock. ``None`` is what the endpoint has, the Gemini API or Vertex AI.

    As measured on the Gemini API (2026-09-10, two runs) and reported of Vertex AI, whose documentation says how long
    its handles last.

    ::

        clock = FakeClock()
        async with FakeLiveServer(clock=clock) as server, connect(MODEL, clock=clock, **server.options) as session:
            server.limits = Limits(go_away=60.0, handle=30.0)
            print(server.limits.left(vertex=False), "s between goAway and the close")
    """

    go_away: float = 540.0  # of a connection: goAway is sent
    time_left: float | None = None  # after which it is closed with 1008: 50, on Vertex AI 30
    handle: float | None = None  # how long a handle is good for after its connection ended: 2 hours, there 24
    idle: float = math.inf  # without a turn, it is closed with 1008; 86 to 198 were seen (extended thinking)

    def left(self, *, vertex: bool) -> float:
        """``time_left`` of a connection to this endpoint."""
        return (30.0 if vertex else 50.0) if self.time_left is None else self.time_left

    def keeps(self, *, vertex: bool) -> float:
        """``handle`` of this endpoint."""
        return (24 if vertex else 2) * 3600.0 if self.handle is None else self.handle
