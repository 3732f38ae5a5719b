"""Misbehaviour on demand: what networks and servers do to a client, each a switch, each seeded.

::

    server.faults.garbage = 0.1          # a tenth of the frames are followed by garbage
    server.faults.flapping = 3           # the first three connections are cut right after the setup
    await turn.fault("half_frame")       # now, once

Shares are of the frames after ``setupComplete``, drawn from the server's seed: the same seed, the same
faults.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal, Self, TypeAlias, get_args

Fault: TypeAlias = Literal[
    "drop", "half_frame", "stall", "duplicate", "reorder", "garbage", "oversize", "unknown", "text_frame"
]


@dataclass(slots=True)
class Faults:
    """The switches of a server. A float is a share of the frames, from 0 to 1."""

    drop: float = 0.0  # the line is cut before the frame
    half_frame: float = 0.0  # the line is cut in the middle of it
    stall: float = 0.0  # nothing is sent for half a minute, this frame neither
    duplicate: float = 0.0  # the frame comes twice
    reorder: float = 0.0  # the frame changes places with the one that follows
    garbage: float = 0.0  # bytes that are no JSON follow
    oversize: float = 0.0  # an unknown message of two megabytes follows
    unknown: float = 0.0  # a message with fields that nobody knows follows
    text_frame: float = 0.0  # the frame is a text frame
    never_setup: bool = False  # the setup is never completed
    early_content: bool = False  # an unknown message comes before setupComplete
    flapping: int = 0  # so many connections are cut right after their setup
    slow_pong: float = 0.0  # seconds that each frame of the client waits before it is read, pings too

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Switches from ``name`` or ``name=value``, as a command line gives them.

        Raises ``ValueError``, which names them all, for one that there is not.
        """
        known = {each.name: each for each in fields(cls)}
        result = cls()
        for text in texts:
            name, _, value = text.replace("-", "_").partition("=")
            if name not in known:
                raise ValueError(f"no fault is called {name!r}; there are {', '.join(known)}")
            kind: type[float | int | bool] = type(getattr(result, name))
            try:
                setattr(result, name, kind(float(value)) if value else kind(1))
            except ValueError:
                raise ValueError(f"fault {name}: {value!r} is no number") from None
        return result

    def draw(self, chance: random.Random) -> Fault | None:
        """What befalls the next frame."""
        for kind in get_args(Fault):
            share = getattr(self, kind)
            if share and chance.random() < share:
                return kind  # type: ignore[no-any-return]
        return None
