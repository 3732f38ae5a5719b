"""Sessions as users see them: ``connect``, agents, the methods of an open session, stores for handles, logs of frames.

``connect`` checks its arguments and makes a ``Session``; ``startup`` puts its parts together when it is entered.
``running`` runs the machine of ``livetools.protocol``, ``handlers`` runs the tools, ``listening`` tells hooks and
observers. Here, and in the folders below, code awaits. This package exports what can be replaced (stores, transports,
dialers, clocks), and the transport for tests, which is loaded on first use: it lives in ``livetools.testing``.

In: a model, tools and options; then text, audio and video.
Out: events, and replies to ``ask``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from livetools.events import Usage
from livetools.protocol.transcript.transcript import Transcript
from livetools.session.running.clock import Clock, SystemClock
from livetools.transport.contract import Dialer, Transport

from .handle_store import FileHandleStore, HandleStore, MemoryHandleStore

if TYPE_CHECKING:
    from livetools.testing.memory import MemoryTransport

# The module in aliases/ is found in this package, under the name that programs outside import.
__path__.append(f"{__path__[0]}/aliases")

__all__ = [
    "Clock", "Dialer", "FileHandleStore", "HandleStore", "MemoryHandleStore", "MemoryTransport", "SystemClock",
    "Transcript", "Transport", "Usage",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name != "MemoryTransport":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from livetools.testing.memory import MemoryTransport  # no module of the session uses it

    return MemoryTransport


def __dir__() -> list[str]:
    return sorted(__all__)
