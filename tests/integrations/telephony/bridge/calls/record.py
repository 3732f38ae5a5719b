"""Makes the recorded calls: what a provider sends while somebody books a table, with a voice by espeak-ng.

    python tests/integrations/telephony/bridge/calls/record.py

The frames are as Twilio and Telnyx document them (2026-11); Telnyx' sound is A-law, and some of it out of order.
"""

from __future__ import annotations

import base64
import io
import json
import subprocess
import wave
from pathlib import Path
from typing import Any

from livetools.audio.pcm import Resampler
from livetools.integrations.telephony.sound.codec import PCMA, PCMU, Codec

HERE = Path(__file__).parent
SID = "MZ18ad3ab5a668481ce02b83e7395059f0"
STREAM = "32de0dea-53cb-4b21-89a4-9e1819c043bc"


def spoken(text: str) -> bytes:
    """8 kHz PCM of this text, and a second of silence."""
    made = subprocess.run(
        ["espeak-ng", "--stdout", "-s", "190", text], capture_output=True, check=True
    ).stdout
    with wave.open(io.BytesIO(made)) as file:
        pcm, rate = file.readframes(file.getnframes()), file.getframerate()
    return bytes(3200) + Resampler(rate, 8000)(pcm, last=True) + bytes(16000)


def twilio() -> list[dict[str, Any]]:
    body = {
        "accountSid": "AC00000000000000000000000000000000",
        "streamSid": SID,
        "callSid": "CA10bf1d5a5ca9b5e7ac1e6a2fdd8ba3fc",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        "customParameters": {"restaurant": "Fjord"},
    }
    frames: list[dict[str, Any]] = [
        {"event": "connected", "protocol": "Call", "version": "1.0.0"},
        {"event": "start", "start": body},
    ]
    frames += [{"event": "media", "media": media} for media in sound(PCMU, "inbound")]
    frames.append({"event": "dtmf", "dtmf": {"track": "inbound_track", "digit": "4"}})
    frames.append({"event": "stop", "stop": {"accountSid": body["accountSid"], "callSid": body["callSid"]}})
    return [
        frame if n == 0 else {**frame, "sequenceNumber": str(n), "streamSid": SID}
        for n, frame in enumerate(frames)
    ]


def telnyx() -> list[dict[str, Any]]:
    body = {
        "user_id": "3e6f995f-85f7-4705-9741-53b116d28237",
        "call_control_id": "v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ",
        "call_session_id": "ff55a038-6f5d-11ef-9692-02420aeffb1f",
        "from": "+13122010094",
        "to": "+13122123456",
        "custom_parameters": {"restaurant": "Fjord"},
        "media_format": {"encoding": "PCMA", "sample_rate": 8000, "channels": 1},
    }
    frames: list[dict[str, Any]] = [
        {"event": "connected", "version": "1.0.0"},
        {"event": "start", "start": body},
    ]
    frames += [{"event": "media", "media": media} for media in sound(PCMA, "inbound")]
    frames.append({"event": "dtmf", "occurred_at": "2026-11-28T09:30:00.000000Z", "dtmf": {"digit": "4"}})
    frames.append(
        {"event": "stop", "stop": {"user_id": body["user_id"], "call_control_id": body["call_control_id"]}}
    )
    numbered = [
        frame if n == 0 else {**frame, "sequence_number": str(n), "stream_id": STREAM}
        for n, frame in enumerate(frames)
    ]
    for at in range(5, len(numbered) - 8, 7):
        numbered[at], numbered[at + 2] = numbered[at + 2], numbered[at]
    return numbered


def sound(codec: Codec, track: str) -> list[dict[str, str]]:
    line = codec.encode(spoken("A table for four, at half past seven."))
    return [
        {
            "track": track,
            "chunk": str(n + 1),
            "timestamp": str(n * 20),
            "payload": base64.b64encode(line[at : at + 160]).decode(),
        }
        for n, at in enumerate(range(0, len(line) - 160, 160))
    ]


if __name__ == "__main__":
    for name, frames in (("twilio", twilio()), ("telnyx", telnyx())):
        lines = "".join(json.dumps(frame) + "\n" for frame in frames)
        (HERE / f"{name}.jsonl").write_text(lines, encoding="utf-8")
