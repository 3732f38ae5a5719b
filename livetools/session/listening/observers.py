"""Hooks that follow a whole session (``on_session``): each is called with what is typed, with every event, and at the
end. One that raises is logged, and left out from then on: it must not cost the session anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from livetools.events import Event
from livetools.log import get_logger
from livetools.session.handlers.handlers import excuse
from livetools.tools import Hooks

if TYPE_CHECKING:
    from livetools.tools import SessionLike
    from livetools.tools.hooks import Observer

log = get_logger("livetools.session")


class Observers:
    """The observers of one session. Made before its handlers, which inherit the context variables that are set here."""

    def __init__(self, hooks: Iterable[Hooks], session: SessionLike) -> None:
        self._observers: list[Observer] = []
        for hook in hooks:
            begin = getattr(hook, "on_session", None)
            if begin is not None:
                self._call(hook, partial(self._begin, begin, session))

    def __bool__(self) -> bool:
        return bool(self._observers)

    def tap(self, event: Event) -> None:
        """An event is about to be handed out."""
        for observer in self._observers:  # of every event: no call and no copy more than it takes
            try:
                observer.event(event)
            except BaseException as error:
                self._dismiss(observer, error)

    def typed(self, text: str) -> None:
        """The user has sent a text."""
        for observer in self._observers:
            self._call(observer, partial(observer.typed, text))

    def ended(self, error: Exception | None) -> None:
        """The session is over; nothing more happens in it."""
        for observer in self._observers:
            self._call(observer, partial(observer.ended, error))

    def _begin(self, begin: Callable[[SessionLike], Observer | None], session: SessionLike) -> None:
        if (observer := begin(session)) is not None:
            self._observers.append(observer)

    def _call(self, whose: object, function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            self._dismiss(whose, error)

    def _dismiss(self, whose: object, error: BaseException) -> None:
        """Log what it raised, and tell it no more. The list is a new one, for the old may be under iteration."""
        excuse(log, type(whose).__name__, error)
        self._observers = [observer for observer in self._observers if observer is not whose]
