"""What the machine asks of the shell, and what the shell tells of a handler.

The machine decides, the shell performs: it dials, hangs up, starts and stops handlers, and reports each outcome
with ``Machine.settled``. Every ``Start`` is followed by exactly one ``settled`` with its id, however the handler ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .events import Call


@dataclass(frozen=True, slots=True)
class Dial:
    """Open a socket (TCP, TLS, upgrade), then ``opened(link)``; a failure is ``disconnected(link, close)``."""

    link: int


@dataclass(frozen=True, slots=True)
class Hangup:
    """Close this socket (or give up its dial); its end is reported as ``disconnected(link, close)``."""

    link: int


@dataclass(frozen=True, slots=True)
class Start:
    """Run the handler of this call."""

    call: Call


@dataclass(frozen=True, slots=True)
class Consult:
    """Ask the tool's ``approval`` callable; answer with ``approve``, ``refuse`` or ``ask`` (a person must decide)."""

    call: Call


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the handler of this call, if it runs: cancel it, or set ``context.cancelled`` in a thread."""

    call: Call


@dataclass(frozen=True, slots=True)
class Undo:
    """Run the tool's ``undo(call, result)``, once. ``result`` is what the handler returned, or ``None``."""

    call: Call
    result: object


@dataclass(frozen=True, slots=True)
class End:
    """The session is over: cleanly (``None``), or for this reason."""

    error: Exception | None


Action: TypeAlias = Dial | Hangup | Start | Consult | Stop | Undo | End


@dataclass(slots=True)
class Outcome:
    """How a handler ended.

    ``response`` is the JSON object that the model gets (already under its key); ``error`` is what was raised;
    ``result`` what the handler returned, for ``undo``.
    """

    response: Mapping[str, Any]
    error: Exception | None = None
    scheduling: str | None = None
    ends_session: bool = False
    parts: tuple[Mapping[str, Any], ...] = ()
    result: object = None


@dataclass(frozen=True, slots=True)
class Close:
    """How a socket ended: ``code`` 1006 for a line that broke; ``by_us`` when we hung up.

    ``error`` is set when there never was a websocket (refused, TLS, an HTTP status): it says so in words.
    """

    code: int = 1006
    reason: str = ""
    by_us: bool = False
    error: Exception | None = field(default=None, compare=False)
