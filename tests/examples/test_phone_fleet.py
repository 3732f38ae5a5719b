"""The example with many processes: a call goes on with the next stream, and is forgotten when it is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from support.phone import TWILIO_START

from livetools.testing import FakeLiveServer

SID = TWILIO_START["start"]["callSid"]  # type: ignore[index]


async def model(turn: Any) -> None:
    said = [p["text"] for c in turn.session.history for p in c["parts"] if "text" in p]
    await turn.say(f"{len(said)} things were said")


@pytest.fixture
def app(example: Any, no_key: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    server = FakeLiveServer(model, tls=True).start()
    environment = {
        "GOOGLE_GEMINI_BASE_URL": server.http_url, "GEMINI_API_KEY": "fake",
        "SSL_CERT_FILE": str(server.ca_file), "HANDLES": str(tmp_path / "handles"),
    }  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    yield example("phone_fleet")
    server.stop()


def stream(call: WebSocketTestSession) -> None:
    """The stream begins, and the caller presses a key."""
    call.send_json({"event": "connected", "protocol": "Call", "version": "1.0.0"})
    call.send_json(TWILIO_START)
    call.send_json({"event": "dtmf", "streamSid": "x", "dtmf": {"track": "inbound_track", "digit": "#"}})


def heard(call: WebSocketTestSession) -> int:
    """Hear it to its end, marks and all: the close code."""
    while (message := call.receive())["type"] == "websocket.send":
        if '"mark"' in message["text"]:
            call.send_text(message["text"])
    return int(message["code"])


def test_a_call_goes_on_with_its_next_stream_until_it_is_over(app: Any, capsys: Any) -> None:
    client = TestClient(app.app)
    assert 'action="/next"' in client.post("/incoming").text
    with client.websocket_connect("/call") as call:
        stream(call)
        while '"media"' not in call.receive()["text"]:
            pass
        call.portal.start_task_soon(app.drain.drain)
        assert heard(call) == 1000
    assert "<Stream" in client.post("/next", data={"CallSid": SID}).text
    app.drain.began = False  # another process
    with client.websocket_connect("/call") as call:
        stream(call)
        while '"media"' not in call.receive()["text"]:
            pass
        call.send_json({"event": "stop", "streamSid": "x", "stop": {}})
        heard(call)
    assert "<Hangup" in client.post("/next", data={"CallSid": SID}).text
    assert capsys.readouterr().out.split("\n")[:2] == [f"{SID}: parked", f"{SID}: hangup"]
