"""Faults on demand: the misbehaviour of networks and servers, as switches with a seed.

::

    server.faults.garbage = 0.1          # a tenth of the frames are followed by garbage
    server.faults.flapping = 3           # the first three connections are cut right after the setup
    await turn.fault("half_frame")       # now, once

Shares are of the frames after ``setupComplete``, drawn from the server's seed: the same seed, the same
faults.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, TypeAlias, get_args

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import explains_keywords

Fault: TypeAlias = Literal[
    "drop", "half_frame", "stall", "duplicate", "reorder", "garbage", "oversize", "unknown", "text_frame"
]


@dataclass(frozen=True, slots=True)
class _Value:
    """What a switch takes: ``type`` up to ``most``; ``alone`` is its value when only the name is given."""

    what: str
    type: type[float | int | bool]
    most: float = math.inf
    alone: float | None = None

    def read(self, name: str, text: str | None) -> float | int | bool:
        if text is None and self.alone is not None:
            return self.type(self.alone)
        try:
            value = float(text or "nan")
        except ValueError:
            value = math.nan
        if not self.takes(value):
            said = f"got {text!r}" if text is not None else "no value was given"
            raise ValueError(f"fault {name} takes {self.what}; {said}")
        return self.type(value)

    def takes(self, value: object) -> bool:
        """Whether the switch may be set to this."""
        if not isinstance(value, int | float) or (isinstance(value, bool) and self.type is not bool):
            return False
        return 0 <= value <= self.most and math.isfinite(value) and self.type(value) == value


_VALUES = {
    "share": _Value(what="a share of the frames, from 0 to 1, such as 0.01", type=float, most=1),
    "never_setup": _Value(what="nothing, or 0 or 1", type=bool, most=1, alone=1),
    "early_content": _Value(what="nothing, or 0 or 1", type=bool, most=1, alone=1),
    "flapping": _Value(what="a number of connections, such as 3", type=int),
    "slow_pong": _Value(what="a time in seconds, such as 0.5", type=float),
}


def _kind(name: str) -> str:
    """The entry of ``_VALUES`` for a switch."""
    return "share" if name in get_args(Fault) else name


@explains_keywords(
    seed="FakeLiveServer(seed=)",
    pace="server.pace",
    **dict.fromkeys(("disconnect", "cut", "lost", "loss"), "drop="),
    **dict.fromkeys(("delay", "lag", "latency"), "slow_pong="),
)
@dataclass(slots=True)
class Faults:
    """The switches of a server. A float is a share of the frames, from 0 to 1. Raises ``ConfigError`` for a value that
    a switch does not take.

    ::

        async with FakeLiveServer() as server:
            server.faults = Faults(flapping=2, garbage=0.1)
            async with connect(MODEL, **server.options) as session:
                print(await session.ask("Hello?"))  # over two lost connections
    """

    drop: float = 0.0  # the line is cut before the frame
    half_frame: float = 0.0  # the line is cut in the middle of it
    stall: float = 0.0  # nothing is sent for half a minute, this frame neither
    duplicate: float = 0.0  # the frame comes twice
    reorder: float = 0.0  # the frame changes places with the one that follows
    garbage: float = 0.0  # bytes that are not JSON follow
    oversize: float = 0.0  # an unknown message of two megabytes follows
    unknown: float = 0.0  # a message with fields that nobody knows follows
    text_frame: float = 0.0  # the frame is a text frame
    never_setup: bool = False  # the setup is never completed
    early_content: bool = False  # an unknown message comes before setupComplete
    flapping: int = 0  # so many connections are cut right after their setup
    slow_pong: float = 0.0  # seconds that each frame of the client waits before it is read, pings too

    def __setattr__(self, name: str, value: Any) -> None:
        switch = _VALUES.get(_kind(name))
        if switch is not None and not switch.takes(value):
            raise ConfigError(f"{name}={value!r:.40}: expected {switch.what}")
        object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Switches from ``name`` or ``name=value``, as a command line gives them.

        Raises ``ValueError`` that says what there is for a name, what may be for a value.
        """
        known = [each.name for each in fields(cls)]
        result = cls()
        for text in texts:
            name, given, value = text.partition("=")
            name = name.strip().replace("-", "_")
            if name not in known:
                raise ValueError(f"no fault is called {name!r}; there are {', '.join(known)}")
            setattr(result, name, _VALUES[_kind(name)].read(name, value.strip() if given else None))
        return result

    def draw(self, chance: random.Random) -> Fault | None:
        """The fault that is injected into the next frame, if any."""
        for kind in get_args(Fault):
            share = getattr(self, kind)
            if share and chance.random() < share:
                return kind  # type: ignore[no-any-return]
        return None
