"""The limits of the relay: what a page may send, what is kept for it, how long it may take."""

from __future__ import annotations

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
