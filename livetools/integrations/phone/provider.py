"""What the providers of media streams say, and how: JSON texts, alike in kind and different in spelling."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from livetools.integrations.relay.secret import checked_secret
from livetools.log import get_logger

from .codec import CODECS, PCMU, Codec

log = get_logger("livetools.telephony")

Json: TypeAlias = Any  # whatever JSON can say

#: Characters of a frame; what is longer is not read. A frame of 20 ms of sound has about 400.
LONGEST = 1024 * 1024
#: Characters of an id that a provider gives.
MAX_ID = 256
#: What may be pressed on a phone.
KEYS = frozenset("0123456789*#ABCD")
#: Bridges of which the log says that anybody may call.
_open_to_all: set[str] = set()


class Refused(Exception):
    """The call is not taken: the websocket is closed with this code and reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Media:
    """Sound of the caller; ``number`` is its place in the stream, where told."""

    sound: bytes
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """The caller pressed ``digit``."""

    digit: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What was sent before the mark of this name has been played, or was cleared."""

    name: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The stream has ended: the caller hung up, or the call goes on elsewhere."""


Heard: TypeAlias = Media | Key | Mark | Stop


class Provider(Protocol):
    """One provider's side of a call."""

    @property
    def ordered(self) -> bool:
        """Whether sound comes in the order in which it was spoken."""

    def check(self, headers: Mapping[str, str]) -> None:
        """Look at the request that opened the websocket. Raises :class:`Refused`."""

    def greet(self, frame: Mapping[str, Json]) -> None:
        """Look at a frame that comes before ``start``. It is not kept."""

    def begin(self, frame: Mapping[str, Json]) -> Start:
        """The call that starts with this ``start`` frame. Raises :class:`Refused`."""


@dataclass(frozen=True, slots=True)
class Start:
    """A call that has started. ``frame`` is the start frame, with the fields of its ``start`` object beside it."""

    frame: Mapping[str, Json]
    id_field: str  # what the provider calls the stream's id
    id: str
    codec: Codec

    def media(self, sound: bytes) -> str:
        """Sound to be played behind what was sent before."""
        return self._frame("media", media={"payload": base64.b64encode(sound).decode("ascii")})

    def mark(self, name: str) -> str:
        """A mark, which comes back when what was sent before it has been played."""
        return self._frame("mark", mark={"name": name})

    def clear(self) -> str:
        """What was sent and not played is thrown away; its marks come back at once."""
        return self._frame("clear")

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, self.id_field: self.id, **more})


def read(text: str) -> Mapping[str, Json] | None:
    """A frame; ``None`` for what is not one."""
    if len(text) > LONGEST:
        return None
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) and isinstance(frame.get("event"), str) else None


def heard(frame: Mapping[str, Json]) -> Heard | None:
    """What a frame of a running call says; ``None`` where that is nothing for us (our own track, what is new)."""
    body = _object(frame, frame["event"])
    match frame["event"]:
        case "media" if str(body.get("track", "inbound")).startswith("inbound"):
            sound = _decoded(body.get("payload"))
            return Media(sound, _number(body.get("chunk"))) if sound else None
        case "dtmf" if isinstance(body.get("digit"), str) and body["digit"] in KEYS:
            return Key(body["digit"])
        case "mark" if isinstance(body.get("name"), str):
            return Mark(body["name"])
        case "stop":
            return Stop()
    return None


class Twilio:
    """Twilio's Media Streams: ids in camelCase, µ-law, a signature over the URL that was dialled."""

    ordered = True

    def __init__(self, auth_token: str | None, url: str) -> None:
        self._auth_token, self._url = _token(auth_token, "twilio"), url

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`."""
        if self._auth_token is None:
            return
        given = headers.get("x-twilio-signature", "")
        if not any(_same(given, _signature(self._auth_token, url)) for url in _spellings(self._url)):
            raise Refused(1008, "the signature is not Twilio's: see auth_token and url")

    def greet(self, frame: Mapping[str, Json]) -> None:
        """See :class:`Provider`."""

    def begin(self, frame: Mapping[str, Json]) -> Start:
        """See :class:`Provider`."""
        body = _object(frame, "start")
        whole = {**body, **frame}
        codec = _codec(_object(body, "mediaFormat").get("encoding"))
        return Start(whole, "streamSid", _ids(whole, "streamSid", "callSid"), codec)


class Telnyx:
    """Telnyx' media streaming: ids in snake_case, the codec of the call, sound that may come out of order.

    Its ``stream_auth_token`` comes in a header of the request or in the ``connected`` frame.
    """

    ordered = False

    def __init__(self, auth_token: str | None) -> None:
        self._auth_token = _token(auth_token, "telnyx")
        self._shown = auth_token is None

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`. A header that is wrong may be another's; the frame decides then."""
        for name in ("authorization", "x-telnyx-auth-token", "telnyx-auth-token", "stream-auth-token"):
            self._show(headers.get(name, ""))

    def greet(self, frame: Mapping[str, Json]) -> None:
        """See :class:`Provider`."""
        if frame["event"] == "connected":
            for token in _tokens(frame):
                self._show(token)

    def begin(self, frame: Mapping[str, Json]) -> Start:
        """See :class:`Provider`."""
        if not self._shown:
            raise Refused(1008, "the token is not the one expected: see auth_token")
        body = _object(frame, "start")
        whole = {**body, **frame}
        codec = _codec(_object(body, "media_format").get("encoding"))
        return Start(whole, "stream_id", _ids(whole, "stream_id", "call_control_id"), codec)

    def _show(self, token: str) -> None:
        bare = token.removeprefix("Bearer ").strip()
        self._shown = self._shown or (self._auth_token is not None and _same(bare, self._auth_token))


def _token(value: str | None, bridge: str) -> str | None:
    """The token that a call must show. That there is none is logged once."""
    if value is None and bridge not in _open_to_all:
        _open_to_all.add(bridge)
        log.warning("%s(auth_token=None): whoever finds the address of this websocket may call", bridge)
    return checked_secret(value, "auth_token")


def _codec(encoding: object) -> Codec:
    if encoding is None:
        return PCMU
    codec = CODECS.get(encoding) if isinstance(encoding, str) else None
    if codec is None:
        raise Refused(1003, f"the sound is {encoding!a:.40}; ask the provider for PCMU or PCMA")
    return codec


def _ids(frame: Mapping[str, Json], stream: str, call: str) -> str:
    """The id of the stream. Raises :class:`Refused` where it, or the id of the call, is missing or no short text."""
    for name in (stream, call):
        value = frame.get(name)
        if not (isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable()):
            raise Refused(
                1002, f"the start frame has no {name}: a text of at most {MAX_ID} characters is expected"
            )
    return str(frame[stream])


def _tokens(connected: Mapping[str, Json], depth: int = 1) -> Iterable[str]:
    """Whatever the ``connected`` frame calls a token, at its top or one level down."""
    for name, value in connected.items():
        if isinstance(value, Mapping) and depth:
            yield from _tokens(value, depth - 1)
        elif isinstance(value, str) and ("token" in name.lower() or name.lower() == "authorization"):
            yield value


def _signature(auth_token: str, url: str) -> str:
    digest = hmac.new(auth_token.encode(), url.encode(), "sha1").digest()
    return base64.b64encode(digest).decode("ascii")


def _spellings(url: str) -> Iterable[str]:
    """The URL as it is, and as Twilio may have written it: with a slash at its end or without, with its port or not."""
    try:
        parts = urlsplit(url)
        given = parts.port
    except ValueError:  # the Host header of a stranger
        return
    port = {"wss": 443, "https": 443}.get(parts.scheme, 80)
    hosts = {parts.netloc, f"{parts.hostname}", f"{parts.hostname}:{given or port}"}
    if given not in (None, port):
        hosts = {parts.netloc}
    for host in hosts:
        for path in {parts.path, parts.path.rstrip("/"), parts.path.rstrip("/") + "/"}:
            yield parts._replace(netloc=host, path=path).geturl()


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogatepass"), right.encode())


def _object(frame: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = frame.get(name)
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _decoded(payload: object) -> bytes:
    try:
        return base64.b64decode(payload, validate=True) if isinstance(payload, str) else b""
    except (binascii.Error, ValueError):
        return b""
