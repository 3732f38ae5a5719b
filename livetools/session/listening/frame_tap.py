"""Follow a session from outside: its frames, its events, and how long the model has been waited for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from livetools.events import Event
from livetools.session.frame_log import FrameListener
from livetools.session.session import Session


def tap(session: Session, listener: FrameListener) -> Session:
    """Call ``listener`` for every frame of ``session``, which is returned. Call it before the session is entered.

    Frames hold the arguments, the results and the media of the conversation, and session handles; no keys.
    """
    session._assembly.listeners.taps += (listener,)
    return session


def listen(
    session: Session,
    event: Callable[[Event], None],
    sound: Callable[[bytes, int], None] = lambda pcm, rate: None,
    end: Callable[[], None] = lambda: None,
) -> Callable[[], None]:
    """Add a listener to ``session``, open or not yet. It hears everything, beside the iterator. Returns what stops
    it.

    None of these methods may block. Where one raises it is logged, and from then on only ``end`` is called.
    """
    # Two, so that the end is heard even where an event has failed: what was recorded is finished.
    hears = SimpleNamespace(event=event, user_sound=sound)
    ends = SimpleNamespace(ended=lambda error: end())
    listeners = session._assembly.listeners
    listeners.add(hears, "a listener")
    listeners.add(ends, "the end of a listener")

    def stop() -> None:
        listeners.remove(hears)
        listeners.remove(ends)

    return stop


def awaited_for(session: Session) -> float | None:
    """For how many seconds the model has been waited for: since the user ended to say what it answers now, or is still
    to answer. ``None``: nobody has spoken, or the session is not open."""
    driver = session._driver
    since = None if driver is None else driver.machine.awaited_since
    return None if driver is None or since is None else driver.clock.now() - since
