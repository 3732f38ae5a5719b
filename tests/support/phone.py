"""A provider of media streams: what Twilio or Telnyx would send, frame by frame, and what it does with what it gets."""

from __future__ import annotations

import base64
import json
import math
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.websockets import WebSocket

from .asgi import Browser, Closed, browser
from .waiting import everybody_waits

TWILIO_START = {
    "event": "start",
    "sequenceNumber": "1",
    "streamSid": "MZ18ad3ab5a668481ce02b83e7395059f0",
    "start": {
        "streamSid": "MZ18ad3ab5a668481ce02b83e7395059f0",
        "accountSid": "AC00000000000000000000000000000000",
        "callSid": "CA10bf1d5a5ca9b5e7ac1e6a2fdd8ba3fc",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        "customParameters": {"table": "7"},
    },
}
TELNYX_START = {
    "event": "start",
    "sequence_number": "1",
    "stream_id": "32de0dea-53cb-4b21-89a4-9e1819c043bc",
    "start": {
        "user_id": "3e6f995f-85f7-4705-9741-53b116d28237",
        "call_control_id": "v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ",
        "call_session_id": "ff55a038-6f5d-11ef-9692-02420aeffb1f",
        "from": "+13122010094",
        "to": "+13122123456",
        "custom_parameters": {"table": "7"},
        "media_format": {"encoding": "PCMU", "sample_rate": 8000, "channels": 1},
    },
}


def tone(seconds: float, rate: int = 8000, frequency: float = 300.0) -> bytes:
    """A tone, 16-bit PCM."""
    step = 2 * math.pi * frequency / rate
    return array("h", (round(8000 * math.sin(step * n)) for n in range(round(seconds * rate)))).tobytes()


class Phone:
    """The provider's end. ``heard`` is the sound that was sent to be played, in its own law."""

    def __init__(self, page: Browser, start: dict[str, Any]) -> None:
        self.page, self._start = page, start
        self.telnyx = "stream_id" in start
        self.heard: list[bytes] = []
        self.marks: list[str] = []  # not sent back yet
        self.cleared = 0
        self._chunk = 0

    def begin(self, **connected: Any) -> None:
        """The stream begins."""
        first = {"version": "1.0.0"} if self.telnyx else {"protocol": "Call", "version": "1.0.0"}
        self.page.send({"event": "connected", **first, **connected})
        self.page.send(self._start)

    def media(self, sound: bytes, chunk: int | None = None, track: str = "inbound") -> None:
        """20 ms of the caller's sound."""
        self._chunk = chunk if chunk is not None else self._chunk + 1
        payload = base64.b64encode(sound).decode()
        body = {
            "track": track,
            "chunk": str(self._chunk),
            "timestamp": str(self._chunk * 20),
            "payload": payload,
        }
        self._send("media", media=body)

    def speak(self, sound: bytes) -> None:
        """Sound of any length, in frames of 20 ms."""
        for at in range(0, len(sound), 160):
            self.media(sound[at : at + 160])

    def press(self, digits: str) -> None:
        for digit in digits:
            self._send("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    def play(self) -> None:
        """Everything that was sent has been played: the marks go back."""
        marks, self.marks = self.marks, []
        for name in marks:
            self._send("mark", mark={"name": name})

    def hang_up(self) -> None:
        self._send("stop", stop={})
        self.page.leave(1000)

    async def receive(self) -> dict[str, Any]:
        """The next frame, done as it says."""
        frame = await self.page.receive()
        assert isinstance(frame, dict)
        assert frame["stream_id" if self.telnyx else "streamSid"]
        match frame["event"]:
            case "media":
                self.heard.append(base64.b64decode(frame["media"]["payload"], validate=True))
            case "mark":
                self.marks.append(frame["mark"]["name"])
            case "clear":
                self.cleared += 1
                self.play()
        return frame

    async def until(self, event: str) -> dict[str, Any]:
        while (frame := await self.receive())["event"] != event:
            pass
        return frame

    async def listen(self) -> None:
        """Hear everything, and send the marks back as fast as they come."""
        while True:
            await self.receive()
            self.play()

    async def closed(self) -> Closed:
        """How the bridge closes the websocket; what comes before is heard, and its marks go back."""
        try:
            await self.listen()
        except Closed as closed:
            return closed
        raise AssertionError("listening ends with the websocket")

    def _send(self, event: str, **more: Any) -> None:
        if self.telnyx:
            self.page.send({"event": event, "stream_id": self._start["stream_id"], **more})
        else:
            self.page.send({"event": event, "streamSid": self._start["streamSid"], **more})


@asynccontextmanager
async def phone(
    bridge: Callable[..., Any],
    agent: object,
    start: dict[str, Any] = TWILIO_START,
    headers: dict[str, str] | None = None,
    raised: list[Exception] | None = None,
    **options: Any,
) -> AsyncIterator[Phone]:
    """A call to ``bridge(websocket, agent, **options)``, over when this is left; what it raised is in ``raised``."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        try:
            await bridge(websocket, agent, **options)
        except Exception as error:
            if raised is None:
                raise
            raised.append(error)

    async with browser(app, headers=headers) as page:
        yield Phone(page, start)


async def settled() -> None:
    await everybody_waits()


def recorded(lines: str) -> list[dict[str, Any]]:
    """The frames of a recorded call."""
    return [json.loads(line) for line in lines.splitlines() if line]
