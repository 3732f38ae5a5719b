"""Sessions of the last day and recordings, as the app of the page serves them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import livetools
from livetools.cli.page.asgi_app import About, page_app
from livetools.cli.page.session_routes import MAX_RECORDING, TOKEN, Replay, read_recording
from livetools.cli.recordings.session_files import SessionFiles
from livetools.testing import FakeLiveServer, Pretend
from livetools.testing.wire import Frame

HOST = "http://localhost"
RECORDED = [
    {"time": 0.0, "direction": "client", "connection": 1, "frame": {"setup": {"model": "models/m"}}},
    {"time": 0.5, "direction": "client", "connection": 1, "frame": {"realtimeInput": {"text": "hello"}}},
    {"time": 1.0, "direction": "server", "connection": 1, "frame": {"serverContent": {"turnComplete": True}}},
]
LINES = "".join(json.dumps(each) + "\n" for each in RECORDED)


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@pytest.fixture
def server():
    server = FakeLiveServer(Pretend()).start()
    yield server
    server.stop(check=False)


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path / "kept")


@pytest.fixture
def client(server, files):
    open_session = functools.partial(
        livetools.connect, "gemini-3.8-live", tools=[get_weather], **server.options
    )
    replay = Replay("call.jsonl", tuple(Frame(e["time"], e["direction"], 1, e["frame"]) for e in RECORDED))  # type: ignore[arg-type]
    app = page_app(open_session, About(target="house", replay=replay), linger=0, files=files)
    with TestClient(app, base_url=HOST) as client:
        yield client


def talk(client: TestClient, text: str) -> tuple[str, Any]:
    """Ask something on a page of its own: its token, and the session as the list has it when the page is gone."""
    with client.websocket_connect("ws://localhost/live/", headers={"origin": HOST}) as page:
        token = page.receive_json()["token"]
        client.get("/session.json", headers={TOKEN: token})
        page.send_json({"type": "text", "text": text})
        while '"TurnComplete"' not in (page.receive().get("text") or ""):
            pass
    while (found := client.get("/sessions.json", headers={TOKEN: token}).json()) and found[0]["open"]:
        pass
    return token, found[0]


def test_the_list_tells_what_there_is(client):
    assert client.get("/sessions.json").json() == []
    _, first = talk(client, "Weather in Oslo?")
    assert (first["title"], first["model"], first["readable"]) == (
        "Weather in Oslo?",
        "gemini-3.8-live",
        True,
    )
    assert (first["own"], first["open"]) == (True, False)
    assert first["began"] <= first["used"]
    talk(client, "Hello?")
    assert [each["title"] for each in client.get("/sessions.json").json()] == ["Hello?", "Weather in Oslo?"]


def test_sessions_of_another_agent_are_not_listed(client, server, files):
    talk(client, "Hello?")
    other = functools.partial(livetools.connect, "gemini-3.8-live", **server.options)
    with TestClient(page_app(other, About(target="another"), files=files), base_url=HOST) as another:
        assert another.get("/sessions.json").json() == []


def test_a_session_that_is_over_is_reopened_with_another_token_and_found_by_the_old_one_no_more(client):
    token, session = talk(client, "Weather in Oslo?")
    fresh = client.post(f"/sessions/{session['id']}/open").json()["token"]
    assert fresh not in (None, token)
    headers = {"origin": HOST}
    names = ["livetools.v1", "livetools.resume"]
    with client.websocket_connect("ws://localhost/live/", subprotocols=names, headers=headers) as page:
        page.send_json({"type": "resume", "token": fresh, "after": 0})
        ready = page.receive_json()
        assert (ready["resumed"], ready["token"]) == (True, fresh)
        past = client.get("/past", headers={TOKEN: fresh}).json()
        assert past["knows"] is True
        assert "Weather in Oslo?" in {each.get("text") for each in past["messages"]}
        assert {"ToolStarted", "ToolFinished", "TurnComplete"} <= {each["type"] for each in past["messages"]}
        assert any("toolCall" in each["frame"] for each in past["frames"])
    assert client.post(f"/sessions/{session['id']}/open").status_code == 404
    assert len(client.get("/sessions.json").json()) == 1


def test_a_page_that_comes_back_when_its_session_is_over_goes_on_below_what_was_said(client, files):
    token, session = talk(client, "Weather in Oslo?")
    names = ["livetools.v1", "livetools.resume"]
    for turns in (1, 2):
        with client.websocket_connect(
            "ws://localhost/live/", subprotocols=names, headers={"origin": HOST}
        ) as page:
            page.send_json({"type": "resume", "token": token, "after": 0})
            ready = page.receive_json()
            assert (ready["resumed"], ready["token"]) == (True, token)
            past = client.get("/past", headers={TOKEN: token}).json()
            assert past["knows"] is True
            assert [each["type"] for each in past["messages"]].count("user_text") == turns
            page.send_json({"type": "text", "text": "And now?"})
            while '"TurnComplete"' not in (page.receive().get("text") or ""):
                pass
        while client.get("/sessions.json").json()[0]["open"]:
            pass
    connections = [frame.connection for frame in files.frames(session["id"])]
    assert list(dict.fromkeys(connections)) == [1, 2, 3]


def test_a_session_is_deleted_with_its_files(client, files):
    _, session = talk(client, "Hello?")
    assert client.delete(f"/sessions/{session['id']}").status_code == 200
    assert list(files.folder.iterdir()) == []
    assert client.get("/sessions.json").json() == []
    assert client.post(f"/sessions/{session['id']}/open").status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/sessions/x"), ("POST", "/sessions/x/open"), ("POST", "/recording"), ("POST", "/choices")],
)
def test_another_site_can_change_nothing(client, method, path):
    for origin in ("https://evil.example", "null", "http://localhost:1"):
        assert client.request(method, path, headers={"origin": origin}).status_code == 403
    assert client.request(method, path, headers={"origin": HOST}).status_code != 403


def test_a_recording_is_read(client):
    told = client.post("/recording", content=LINES).json()
    assert [each["type"] for each in told["messages"]] == ["SessionStarted", "user_text", "TurnComplete"]
    assert client.get("/replay").json() == {**told, "name": "call.jsonl"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "empty"),
        ("what?\n", "line 1: not a line of a recording"),
        (LINES + '{"direction": "nobody", "frame": {}}\n', "line 4: not a line of a recording"),
        (b"\xff\xfe", "not a recording"),
    ],
)
def test_what_is_no_recording_is_named_by_its_line(client, data, why):
    answer = client.post("/recording", content=data)
    assert answer.status_code == 422
    assert why in answer.text
    assert "/tmp" not in answer.text


def test_a_recording_that_is_too_large_is_refused(client, monkeypatch):
    monkeypatch.setattr("livetools.cli.page.session_routes.MAX_RECORDING", 100)
    assert client.post("/recording", content=LINES).status_code == 413
    assert MAX_RECORDING > 2**20
    assert len(read_recording(LINES.encode())) == 3
