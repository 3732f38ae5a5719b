"""``Limits``: the time limits of connections and handles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from livetools.setup.plan_fields import ValueCheck, check


@dataclass(slots=True)
class Limits:
    """Times in seconds of the server's clock. ``None`` is what the endpoint has, the Gemini API or Vertex AI.

    As measured on the Gemini API (2026-09-10, two runs) and reported of Vertex AI, whose documentation says how long
    its handles last. Raises ``ConfigError`` for anything but a number from 0 on; ``math.inf`` is never.

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

    def __setattr__(self, name: str, value: object) -> None:
        check({name: value}, {name: _EXPECTED[name]} if name in _EXPECTED else {})
        object.__setattr__(self, name, value)

    def left(self, *, vertex: bool) -> float:
        """``time_left`` of a connection to this endpoint."""
        return (30.0 if vertex else 50.0) if self.time_left is None else self.time_left

    def keeps(self, *, vertex: bool) -> float:
        """``handle`` of this endpoint."""
        return (24 if vertex else 2) * 3600.0 if self.handle is None else self.handle


def is_time(value: object) -> bool:
    """Whether this is a number of seconds from 0 on, infinity among them."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


_SECONDS: ValueCheck = is_time, "a number of seconds from 0 on, or math.inf"
_OR_NONE: ValueCheck = lambda value: value is None or is_time(value), f"{_SECONDS[1]}, or None"
_EXPECTED: Mapping[str, ValueCheck] = {
    "go_away": _SECONDS,
    "time_left": _OR_NONE,
    "handle": _OR_NONE,
    "idle": _SECONDS,
}
