"""The limits of the relay: what a page may send, what is kept for it, how long it may take. And checks of options."""

from __future__ import annotations

from livetools.errors import ConfigError

#: Sessions that a relay keeps at once, lingering ones too, and those of one caller.
MAX_SESSIONS, MAX_PER_CALLER = 100, 4
#: Bytes that one binary message may have: 32 seconds of sound.
MAX_AUDIO = 2**20
#: Characters that one JSON message may have: a picture of a video fits.
MAX_MESSAGE = 4 * 2**20
#: Characters that a typed text may have.
MAX_TEXT = 2**16
#: Characters that the name of a typed text may have.
MAX_REF = 64
#: Bytes of an event, past which its largest values are left out.
MAX_EVENT = 2**18
#: Texts that may wait for the connection to the model. A page that sends more gets an error.
MAX_TEXTS = 16
#: Seconds of sound that may come ahead of their time: a page sends what is spoken, and each second costs.
MAX_AHEAD = 60.0
#: Bytes of one picture.
MAX_PICTURE = 2 * 2**20
#: Characters of events that are kept for a page that comes back.
MAX_EVENTS = 2**20
#: Bytes of media that wait for a page: three minutes of speech.
MAX_MEDIA = 8 * 2**20
#: Seconds that a page has to read what is written to it; after them it counts as gone.
WRITE_TIMEOUT = 20.0
#: Seconds that a page has to send its ``resume``.
RESUME_TIMEOUT = 10.0
#: Refusals that wait to be written to a page; beyond, reading from it pauses.
MAX_NOTICES = 16
#: Seconds without anything to write after which a page is sent an ``alive``.
HEARTBEAT = 5.0
#: Bytes that the reason of a close frame may have (RFC 6455 5.5).
MAX_REASON = 123


def close_reason(text: str) -> str:
    """The text as the reason of a close frame: one line, cut where it is too long."""
    return " ".join(text.split()).encode(errors="replace")[:MAX_REASON].decode(errors="ignore")


def checked_seconds(value: object, name: str, *, zero: bool = False) -> None:
    """Raise ``ConfigError`` unless this is ``None`` or a number of seconds above 0. ``zero``: 0 is one, too."""
    if value is None:
        return
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (value > 0 or (zero and value == 0))
    ):
        from_ = "from 0" if zero else "above 0"
        raise ConfigError(f"{name}={value!r:.40}: expected a number of seconds {from_}")


def checked_text(value: object, name: str) -> None:
    """Raise ``ConfigError`` unless this is ``None`` or a text."""
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{name}={value!r:.40}: expected a text")


def checked_function(value: object, name: str) -> None:
    """Raise ``ConfigError`` unless this is ``None`` or can be called."""
    if value is not None and not callable(value):
        raise ConfigError(f"{name}={value!r:.40}: expected a function")
