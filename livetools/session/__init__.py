"""Sessions as users see them: ``connect``, agents, the methods of an open session, stores for handles, logs of frames.

``connect`` checks its arguments and makes a ``Session``; ``startup`` puts its parts together when it is entered.
``running`` runs the machine of ``livetools.protocol``, ``handlers`` runs the tools, ``listening`` tells hooks and
observers. Here, and in the folders below, code awaits. This package exports what can be replaced (stores, transports,
dialers, clocks); names are loaded on first use, so that the transport for tests may live in ``livetools.testing``.

In: a model, tools and options; then text, audio and video.
Out: events, and replies to ``ask``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from livetools.events import Usage
    from livetools.protocol.transcript.transcript import Transcript
    from livetools.session.running.clock import Clock, SystemClock
    from livetools.testing.memory import MemoryTransport  # only shown here: no module of the session uses it
    from livetools.transport.contract import Dialer, Transport

    from .handle_store import FileHandleStore, HandleStore, MemoryHandleStore

# The module in aliases/ is found in this package, under the name that programs outside import.
__path__.append(f"{__path__[0]}/aliases")

_HOMES = {
    "Clock": "livetools.session.running.clock",
    "Dialer": "livetools.transport.contract",
    "FileHandleStore": "livetools.session.handle_store",
    "HandleStore": "livetools.session.handle_store",
    "MemoryHandleStore": "livetools.session.handle_store",
    "MemoryTransport": "livetools.testing.memory",
    "SystemClock": "livetools.session.running.clock",
    "Transcript": "livetools.protocol.transcript.transcript",
    "Transport": "livetools.transport.contract",
    "Usage": "livetools.events",
}

__all__ = [
    "Clock", "Dialer", "FileHandleStore", "HandleStore", "MemoryHandleStore", "MemoryTransport", "SystemClock",
    "Transcript", "Transport", "Usage",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
