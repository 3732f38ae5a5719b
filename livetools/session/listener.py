"""The protocol of a listener to a whole conversation. See :func:`livetools.session.tap.listen`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from livetools.protocol.events import Event


@dataclass(slots=True, eq=False)
class Listener:
    """What is called when something is heard. None of it may raise or wait: it lies on the path of every event."""

    event: Callable[[Event], None]
    sound: Callable[[bytes, int], None]  # what the user says: 16-bit mono PCM, and its rate in Hz
    end: Callable[[], None]  # the session is over
