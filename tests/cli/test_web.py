"""``livetools web``."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from livetools import Call, Interrupted, Reconnected, TextChunk, ToolFinished, TurnComplete
from livetools.cli.web import is_own, shown_as
from livetools.testing import FakeLiveServer


@pytest.fixture
def page(program, agent):
    """The address of a page whose model is a pretend one."""
    return program("web", agent, "--fake", "--port", "0").until("open http").partition("//")[2]


def until_said(browser: Any, text: str) -> tuple[list[str], int]:
    """The lines up to this end of what the model says, and the bytes of sound among them."""
    lines: list[str] = []
    sound, said = 0, ""
    while text not in said:
        message = browser.recv(timeout=10)
        if isinstance(message, bytes):
            sound += len(message)
        elif (told := json.loads(message))["kind"] == "model":
            said += told["text"]
        else:
            lines.append(told["text"])
    return lines, sound


def test_a_page_talks_to_a_session_of_its_own(page):
    with urllib.request.urlopen(f"http://{page}", timeout=10) as response:
        assert "/session" in response.read().decode()
    with (
        connect(f"ws://{page}/session", origin=f"http://{page}", max_queue=None) as one,
        connect(f"ws://{page}/session", origin=f"http://{page}", max_queue=None) as other,
    ):
        one.send("Weather in Oslo?")
        lines, sound = until_said(one, "12 °C, rain.")
        assert lines[0] == '→ get_weather(city="Oslo")'
        assert lines[1].startswith('← get_weather: "12 °C, rain"')
        assert sound > 0
        one.send(bytes(3200))  # the microphone
        other.send("hello")
        until_said(other, "I understand nothing")


def test_another_site_may_not_open_a_session(page):
    for origin in ("http://example.com", None):
        with pytest.raises(InvalidStatus), connect(f"ws://{page}/session", origin=origin):
            pass


def test_a_page_is_told_why_its_session_ended(program):
    async def model(turn: Any) -> None:
        await turn.close(1008, "Your API key was reported as leaked.")

    server = FakeLiveServer(model).start()
    page = program("web", "--base-url", server.url, "--port", "0").until("open http").partition("//")[2]
    try:
        with connect(f"ws://{page}/session", origin=f"http://{page}", max_queue=None) as browser:
            browser.send("hello")
            with pytest.raises(ConnectionClosed, match="reported as leaked"):
                until_said(browser, "never")
    finally:
        server.stop(check=False)


def test_it_stops_cleanly(program):
    served = program("web", "--fake", "--port", "0")
    page = served.until("open http").partition("//")[2]
    with urllib.request.urlopen(f"http://{page}", timeout=10):
        pass  # it is up
    status, _, err = served.end()
    assert (status, err) == (0, "")


def test_what_cannot_work_is_told_before_anything_is_served(run, agent):
    result = run("web", agent, "--fake", "--model", "gemini-3.5-live-translate", "--port", "0")
    assert result.exit_code == 1
    assert "calls no functions" in result.stderr


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("http://localhost:8000", "localhost:8000", True),
        ("http://localhost:9000", "localhost:8000", False),
        ("http://evil.example", "127.0.0.1:8000", False),
        ("http://evil.example:8000", "evil.example:8000", False),  # a name that was made to point here
        ("", "", False),
        ("null", "127.0.0.1:8000", False),
    ],
)
def test_only_the_page_itself_is_own(origin, host, own):
    assert is_own(origin, host) is own


def test_events_are_shown_by_kind():
    call = Call("1", "f", {"a": 1})
    assert shown_as(TextChunk("hi")) == ("model", "hi")
    assert shown_as(ToolFinished(call, {"output": 2}, None, 0.002)) == ("call", "← f: 2  (2 ms)")
    assert shown_as(Interrupted()) == ("interrupted", "")
    assert shown_as(Reconnected(True)) == ("note", "connected again")
    assert shown_as(TurnComplete()) is None
