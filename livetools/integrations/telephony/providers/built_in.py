"""The providers that are built in: Twilio, Telnyx and Plivo, alike in kind and different in spelling."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlsplit

from livetools.errors import ConfigError
from livetools.integrations.shared.option_checks import checked_secret
from livetools.integrations.telephony.sound.codec import codec_of, swapped
from livetools.log import get_logger
from livetools.protocol.messages.lenient_json import Json

from .provider import (
    CallMessage,
    CallRefused,
    Key,
    Mark,
    Media,
    Provider,
    RawMessage,
    Start,
    Stop,
    checked_id,
)

log = get_logger("livetools.telephony")

#: The encodings of Twilio and Plivo, which are MIME types.
_MIME = {"audio/x-mulaw": "PCMU", "audio/x-alaw": "PCMA", "audio/x-l16": "L16"}
#: Headers in which Telnyx shows the token of a stream; the first is the documented one
#: (developers.telnyx.com/api-reference/websockets, read on 2026-11-29).
_TELNYX_TOKENS = (
    "x-telnyx-streaming-auth-token",
    "authorization",
    "x-telnyx-auth-token",
    "telnyx-auth-token",
    "stream-auth-token",
)
#: Bridges of which the log says that anybody may call.
_open_to_all: set[str] = set()


class Events(Provider):
    """What the three have in common: JSON texts with an ``event``, whose body is the object of that name."""

    def __init__(self) -> None:
        self.stream = ""  # its id, once the call has started

    def read(self, message: RawMessage) -> CallMessage | None:
        """See :class:`Provider`."""
        if isinstance(message, bytes):
            return None
        frame = _parsed(message)
        if frame is None:
            return None
        body = _object(frame, frame["event"])
        match frame["event"]:
            case "start":
                start = self.begin(frame, {**body, **frame})
                self.stream = start.id
                return start
            case "media" if str(body.get("track", "inbound")).startswith("inbound"):
                sound = _decoded(body.get("payload"))
                return Media(sound, self.place(body)) if sound else None
            case "dtmf" if isinstance(body.get("digit"), str):
                return Key(body["digit"])
            case "stop":
                return Stop()
        return self.other(frame, body)

    def begin(self, frame: Mapping[str, Json], whole: Mapping[str, Json]) -> Start:
        """The call that starts with this frame, which ``whole`` has with its body's fields beside it."""
        raise NotImplementedError

    def place(self, body: Mapping[str, Json]) -> int | None:
        """The place of a piece of sound in the stream, where sound may come out of order."""
        return None

    def other(self, frame: Mapping[str, Json], body: Mapping[str, Json]) -> CallMessage | None:
        """What a frame says that not all have."""
        name = body.get("name") if frame["event"] == "mark" else None
        return Mark(name) if isinstance(name, str) else None

    def agree(self, media_format: Mapping[str, Json], rate: str) -> None:
        """Use the encoding and the rate that the start frame names, if it does. Raises :class:`CallRefused`."""
        named, hertz = media_format.get("encoding", self.encoding), media_format.get(rate, self.rate)
        if isinstance(named, str):
            named = _MIME.get(named.partition(";")[0], named)
        try:
            self.encoding = codec_of(named, _number(hertz)).name
        except ConfigError as error:
            raise CallRefused(1003, str(error)) from None
        self.rate = int(hertz)
        channels = media_format.get("channels")
        if channels is not None and _number(channels) != 1:
            raise CallRefused(1003, f"the sound has {channels!r:.20} channels; expected 1")


class Twilio(Events):
    """Twilio's Media Streams: ids in camelCase, a signature over the URL that was dialled."""

    def __init__(self, auth_token: str | None = None, url: str = "") -> None:
        super().__init__()
        self._auth_token, self._url = _token(auth_token, "twilio"), url

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`."""
        if self._auth_token is None:
            return
        given = headers.get("x-twilio-signature", "")
        if not any(_same(given, _signed(self._auth_token, url, "sha1")) for url in _spellings(self._url)):
            raise CallRefused(1008, "the signature is not Twilio's: see auth_token and url")

    def begin(self, frame: Mapping[str, Json], whole: Mapping[str, Json]) -> Start:
        """See :class:`Events`."""
        stream = _ids(whole, "streamSid", "callSid")
        self.agree(_object(whole, "mediaFormat"), "sampleRate")
        return Start(whole, stream)

    def media(self, sound: bytes) -> str:
        """See :class:`Provider`."""
        return self._frame("media", media={"payload": _encoded(sound)})

    def mark(self, name: str) -> str:
        """See :class:`Provider`."""
        return self._frame("mark", mark={"name": name})

    def clear(self) -> str:
        """See :class:`Provider`. The marks of what is dropped come back at once."""
        return self._frame("clear")

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, "streamSid": self.stream, **more})


class Telnyx(Events):
    """Telnyx' media streaming: ids in snake_case, the codec of the call, sound that may come out of order.

    Its ``stream_auth_token`` comes in a header of the request or in the ``connected`` frame. ``big_endian``: the
    samples of its L16 are in network byte order.
    """

    def __init__(self, auth_token: str | None = None, big_endian: bool = False) -> None:
        super().__init__()
        self._big_endian = big_endian
        self._auth_token = _token(auth_token, "telnyx")
        self._shown = auth_token is None

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`. A header that is wrong may be another's; the frame decides then."""
        for name in _TELNYX_TOKENS:
            self._show(headers.get(name, ""))

    def begin(self, frame: Mapping[str, Json], whole: Mapping[str, Json]) -> Start:
        """See :class:`Events`."""
        if not self._shown:
            raise CallRefused(1008, "the token is not the one expected: see auth_token")
        stream = _ids(whole, "stream_id", "call_control_id")
        self.agree(_object(whole, "media_format"), "sample_rate")
        return Start(whole, stream)

    def read(self, message: RawMessage) -> CallMessage | None:
        """See :class:`Provider`."""
        said = super().read(message)
        return Media(self._ordered(said.sound), said.number) if isinstance(said, Media) else said

    def place(self, body: Mapping[str, Json]) -> int | None:
        """See :class:`Events`."""
        return _number(body.get("chunk"))

    def other(self, frame: Mapping[str, Json], body: Mapping[str, Json]) -> CallMessage | None:
        """See :class:`Events`."""
        if frame["event"] == "connected":
            for token in _tokens(frame):
                self._show(token)
        return super().other(frame, body)

    def media(self, sound: bytes) -> str:
        """See :class:`Provider`."""
        return self._frame("media", media={"payload": _encoded(self._ordered(sound))})

    def mark(self, name: str) -> str:
        """See :class:`Provider`."""
        return self._frame("mark", mark={"name": name})

    def clear(self) -> str:
        """See :class:`Provider`."""
        return self._frame("clear")

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, "stream_id": self.stream, **more})

    def _ordered(self, sound: bytes) -> bytes:
        return swapped(sound) if self._big_endian and self.encoding == "L16" else sound

    def _show(self, token: str) -> None:
        bare = token.removeprefix("Bearer ").strip()
        self._shown = self._shown or (self._auth_token is not None and _same(bare, self._auth_token))


class Plivo(Events):
    """Plivo's audio streams: the codec that the ``<Stream>`` asked for, checkpoints in the place of marks, a signature
    over the URL that was dialled (V3: https://www.plivo.com/docs/voice/concepts/signature-validation)."""

    def __init__(self, auth_token: str | None = None, url: str = "") -> None:
        super().__init__()
        self._auth_token, self._url = _token(auth_token, "plivo"), url

    def check(self, headers: Mapping[str, str]) -> None:
        """See :class:`Provider`. Of an account with subaccounts both may sign, in the header of its own."""
        if self._auth_token is None:
            return
        nonce = headers.get("x-plivo-signature-v3-nonce", "")
        urls = _spellings(_sorted_query(self._url))
        right = [_signed(self._auth_token, f"{url}.{nonce}", "sha256") for url in urls]
        for name in ("x-plivo-signature-v3", "x-plivo-signature-ma-v3"):
            given = [each.strip() for each in headers.get(name, "").split(",")]
            if nonce and any(_same(each, one) for each in given for one in right):
                return
        raise CallRefused(1008, "the signature is not Plivo's: see auth_token and url")

    def begin(self, frame: Mapping[str, Json], whole: Mapping[str, Json]) -> Start:
        """See :class:`Events`."""
        stream = _ids(whole, "streamId", "callId")
        self.agree(_object(whole, "mediaFormat"), "sampleRate")
        if self.encoding == "PCMA":
            raise CallRefused(
                1003, "the sound is PCMA, which Plivo cannot play: ask for audio/x-mulaw or audio/x-l16"
            )
        return Start(whole, stream)

    def other(self, frame: Mapping[str, Json], body: Mapping[str, Json]) -> CallMessage | None:
        """See :class:`Events`."""
        name = frame.get("name") if frame["event"] == "playedStream" else None
        return Mark(name) if isinstance(name, str) else None

    def media(self, sound: bytes) -> str:
        """See :class:`Provider`."""
        kind = "audio/x-l16" if self.encoding == "L16" else "audio/x-mulaw"
        return json.dumps({
            "event": "playAudio",
            "media": {"contentType": kind, "sampleRate": self.rate, "payload": _encoded(sound)},
        })  # fmt: skip

    def mark(self, name: str) -> str:
        """See :class:`Provider`. A checkpoint that is cleared does not come back."""
        return json.dumps({"event": "checkpoint", "streamId": self.stream, "name": name})

    def keys(self, keys: str) -> str | None:
        """See :class:`Provider` (``sendDTMF``: plivo.com/docs/voice/audio-streaming, read on 2026-11-29).

        Its documentation names no pause, so keys with one are played as tones.
        """
        return None if "w" in keys else json.dumps({"event": "sendDTMF", "dtmf": keys})

    def clear(self) -> str:
        """See :class:`Provider`."""
        return json.dumps({"event": "clearAudio", "streamId": self.stream})


def _parsed(text: str) -> Mapping[str, Json] | None:
    """A frame; ``None`` for what is not one."""
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) and isinstance(frame.get("event"), str) else None


def _token(value: str | None, bridge: str) -> str | None:
    """The token that a call must show. If it is missing, this is logged once."""
    if value is None and bridge not in _open_to_all:
        _open_to_all.add(bridge)
        log.warning("%s(auth_token=None): anybody who finds the address of this websocket can call", bridge)
    return checked_secret(value, "auth_token")


def _ids(frame: Mapping[str, Json], stream: str, call: str) -> str:
    """The id of the stream. Raises :class:`CallRefused` where it, or the id of the call, is missing or too long."""
    checked_id(frame.get(call), call)
    return checked_id(frame.get(stream), stream)


def _tokens(connected: Mapping[str, Json], depth: int = 1) -> Iterable[str]:
    """Any field of the ``connected`` frame that is called a token, at its top or one level down."""
    for name, value in connected.items():
        if isinstance(value, Mapping) and depth:
            yield from _tokens(value, depth - 1)
        elif isinstance(value, str) and ("token" in name.lower() or name.lower() == "authorization"):
            yield value


def _signed(auth_token: str, text: str, digest: str) -> str:
    made = hmac.new(auth_token.encode(), text.encode(errors="surrogatepass"), digest).digest()
    return base64.b64encode(made).decode("ascii")


def _spellings(url: str) -> Iterable[str]:
    """The URL as it is, and as a provider may have written it: with a slash at its end or not, with its port or not."""
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


def _sorted_query(url: str) -> str:
    """The URL as Plivo signs it: its parameters decoded, in the order of their names."""
    path, mark, query = url.partition("?")
    return path + mark + "&".join(f"{name}={value}" for name, value in sorted(parse_qsl(query, True)))


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


def _encoded(sound: bytes) -> str:
    return base64.b64encode(sound).decode("ascii")
