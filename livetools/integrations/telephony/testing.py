"""Calls an app in a test: a telephone without a provider, a network or a key.

::

    async with Caller(app, "/call", provider="plivo") as caller:
        await caller.hear()  # the greeting
        await caller.speak()
        await caller.hear()
        await caller.press("1")
        await caller.hang_up()

With the fixture ``live_server`` the model is a script, so speech is a tone, and the test decides what it means.
"""

from __future__ import annotations

import base64
import hmac
import json
import math
from array import array
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel

from livetools.audio.pcm import INPUT_RATE, Resampler
from livetools.errors import ConfigError

from .codec import Codec, codec_of
from .contract import Json, Key, Mark, Media, Message
from .fake_rest import FakeRest, RestRequest
from .tones import keys_in

__all__ = [
    "Caller",
    "Clear",
    "FakeRest",
    "Phone",
    "PlivoPhone",
    "RestRequest",
    "TelnyxPhone",
    "TwilioPhone",
]

App: TypeAlias = Callable[..., Awaitable[None]]

#: Seconds of a message of the caller's sound, and of the silence behind what they say.
_FRAME, _SILENCE = 0.02, 0.8
#: Seconds between two messages of sound: ten times as fast as a voice.
_PACE = 0.002
#: Seconds that the app has to say something, or to end the call.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Clear:
    """What was sent and not played is to be dropped."""


class Phone:
    """A provider's side of a call: derive from it to call an app that has a provider of your own.

    ``encoding`` and ``rate`` are those of the line, as in :class:`~livetools.integrations.telephony.Provider`.
    ``call``: the provider's id of the call, by which its REST API names it (:class:`RestRequest`).
    """

    encoding: str = "PCMU"
    rate: int = 8000
    call: str = ""

    def headers(self) -> Mapping[str, str]:
        """The headers of the request that opens the websocket."""
        return {}

    def begin(self) -> list[Message]:
        """What is sent when the call begins."""
        raise NotImplementedError

    def media(self, sound: bytes) -> Message:
        """The caller's sound, in the encoding of the line."""
        raise NotImplementedError

    def key(self, digit: str) -> Message:
        """The caller presses a key."""
        raise NotImplementedError

    def played(self, name: str) -> Message | None:
        """What was sent before this mark has been played."""

    def end(self) -> Message | None:
        """The caller hangs up. ``None``: the websocket is closed, and that is all."""

    def read(self, message: Message) -> Media | Mark | Key | Clear | None:
        """What the app has sent."""
        raise NotImplementedError


class TwilioPhone(Phone):
    """Twilio's side. ``parameters``: the stream's ``customParameters``. ``auth_token`` and ``url``: what the app checks
    the signature with."""

    call = "CA00000000000000000000000000000000"

    def __init__(
        self, parameters: Mapping[str, str] | None = None, *, auth_token: str | None = None, url: str = ""
    ) -> None:
        self._parameters, self._auth_token, self._url = dict(parameters or {}), auth_token, url

    def headers(self) -> Mapping[str, str]:
        """See :class:`Phone`."""
        if self._auth_token is None:
            return {}
        return {"x-twilio-signature": _signature(self._auth_token, self._url, "sha1")}

    def begin(self) -> list[Message]:
        """See :class:`Phone`."""
        body = {
            "streamSid": "MZ00000000000000000000000000000000",
            "accountSid": "AC00000000000000000000000000000000",
            "callSid": self.call,
            "tracks": ["inbound"],
            "customParameters": self._parameters,
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        }
        connected = json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        return [connected, self._frame("start", start=body)]

    def media(self, sound: bytes) -> str:
        """See :class:`Phone`."""
        return self._frame("media", media={"track": "inbound", "payload": _encoded(sound)})

    def key(self, digit: str) -> str:
        """See :class:`Phone`."""
        return self._frame("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    def played(self, name: str) -> str:
        """See :class:`Phone`."""
        return self._frame("mark", mark={"name": name})

    def end(self) -> str:
        """See :class:`Phone`."""
        return self._frame("stop", stop={})

    def read(self, message: Message) -> Media | Mark | Key | Clear | None:
        """See :class:`Phone`."""
        frame = json.loads(message)
        match frame["event"]:
            case "media":
                return Media(base64.b64decode(frame["media"]["payload"], validate=True))
            case "mark":
                return Mark(frame["mark"]["name"])
            case "clear":
                return Clear()
        return None

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, "streamSid": "MZ00000000000000000000000000000000", **more})


class TelnyxPhone(TwilioPhone):
    """Telnyx' side. ``auth_token``: the ``stream_auth_token``. ``encoding``: ``"PCMU"``, ``"PCMA"`` or ``"L16"``."""

    call = "v3:00000000"

    def __init__(
        self,
        parameters: Mapping[str, str] | None = None,
        *,
        auth_token: str | None = None,
        encoding: str = "PCMU",
        rate: int = 8000,
    ) -> None:
        super().__init__(parameters, auth_token=auth_token)
        self.encoding, self.rate = encoding, rate
        self._chunk = 0

    def headers(self) -> Mapping[str, str]:
        """See :class:`Phone`."""
        return {} if self._auth_token is None else {"x-telnyx-streaming-auth-token": self._auth_token}

    def begin(self) -> list[Message]:
        """See :class:`Phone`."""
        body = {
            "call_control_id": self.call,
            "call_session_id": "00000000-0000-0000-0000-000000000000",
            "from": "+13122010094",
            "to": "+13122123456",
            "custom_parameters": self._parameters,
            "media_format": {"encoding": self.encoding, "sample_rate": self.rate, "channels": 1},
        }
        return [json.dumps({"event": "connected", "version": "1.0.0"}), self._frame("start", start=body)]

    def media(self, sound: bytes) -> str:
        """See :class:`Phone`."""
        self._chunk += 1
        body = {"track": "inbound", "chunk": str(self._chunk), "payload": _encoded(sound)}
        return self._frame("media", media=body)

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, "stream_id": "00000000-0000-0000-0000-000000000001", **more})


class PlivoPhone(Phone):
    """Plivo's side. ``encoding`` and ``rate``: ``"PCMU"`` at 8000 Hz, or ``"L16"`` at 8000 or 16000. ``headers`` of the
    ``<Stream>``: ``extra_headers``. ``auth_token`` and ``url``: what the app checks the signature with."""

    call = "00000000-0000-0000-0000-000000000000"

    def __init__(
        self,
        extra_headers: str = "",
        *,
        auth_token: str | None = None,
        url: str = "",
        encoding: str = "PCMU",
        rate: int = 8000,
    ) -> None:
        self._extra_headers, self._auth_token, self._url = extra_headers, auth_token, url
        self.encoding, self.rate = encoding, rate

    def headers(self) -> Mapping[str, str]:
        """See :class:`Phone`."""
        if self._auth_token is None:
            return {}
        signed = _signature(self._auth_token, f"{self._url}.12345", "sha256")
        return {"x-plivo-signature-v3": signed, "x-plivo-signature-v3-nonce": "12345"}

    def begin(self) -> list[Message]:
        """See :class:`Phone`."""
        kind = "audio/x-l16" if self.encoding == "L16" else "audio/x-mulaw"
        body = {
            "callId": self.call,
            "streamId": "00000000-0000-0000-0000-000000000001",
            "accountId": "MA000000000000000000",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": kind, "sampleRate": self.rate},
        }
        return [
            json.dumps({
                "event": "start", "sequenceNumber": 1, "start": body, "extra_headers": self._extra_headers,
            })
        ]  # fmt: skip

    def media(self, sound: bytes) -> str:
        """See :class:`Phone`."""
        return self._frame("media", media={"track": "inbound", "payload": _encoded(sound)})

    def key(self, digit: str) -> str:
        """See :class:`Phone`."""
        return self._frame("dtmf", dtmf={"track": "inbound", "digit": digit})

    def played(self, name: str) -> str:
        """See :class:`Phone`."""
        return self._frame("playedStream", name=name)

    def read(self, message: Message) -> Media | Mark | Key | Clear | None:
        """See :class:`Phone`. Sound of another kind than the stream's is refused, as Plivo refuses it."""
        frame = json.loads(message)
        match frame["event"]:
            case "playAudio":
                kind = "audio/x-l16" if self.encoding == "L16" else "audio/x-mulaw"
                told = frame["media"]["contentType"], frame["media"]["sampleRate"]
                if told != (kind, self.rate):
                    raise AssertionError(f"playAudio of {told}, the stream is {(kind, self.rate)}")
                return Media(base64.b64decode(frame["media"]["payload"], validate=True))
            case "checkpoint":
                return Mark(frame["name"])
            case "sendDTMF":
                return Key(frame["dtmf"])
            case "clearAudio":
                return Clear()
        return None

    def _frame(self, event: str, **more: Json) -> str:
        return json.dumps({"event": event, "streamId": "00000000-0000-0000-0000-000000000001", **more})


_PHONES: Mapping[str, Callable[[], Phone]] = {
    "twilio": TwilioPhone,
    "telnyx": TelnyxPhone,
    "plivo": PlivoPhone,
}


class Caller:
    """Somebody who calls an ASGI app (FastAPI, Starlette) on the websocket ``path``; hangs up when it is left.

    ``provider``: ``"twilio"``, ``"telnyx"``, ``"plivo"``, or a :class:`Phone`. What the app says is played at once, so
    its marks come back as they are sent. What the app raises is raised when the context is left.

    ``heard``: all that was said to the caller, 16-bit PCM of ``rate`` Hz. ``cleared``: how often the app dropped what
    it had sent: the caller cut in. ``code``: how the app closed the websocket; ``None``: it has not.

    ::

        async with Caller(app, "/call") as caller:
            await caller.speak()
            print(len(await caller.hear()) > 0)
    """

    def __init__(self, app: App, path: str = "/", *, provider: str | Phone = "twilio") -> None:
        if isinstance(provider, str) and provider not in _PHONES:
            raise ConfigError(f"provider {provider!r} is not known: {', '.join(_PHONES)}, or a Phone")
        self.heard = b""
        self.cleared = 0
        self.code: int | None = None
        self._app, self._path = app, path
        self._phone = _PHONES[provider]() if isinstance(provider, str) else provider
        self._codec: Codec = codec_of(self._phone.encoding, self._phone.rate)
        self._keys = ""
        self._told = 0  # bytes of `heard` that `hear` has returned
        self._news = anyio.Event()
        self._over = anyio.Event()
        self._stack = AsyncExitStack()

    @property
    def rate(self) -> int:
        """Hz of ``heard``, and of what :meth:`hear` returns."""
        return self._phone.rate

    @property
    def pressed(self) -> str:
        """The keys that the app has pressed: those of the provider's own messages, and the tones in ``heard``."""
        return self._keys + keys_in(self.heard, self.rate)

    async def __aenter__(self) -> Caller:
        """Open the websocket and begin the call. Raises ``ConnectionError`` where the app does not accept it."""
        try:
            await self._open()
        except BaseException as error:
            await self._leave(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hang up, and wait for the app."""
        if kind is None:
            try:
                await self.hang_up()
            except (
                BaseException
            ) as cut:  # the app has raised meanwhile, which ``_leave`` raises; or we are cancelled
                await self._leave(type(cut), cut, cut.__traceback__)
                raise
        await self._leave(kind, error, trace)

    async def _open(self) -> None:
        self._to_app, self._app_receives = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        self._app_sends, self._from_app = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        for stream in (self._to_app, self._app_receives, self._app_sends, self._from_app):
            self._stack.callback(stream.close)
        self._group = await self._stack.enter_async_context(anyio.create_task_group())
        self._to_app.send_nowait({"type": "websocket.connect"})
        self._group.start_soon(self._run)
        first = await self._from_app.receive()
        if first["type"] != "websocket.accept":
            raise ConnectionError(
                f"the app closed the websocket without accepting it: {first.get('code', 1000)}"
            )
        self._group.start_soon(self._listen)
        for message in self._phone.begin():
            self._send(message)

    async def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything. Raises what the app has raised, or what went wrong before."""
        self._over.set()
        self._group.cancel_scope.cancel()
        try:
            await self._stack.__aexit__(kind, error, trace)
        except* Exception as group:
            raise _only(group) from None

    async def speak(self, sound: float | bytes = 0.5) -> None:
        """Say something, and be silent for a moment: seconds of a tone, or 16-bit mono PCM of 16 kHz."""
        pcm = sound if isinstance(sound, bytes) else _tone(sound)
        pcm += bytes(round(_SILENCE * INPUT_RATE) * 2)
        line = self._codec.encode(Resampler(INPUT_RATE, self.rate)(pcm, last=True))
        step = round(_FRAME * self.rate) * self._codec.width
        for at in range(0, len(line), step):
            self._send(self._phone.media(line[at : at + step]))
            await anyio.sleep(_PACE)

    async def press(self, keys: str) -> None:
        """Press these keys of the phone, ``0-9*#``. ``#`` tells them at once, without it they wait for a second."""
        for digit in keys:
            self._send(self._phone.key(digit))
        await anyio.lowlevel.checkpoint()

    async def hear(self, quiet: float = 0.3) -> bytes:
        """What the caller hears since the last :meth:`hear`, until there is silence for ``quiet`` seconds,
        or the call ends: 16-bit mono PCM of ``rate`` Hz.

        Raises ``TimeoutError`` if there is no sound within 10 s.
        """
        with anyio.move_on_after(PATIENCE) as patience:
            while len(self.heard) == self._told and not self._over.is_set():
                await self._news.wait()
        if patience.cancelled_caught:
            raise TimeoutError(f"nothing was said to the caller within {PATIENCE:g} s")
        heard = -1
        while heard != len(self.heard) and not self._over.is_set():
            heard = len(self.heard)
            await anyio.sleep(quiet)
        said, self._told = self.heard[self._told :], len(self.heard)
        return said

    async def ended(self) -> int:
        """Wait until the app ends the call; the code that it closed the websocket with.

        Raises ``TimeoutError`` if it does not within 10 s.
        """
        with anyio.move_on_after(PATIENCE):
            await self._over.wait()
        if self.code is None:
            raise TimeoutError(f"the app did not end the call within {PATIENCE:g} s")
        return self.code

    async def hang_up(self) -> None:
        """End the call, and wait until the app has done all that it does then (``on_end``)."""
        if not self._over.is_set():
            if (message := self._phone.end()) is not None:
                self._send(message)
            self._to_app.send_nowait({"type": "websocket.disconnect", "code": 1000})
            with anyio.move_on_after(PATIENCE):
                await self._over.wait()

    async def _run(self) -> None:
        host = "testserver"
        headers = {"host": host, **self._phone.headers()}
        path = urlsplit(self._path)
        scope = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "scheme": "ws",
            "path": path.path,
            "raw_path": path.path.encode(),
            "root_path": "",
            "query_string": path.query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 40000),
            "server": (host, 80),
            "subprotocols": [],
            "state": {},
        }
        try:
            await self._app(scope, self._app_receives.receive, self._app_sends.send)
        finally:
            self._app_sends.close()  # what it has sent is still read

    async def _listen(self) -> None:
        async for message in self._from_app:
            if message["type"] == "websocket.close":
                self.code = message.get("code", 1000)
                self._to_app.send_nowait({"type": "websocket.disconnect", "code": self.code})
            elif message["type"] == "websocket.send":
                text = message.get("text")
                self._take(self._phone.read(message["bytes"] if text is None else text))
            self._wake()
        self._over.set()
        self._wake()

    def _take(self, said: Media | Mark | Key | Clear | None) -> None:
        match said:
            case Media(sound):
                self.heard += self._codec.decode(sound)
            case Mark(name):
                if (message := self._phone.played(name)) is not None:
                    self._send(message)
            case Key(keys):
                self._keys += keys
            case Clear():
                self.cleared += 1

    def _send(self, message: Message) -> None:
        kind = "text" if isinstance(message, str) else "bytes"
        self._to_app.send_nowait({"type": "websocket.receive", kind: message})

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def _tone(seconds: float) -> bytes:
    """A tone of 300 Hz."""
    step = 2 * math.pi * 300 / INPUT_RATE
    return array(
        "h", (round(8000 * math.sin(step * n)) for n in range(round(seconds * INPUT_RATE)))
    ).tobytes()


def _encoded(sound: bytes) -> str:
    return base64.b64encode(sound).decode("ascii")


def _signature(auth_token: str, text: str, digest: str) -> str:
    return base64.b64encode(hmac.new(auth_token.encode(), text.encode(), digest).digest()).decode("ascii")


def _only(group: BaseExceptionGroup[Exception]) -> Exception:
    """The first error in a group."""
    first = group.exceptions[0]
    return _only(first) if isinstance(first, BaseExceptionGroup) else first
