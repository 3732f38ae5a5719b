"""``livetools web``: the command."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from livetools.testing import FakeLiveServer


@pytest.fixture
def page(program, agent):
    """The address of a page whose model is a pretend one."""
    return program("web", agent, "--fake", "--port", "0").until("open http").partition("//")[2]


def live(page: str, **options: Any) -> Any:
    """A websocket as the page's own script opens it."""
    return connect(f"ws://{page}/live/", **{"origin": f"http://{page}", "max_queue": None, **options})


def until(browser: Any, kind: str) -> dict[str, Any]:
    """The next message of this type."""
    while True:
        message = browser.recv(timeout=10)
        if isinstance(message, str) and (told := json.loads(message))["type"] == kind:
            return told


def test_each_page_has_a_session_of_its_own(page):
    with urllib.request.urlopen(f"http://{page}", timeout=10) as response:
        assert "Message" in response.read().decode()
    with live(page) as one, live(page) as other:
        assert until(one, "ready")["token"] != until(other, "ready")["token"]
        one.send(json.dumps({"type": "text", "text": "Weather in Oslo?"}))
        assert until(one, "ToolStarted")["call"]["args"] == {"city": "Oslo"}
        assert until(one, "ToolFinished")["response"] == {"output": "12 °C, rain"}
        assert until(one, "OutputTranscript")["text"].startswith("get_weather says: 12")
        one.send(bytes(3200))  # the microphone
        other.send(json.dumps({"type": "text", "text": "hello"}))
        assert until(other, "user_text")["seq"] < 5  # nothing of the other page's


def test_another_site_may_not_open_a_session(page):
    for origin in ("http://example.com", f"https://{page}", "null", None):
        with pytest.raises(InvalidStatus), live(page, origin=origin):
            pass


def test_a_page_is_told_why_its_session_ended(program):
    async def model(turn: Any) -> None:
        await turn.close(1008, "Your API key was reported as leaked.")

    server = FakeLiveServer(model).start()
    page = program("web", "--base-url", server.url, "--port", "0").until("open http").partition("//")[2]
    try:
        with live(page) as browser:
            browser.send(json.dumps({"type": "text", "text": "hello"}))
            ended = until(browser, "ended")
            assert ended["error"] == "AuthenticationError"
            assert "reported as leaked" in ended["message"]
    finally:
        server.stop(check=False)


def test_it_stops_cleanly_though_a_session_lingers(program):
    served = program("web", "--fake", "--port", "0")
    page = served.until("open http").partition("//")[2]
    with live(page) as browser:
        until(browser, "ready")
    status, _, err = served.end()
    assert (status, err) == (0, "")


def test_what_cannot_work_is_told_before_anything_is_served(run, agent):
    result = run("web", agent, "--fake", "--model", "gemini-3.5-live-translate", "--port", "0")
    assert result.exit_code == 1
    assert "calls no functions" in result.stderr


@pytest.mark.parametrize("options", [[], ["--no-history"]])
def test_sessions_are_kept_in_the_users_folder_unless_that_is_switched_off(program, agent, tmp_path, options):
    served = program("web", agent, "--fake", "--port", "0", *options)
    page = served.until("open http").partition("//")[2]
    with live(page) as browser:
        browser.send(json.dumps({"type": "text", "text": "Weather in Oslo?"}))
        until(browser, "TurnComplete")
        listed = fetched(page, "sessions.json")
    assert [each["title"] for each in listed] == ([] if options else ["Weather in Oslo?"])
    folder = tmp_path / "state" / "livetools" / "web-sessions"
    assert len(list(folder.glob("*.jsonl"))) == (0 if options else 1)
    assert fetched(page, "facts.json")["history"] is not bool(options)


def fetched(page: str, path: str) -> Any:
    with urllib.request.urlopen(f"http://{page}/{path}", timeout=10) as response:
        return json.load(response)


def test_a_recording_is_shown_without_a_target_and_without_a_key(program, tmp_path):
    file = tmp_path / "call.jsonl"
    entry = {
        "time": 0.5,
        "direction": "client",
        "connection": 1,
        "frame": {"realtimeInput": {"text": "hello"}},
    }
    file.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    page = program("web", "--replay", file, "--port", "0").until("open http").partition("//")[2]
    told = fetched(page, "replay")
    assert (told["name"], [each["text"] for each in told["messages"]]) == ("call.jsonl", ["hello"])


def test_a_recording_that_cannot_be_read_is_named_with_its_line(run, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("milk\n", encoding="utf-8")
    result = run("web", "--replay", file, "--port", "0")
    assert result.exit_code == 2
    assert "notes.txt:1: not a line of a recording" in result.stderr.replace("\n", "")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_every_address_of_ipv6_has_those_of_ipv4_in_it(program, agent):
    serving = program("web", agent, "--fake", "--host", "::", "--port", "0")
    address = serving.until("open http").removeprefix("open ").strip()
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address, timeout=10) as response:
        assert response.status == 200
