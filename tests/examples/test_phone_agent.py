"""The example on the telephone: greets, books, says goodbye, and the call ends."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.phone import TWILIO_START, tone

from livetools.integrations.telephony.sound.codec import PCMU
from livetools.testing import FakeLiveServer

QUESTION = PCMU.encode(tone(0.4)) + b"\xff" * 8000

EXAMPLES = Path(__file__).parents[2] / "examples"


async def model(turn):
    if turn.text:
        await turn.say("Good evening!")
    else:
        booked = await turn.call("book_table", people=4, time="19:30")
        await turn.call("say_goodbye")
        await turn.say(f"{booked['output']} Goodbye!", tone(0.2, rate=24000))


def test_a_call_is_greeted_and_booked_and_ends_after_the_goodbye(
    example, no_key, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    server = FakeLiveServer(model, tls=True).start()
    for name, value in (
        ("GOOGLE_GEMINI_BASE_URL", server.http_url),
        ("GEMINI_API_KEY", "fake"),
        ("SSL_CERT_FILE", str(server.ca_file)),
    ):
        monkeypatch.setenv(name, value)
    try:
        client = TestClient(example("phone_agent").app)
        assert "<Connect><Stream" in client.post("/incoming").text
        with client.websocket_connect("/call") as call:
            call.send_json({"event": "connected", "protocol": "Call", "version": "1.0.0"})
            call.send_json(TWILIO_START)
            spoken = False
            while (message := call.receive())["type"] == "websocket.send":
                frame = json.loads(message["text"])
                if frame["event"] == "mark":
                    call.send_json({"event": "mark", "streamSid": frame["streamSid"], "mark": frame["mark"]})
                if not spoken:
                    spoken = True
                    for at in range(0, len(QUESTION), 160):
                        payload = base64.b64encode(QUESTION[at : at + 160]).decode()
                        call.send_json({"event": "media", "media": {"track": "inbound", "payload": payload}})
            assert message["code"] == 1000
    finally:
        server.stop()
    assert "ended, after" in capsys.readouterr().out
