"""The app of the page, without a browser: its guard, its facts, its details and exports."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from starlette.testclient import TestClient

import livetools
from livetools import tool
from livetools.cli.page.asgi_app import TOKEN, About, page_app
from livetools.testing import FakeLiveServer, Pretend

HOST = "http://localhost"


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@tool(approval=True)
def erase(disk: str) -> str:
    """Erase a disk."""
    return "gone"


@pytest.fixture
def client(tmp_path):
    house = tmp_path / "house.py"
    house.write_text(
        "import livetools\nfrom functools import partial\nagent = partial(livetools.connect, 'gemini-3.8-live')\n",
        encoding="utf-8",
    )
    server = FakeLiveServer(Pretend()).start()
    open_session = functools.partial(
        livetools.connect,
        "gemini-3.8-live",
        tools=[get_weather, erase],
        config={"output_audio_transcription": {}},
        **server.options,
    )
    app = page_app(open_session, About(pretend=True, target=f"{house}:agent"), linger=0)
    with TestClient(app, base_url=HOST) as client:
        yield client
    server.stop(check=False)


def talk(client: TestClient, text: str) -> dict[str, str]:
    """Ask something on a page of its own: the header that names its session."""
    with client.websocket_connect("ws://localhost/live/", headers={"origin": HOST}) as page:
        token = page.receive_json()["token"]
        page.send_json({"type": "text", "text": text})
        while True:
            message = page.receive()
            if '"TurnComplete"' in (message.get("text") or ""):
                return {TOKEN: token}


def test_its_files_come_with_a_strict_policy(client):
    for path in ("/", "/web/page/dist/main.js", "/web/dist/client.js", "/facts.json", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert client.get("/").text.count("<script") == 1  # a module; nothing inline
    assert client.get("/favicon.ico").headers["content-type"].startswith("image/svg")


def test_a_name_that_was_made_to_point_here_is_not_answered(client):
    refused = client.get("/", headers={"host": "evil.example:8000"})
    assert refused.status_code == 400
    assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]
    assert client.get("/", headers={"host": "127.0.0.1:8000"}).status_code == 200


def test_the_facts_stand_before_a_session_does(client):
    assert client.get("/facts.json").json() == {
        "title": "house.py:agent",
        "model": "gemini-3.8-live",
        "tools": [
            declared("get_weather", "Current weather in a city.", "city"),
            declared("erase", "Erase a disk.", "disk", approval=True),
        ],
        "pretend": True,
        "replay": False,
        "history": False,
        "choices": None,
    }


def declared(name: str, description: str, parameter: str, approval: bool = False) -> dict[str, Any]:
    properties = {parameter: {"type": "STRING"}}
    parameters = {"type": "OBJECT", "properties": properties, "required": [parameter]}
    about = {"name": name, "description": description, "parameters": parameters}
    return {**about, "approval": approval, "handled": True}


def test_a_page_is_told_what_its_model_was_told(client):
    mine = talk(client, "Weather in Oslo?")
    found = client.get("/session.json", headers=mine).json()
    assert [tool["name"] for tool in found["tools"]] == ["get_weather", "erase"]
    assert found["setup"]["model"] == "models/gemini-3.8-live"
    assert client.get("/session.json", headers={TOKEN: "guessed"}).status_code == 404


def test_the_frames_of_a_call_are_told_to_its_own_page(client):
    mine = talk(client, "Weather in Oslo?")
    found = client.get("/frames", params={"id": "no such id", "name": "get_weather"}, headers=mine).json()
    setup, called, answered = found
    assert setup["direction"] == "client"
    assert called["frame"]["toolCall"]["functionCalls"][0]["args"] == {"city": "Oslo"}
    assert answered["frame"]["toolResponse"]["functionResponses"][0]["response"] == {"output": "12 °C, rain"}
    id = called["frame"]["toolCall"]["functionCalls"][0]["id"]
    assert client.get("/frames", params={"id": id}, headers=mine).json() == [called, answered]
    for headers in ({}, {TOKEN: "guessed"}):
        assert client.get("/frames", params={"id": id}, headers=headers).status_code == 404
        assert client.get("/export/recording", headers=headers).status_code == 404


def test_a_session_is_exported_as_recording_and_as_test(client, tmp_path):
    mine = talk(client, "Weather in Oslo?")
    file = tmp_path / "it.jsonl"
    file.write_text(client.get("/export/recording", headers=mine).text, encoding="utf-8")
    recorded = livetools.testing.Recording.load(file)
    assert "setup" in recorded.frames[0].message
    source = client.get("/export/pytest", headers=mine).text
    assert "importlib.import_module('house')" in source
    assert "session = program.agent()" in source
    assert "call1 = await turn.start_call('get_weather', city='Oslo')" in source
    assert "session.approve(call)" in source
    compile(source, "test_it.py", "exec")


def test_a_session_in_which_nothing_was_said_is_no_test(client):
    with client.websocket_connect("ws://localhost/live/", headers={"origin": HOST}) as page:
        answer = client.get("/export/pytest", headers={TOKEN: page.receive_json()["token"]})
    assert answer.status_code == 409
    assert "no question has been answered" in answer.text
