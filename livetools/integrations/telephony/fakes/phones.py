"""The providers' sides of a call, for tests: what Twilio, Telnyx and Plivo send to an app, and read of it."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from livetools.integrations.telephony.providers.provider import Key, Mark, Media, RawMessage
from livetools.protocol.messages.lenient_json import Json


@dataclass(frozen=True, slots=True)
class Clear:
    """What was sent and not played is to be dropped."""


class Phone:
    """A provider's side of a call: derive from it to call an app that has a provider of your own.

    ``encoding`` and ``rate`` are those of the line, as in :class:`~livetools.integrations.telephony.Provider`.
    ``call``: the provider's id of the call, by which its REST API names it (:class:`RestRequest`).

    ::

        import json
        from livetools.integrations.telephony import Media

        class PlainPhone(Phone):
            encoding, rate, call = "L16", 16000, "c1"

            def begin(self):
                return [json.dumps({"type": "hello", "id": self.call})]

            def media(self, sound):
                return sound

            def read(self, message):
                return Media(message)

        print(PlainPhone().begin())  # Caller(app, "/call", provider=PlainPhone()) calls with it
    """

    encoding: str = "PCMU"
    rate: int = 8000
    call: str = ""

    def headers(self) -> Mapping[str, str]:
        """The headers of the request that opens the websocket."""
        return {}

    def begin(self) -> list[RawMessage]:
        """What is sent when the call begins."""
        raise NotImplementedError

    def media(self, sound: bytes) -> RawMessage:
        """The caller's sound, in the encoding of the line."""
        raise NotImplementedError

    def key(self, digit: str) -> RawMessage:
        """The caller presses a key."""
        raise NotImplementedError

    def played(self, name: str) -> RawMessage | None:
        """What was sent before this mark has been played."""

    def end(self) -> RawMessage | None:
        """The caller hangs up. ``None``: the websocket is closed, and that is all."""

    def read(self, message: RawMessage) -> Media | Mark | Key | Clear | None:
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

    def begin(self) -> list[RawMessage]:
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

    def read(self, message: RawMessage) -> Media | Mark | Key | Clear | None:
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

    def begin(self) -> list[RawMessage]:
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

    def begin(self) -> list[RawMessage]:
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

    def read(self, message: RawMessage) -> Media | Mark | Key | Clear | None:
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


#: The phone of each provider that is built in.
PHONES: Mapping[str, Callable[[], Phone]] = {
    "twilio": TwilioPhone,
    "telnyx": TelnyxPhone,
    "plivo": PlivoPhone,
}


def _encoded(sound: bytes) -> str:
    return base64.b64encode(sound).decode("ascii")


def _signature(auth_token: str, text: str, digest: str) -> str:
    return base64.b64encode(hmac.new(auth_token.encode(), text.encode(), digest).digest()).decode("ascii")
