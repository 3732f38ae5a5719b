"""What a provider of phone calls is: who reads and writes the messages of one call's websocket.

A message that comes says one of five things (:class:`Start`, :class:`Media`, :class:`Key`, :class:`Mark`,
:class:`Stop`), or nothing for us. Four things go out: sound, a mark behind it, keys, and that what waits is to be
dropped. A provider translates between these and its own messages; the bridge checks all that it says of a stranger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from traceback import extract_tb
from typing import Any, ClassVar, TypeAlias

from livetools.errors import ConfigError
from livetools.log import get_logger
from livetools.protocol.messages.lenient_json import Json
from livetools.tools.definition.callbacks import misspelt

log = get_logger("livetools.telephony")

#: One message of the provider's websocket: its text, or its bytes.
RawMessage: TypeAlias = str | bytes

#: The start frame of a call, with the fields of its ``start`` object beside it.
StartFrame: TypeAlias = Mapping[str, Any]

#: Characters or bytes of a message; what is longer is not read. A frame of 20 ms of sound has about 400.
MAX_PROVIDER_MESSAGE = 1024 * 1024
#: Characters of an id that a provider gives.
MAX_ID = 256
#: What may be pressed on a phone.
_KEYS = frozenset("0123456789*#ABCD")


class CallRefused(Exception):
    """The call is not taken: the websocket is closed with this code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Start:
    """The call has started. ``frame``: what the provider says of it, which ``deps``, ``stores`` and ``Ended`` get;
    ``id``: the stream's id, a printable text of at most 256 characters.

    ::

        print(Start({"callId": "c1", "from": "+4722225555"}, "s1").frame["from"])
    """

    frame: Mapping[str, Json]
    id: str


@dataclass(frozen=True, slots=True)
class Media:
    """Sound of the caller, in the provider's ``encoding``. ``number`` is its place in the stream, for providers whose
    messages may come out of order: they are put in order by it.

    ::

        print(len(Media(bytes(160)).sound))
    """

    sound: bytes
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """The caller pressed ``digit``, one of ``0-9*#A-D``; anything else is ignored.

    ::

        print(Key("#").digit)
    """

    digit: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What was sent before the mark of this name has been played, or was cleared.

    ::

        print(Mark("livetools-1").name)
    """

    name: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The stream has ended: the caller hung up, or the call continues elsewhere. That the websocket was closed says the
    same.

    ::

        print(Stop())
    """


CallMessage: TypeAlias = Start | Media | Key | Mark | Stop


class Provider:
    """The messages of a provider of phone calls: derive from it, and pass :func:`serve` a new object for each call.

    ``encoding``: of the sound, both ways: ``"PCMU"`` or ``"PCMA"`` (G.711, the µ-law or the A-law, at 8000 Hz), or
    ``"L16"`` (16-bit little-endian PCM, mono). ``rate``: in Hz; of L16 8000, 16000 or 24000. ``read`` may set both on
    the object when the call starts. ``chunk``: seconds of sound in each message that goes out, for providers that take
    one length only; ``None``: from 20 ms to 10 s.

    ::

        import base64, json

        class Plain(Provider):
            encoding, rate = "L16", 16000

            def read(self, message: str | bytes) -> Start | Media | Stop | None:
                if isinstance(message, bytes):
                    return Media(message)
                frame = json.loads(message)
                return Start(frame, frame["id"]) if frame["type"] == "hello" else None

            def media(self, sound: bytes) -> bytes:
                return sound

        print(Plain().read('{"type": "hello", "id": "c1"}'))
    """

    encoding: str = "PCMU"
    rate: int = 8000
    chunk: ClassVar[float | None] = None

    def check(self, headers: Mapping[str, str]) -> None:
        """Look at the headers of the request that opened the websocket. Names are found in any case.

        Raises ``PermissionError`` to refuse the call: the websocket is closed with 1008. So may :meth:`read` until it
        has given a :class:`Start`.
        """

    def read(self, message: RawMessage) -> CallMessage | None:
        """What one message says; ``None``: nothing for us.

        A message that makes it raise is dropped, and the kind of the error is logged once for each call: whatever a
        stranger sends cannot end it.
        """
        raise NotImplementedError

    def media(self, sound: bytes) -> RawMessage | None:
        """The message that plays ``sound``, in whole samples of ``encoding``, behind what was sent before."""
        raise NotImplementedError

    def mark(self, name: str) -> RawMessage | None:
        """The message after which the provider says, when all that was sent before has been played (:class:`Mark`).

        ``None``, as it is here: the provider has none. What was heard is then reckoned by the clock.
        """

    def keys(self, keys: str) -> RawMessage | None:
        """The message that presses ``keys``, of ``0-9*#A-D`` and ``w`` (half a second of pause), at the other end.

        ``None``, as it is here: the provider has none. Their tones (DTMF) are then played as sound.
        """

    def clear(self) -> RawMessage | None:
        """The message that drops what was sent and not played. ``None``, as it is here: the provider plays it all."""


class ProviderReader:
    """Reads the messages of one call through its provider, and checks what the provider makes of them."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._started = False
        self._told = False

    def read(self, message: RawMessage) -> CallMessage | None:
        """What it says; ``None`` for nothing, and for what cannot be. A second start says nothing.

        Raises, before the start, :class:`CallRefused` and ``PermissionError``.
        """
        if len(message) > MAX_PROVIDER_MESSAGE:
            return None
        try:
            return self._checked(self._provider.read(message))
        except Exception as error:  # by a stranger's message: it must not end the call
            if isinstance(error, CallRefused | PermissionError) and not self._started:
                raise
            self._tell(error)
        return None

    def _checked(self, said: object) -> CallMessage | None:
        match said:
            case Start(Mapping(), name) if not self._started:
                checked_id(name, "stream id")
                self._started = True
                return said
            case Media(sound) if sound:
                return Media(bytes(memoryview(sound)), said.number)
            case Key(digit) if digit in _KEYS:
                return said
            case Mark(str()) | Stop():
                return said
        return None

    def _tell(self, error: Exception) -> None:
        """Log the place and the class of an error, once. Its text may hold what a stranger wrote."""
        if not self._told:
            self._told = True
            at = extract_tb(error.__traceback__)[-1]
            log.warning(
                "%s.read raised %s (%s:%s); the message was dropped. Logged once for each call",
                type(self._provider).__name__, type(error).__name__, at.filename, at.lineno,
            )  # fmt: skip


def checked_provider(provider: object) -> None:
    """Raises ``ConfigError`` for anything but a provider object that serves no other call, and for one with a misspelt
    method: a ``check`` that is never called would let everybody in."""
    if not isinstance(provider, Provider):
        made = (
            f": pass {provider.__name__}(), a new object for each call" if isinstance(provider, type) else ""
        )
        raise ConfigError(f"provider is a {type(provider).__name__}, expected a Provider{made}")
    if meant := misspelt(provider, Provider, _METHODS):
        raise ConfigError(
            f"provider: {type(provider).__name__}.{meant} Nothing calls it under this name; the name of a helper "
            "begins with _"
        )


_METHODS = [name for name, value in vars(Provider).items() if not name.startswith("_") and callable(value)]


def checked_id(value: object, name: str) -> str:
    """The id. Raises :class:`CallRefused` where it is missing, or no short text."""
    if not (isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable()):
        raise CallRefused(
            1002, f"the start frame has no {name}: a text of at most {MAX_ID} characters is expected"
        )
    return value
