"""The listeners of a session: they hear events, the user's sound and texts, and the end; other ones hear its frames.

They are on the path of every event and every frame, and must not wait. A listener that raises is logged and not called
again, so it costs the session nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Close
from livetools.session.frame_log import Direction, FrameListener
from livetools.session.handlers.user_code import excuse
from livetools.tools import Hooks, SessionLike

log = get_logger("livetools.session")

HEARD = ("event", "typed", "ended", "user_sound")  # the methods of a listener


class Guarded:
    """One listener, an object with some of the methods that are called. Once one of them has raised, which is logged
    under ``name``, it hears nothing more."""

    __slots__ = ("_failed", "_name", "listener")

    def __init__(self, name: str, listener: object) -> None:
        self._name, self.listener, self._failed = name, listener, False

    def tell(self, what: str, *args: object) -> object:
        """What its method returns; ``None`` where it raises, has raised before, or has no such method."""
        hear = getattr(self.listener, what, None)
        if hear is not None and not self._failed:
            try:
                return hear(*args)
            except BaseException as error:
                # Before ``excuse``, which raises what is not the user's.
                self._failed = True
                excuse(log, self._name, error)
        return None


class FrameTaps:
    """Tells these listeners of the frames of a session, each until it raises. Made only where there are some."""

    def __init__(self, listeners: Iterable[object]) -> None:
        self._all = [Guarded(f"the frame listener {type(each).__name__}", each) for each in listeners]
        self._opened = 0
        self._numbers: dict[int, int] = {}  # by the machine's number of a connection that is open

    def opened(self, link: int) -> None:
        """A connection is open: listeners count those only."""
        self._opened += 1
        self._numbers[link] = self._opened

    def frame(self, direction: Direction, link: int, data: bytes) -> None:
        """A message is about to be sent, or has come."""
        for each in self._all:
            each.tell("frame", direction, self._numbers.get(link, 0), data)

    def closed(self, link: int, close: Close) -> None:
        """A connection has ended. One that was never open is not reported, nor one that was reported before."""
        if (number := self._numbers.pop(link, 0)) and close.error is None:
            for each in self._all:
                each.tell("closed", number, close.code, close.reason, close.by_us)


class Listeners:
    """All listeners of one session: objects with some of the methods ``event(event)``, ``user_sound(pcm, rate)`` with
    16-bit mono PCM and its rate in Hz, ``typed(text)``, and ``ended(error)``, after which nothing more happens.

    Adding and removing take effect with the next event. ``taps`` hear the frames of the session that will be opened.
    """

    def __init__(self) -> None:
        self.taps: tuple[FrameListener, ...] = ()
        self.all: tuple[Guarded, ...] = ()  # who hears: read-only from outside

    def add(self, listener: object, name: str) -> None:
        """From now on it hears everything. ``name``: in the log."""
        # Another tuple, so that a listener can add or remove one while all are called.
        self.all = (*self.all, Guarded(name, listener))

    def remove(self, listener: object) -> None:
        """It hears nothing more. Nothing happens where it is not in the list."""
        self.all = tuple(each for each in self.all if each.listener is not listener)

    def observe(self, hooks: Iterable[Hooks], session: SessionLike) -> None:
        """Add what ``on_session`` of each hook returns. Called before the handlers are made, which inherit the context
        variables that a hook sets here."""
        for hook in hooks:
            name = type(hook).__name__
            if (observer := Guarded(name, hook).tell("on_session", session)) is not None:
                self.add(observer, name)
                if not any(callable(getattr(observer, each, None)) for each in HEARD):
                    log.warning(
                        "%s.on_session returned what hears nothing: it has no %s", name, ", ".join(HEARD)
                    )

    def tell(self, what: str, *args: object) -> None:
        """Call this method of each listener that has it."""
        for each in self.all:
            each.tell(what, *args)
