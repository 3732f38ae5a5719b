"""A fake Live server that people can build on: for tests without a network, demos without a key.

It speaks raw JSON and shares no frame model with livetools' own client: a field that one side misspells
shows. pytest imports this package at its start (for the ``live_server`` fixture), so names are loaded when
they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import FakeCall
    from .clock import FakeClock
    from .conversation import User
    from .faults import Faults
    from .live.limits import Limits
    from .live.session import FakeSession
    from .pretend import Pretend
    from .proxy import RecordingProxy
    from .recording import Recording
    from .rules import Rule, Rules
    from .server import FakeLiveServer
    from .turn import Turn, TurnCancelled
    from .wire import Frame

_HOMES = {
    "FakeCall": "calls",
    "FakeClock": "clock",
    "FakeLiveServer": "server",
    "FakeSession": "live.session",
    "Faults": "faults",
    "Frame": "wire",
    "Limits": "live.limits",
    "Pretend": "pretend",
    "Recording": "recording",
    "RecordingProxy": "proxy",
    "Rule": "rules",
    "Rules": "rules",
    "Turn": "turn",
    "TurnCancelled": "turn",
    "User": "conversation",
}

__all__ = [
    "FakeCall",
    "FakeClock",
    "FakeLiveServer",
    "FakeSession",
    "Faults",
    "Frame",
    "Limits",
    "Pretend",
    "Recording",
    "RecordingProxy",
    "Rule",
    "Rules",
    "Turn",
    "TurnCancelled",
    "User",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
