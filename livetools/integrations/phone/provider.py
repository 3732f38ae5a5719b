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

from .codec import CODECS, PCMU, Codec

Json: TypeAlias = Any  # whatever JSON can say

#: Characters of a frame; what is longer is not read. A frame of 20 ms of sound has about 400.
LONGEST = 1024 * 1024


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

    def begin(self, frames: Mapping[str, Mapping[str, Json]]) -> Start:
        """The call that starts, from the frames up to ``start``, by their names. Raises :class:`Refused`."""


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
        case "dtmf" if isinstance(body.get("digit"), str) and body["digit"]:
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
        self._auth_token, self._url = auth_token, url

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`."""
        if self._auth_token is None:
            return
        given = headers.get("x-twilio-signature", "")
        if not any(_same(given, _signature(self._auth_token, url)) for url in _spellings(self._url)):
            raise Refused(1008, "the signature is not Twilio's: see auth_token and url")

    def begin(self, frames: Mapping[str, Mapping[str, Json]]) -> Start:
        """See :class:`Provider`."""
        frame = frames["start"]
        body = _object(frame, "start")
        codec = _codec(_object(body, "mediaFormat").get("encoding"))
        return Start({**body, **frame}, "streamSid", _id(frame, body, "streamSid"), codec)


class Telnyx:
    """Telnyx' media streaming: ids in snake_case, the codec of the call, sound that may come out of order.

    Its ``stream_auth_token`` comes in a header of the request or in the ``connected`` frame.
    """

    ordered = False

    def __init__(self, auth_token: str | None) -> None:
        self._auth_token = auth_token
        self._shown = auth_token is None

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`. A header that is wrong may be another's; the frame decides then."""
        for name in ("authorization", "x-telnyx-auth-token", "telnyx-auth-token", "stream-auth-token"):
            self._show(headers.get(name, ""))

    def begin(self, frames: Mapping[str, Mapping[str, Json]]) -> Start:
        """See :class:`Provider`."""
        for token in _tokens(frames.get("connected", {})):
            self._show(token)
        if not self._shown:
            raise Refused(1008, "the token is not the one expected: see auth_token")
        frame = frames["start"]
        body = _object(frame, "start")
        codec = _codec(_object(body, "media_format").get("encoding"))
        return Start({**body, **frame}, "stream_id", _id(frame, body, "stream_id"), codec)

    def _show(self, token: str) -> None:
        bare = token.removeprefix("Bearer ").strip()
        self._shown = self._shown or (self._auth_token is not None and _same(bare, self._auth_token))


def _codec(encoding: object) -> Codec:
    if encoding is None:
        return PCMU
    codec = CODECS.get(str(encoding))
    if codec is None:
        raise Refused(1003, f"the sound is {encoding!s:.40}; ask the provider for PCMU or PCMA")
    return codec


def _id(frame: Mapping[str, Json], body: Mapping[str, Json], name: str) -> str:
    return str(frame.get(name) or body.get(name) or "")


def _tokens(connected: Mapping[str, Json]) -> Iterable[str]:
    """Whatever the ``connected`` frame calls a token, at its top or one level down."""
    for name, value in connected.items():
        if isinstance(value, Mapping):
            yield from _tokens(value)
        elif isinstance(value, str) and ("token" in name.lower() or name.lower() == "authorization"):
            yield value


def _signature(auth_token: str, url: str) -> str:
    digest = hmac.new(auth_token.encode(), url.encode(), "sha1").digest()
    return base64.b64encode(digest).decode("ascii")


def _spellings(url: str) -> Iterable[str]:
    """The URL as it is, and as Twilio may have written it: with a slash at its end or without, with its port or not."""
    parts = urlsplit(url)
    port = {"wss": 443, "https": 443}.get(parts.scheme, 80)
    hosts = {parts.netloc, f"{parts.hostname}", f"{parts.hostname}:{parts.port or port}"}
    if parts.port not in (None, port):
        hosts = {parts.netloc}
    for host in hosts:
        for path in {parts.path, parts.path.rstrip("/"), parts.path.rstrip("/") + "/"}:
            yield parts._replace(netloc=host, path=path).geturl()


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())


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
