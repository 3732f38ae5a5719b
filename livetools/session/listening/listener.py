"""A listener to a whole conversation. See :func:`livetools.session.listening.tap.listen`."""

from __future__ import annotations

from collections.abc import Callable

from livetools.events import Event
from livetools.log import get_logger
from livetools.session.handlers.handlers import excuse

log = get_logger("livetools.session")


class Listener:
    """Calls somebody's functions when something is heard. They must not wait: they lie on the path of every event.

    Where one raises it is logged, and from then on only ``end`` is called: it costs the session nothing.
    """

    def __init__(
        self, event: Callable[[Event], None], sound: Callable[[bytes, int], None], end: Callable[[], None]
    ) -> None:
        self._event, self._sound, self._end = event, sound, end
        self._failed = False

    def event(self, event: Event) -> None:
        """Something has happened; the user is told next."""
        if not self._failed:
            try:
                self._event(event)
            except BaseException as error:
                self._fail("event", error)

    def sound(self, pcm: bytes, rate: int) -> None:
        """The user says this: 16-bit mono PCM, and its rate in Hz."""
        if not self._failed:
            try:
                self._sound(pcm, rate)
            except BaseException as error:
                self._fail("sound", error)

    def end(self) -> None:
        """The session is over."""
        try:
            self._end()
        except BaseException as error:
            self._fail("end", error)

    def _fail(self, what: str, error: BaseException) -> None:
        self._failed = True
        excuse(log, f"a listener's {what}()", error)
