"""What is chosen on the page for its next session."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from livetools.cli.agents.load_agent import load
from livetools.cli.agents.open_sessions import Choices, opener
from livetools.cli.page.asgi_app import About, page_app
from livetools.cli.page.chosen_settings import MAX_CHOICES, changed
from livetools.cli.page.session_routes import TOKEN
from livetools.testing import FakeLiveServer, Pretend

HOST = "http://localhost"
AGENTS = """
import functools, livetools

def get_weather(city: str) -> str:
    "Current weather in a city."
    return "12 °C, rain"

agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[get_weather], voice="Puck")

def made(**options) -> livetools.Session:
    return livetools.connect("gemini-3.8-live", tools=[get_weather], **options)
"""


@pytest.fixture
def server():
    server = FakeLiveServer(Pretend()).start()
    yield server
    server.stop(check=False)


@pytest.fixture(params=["agent", "get_weather", "made"])
def client(request, server, tmp_path):
    file = tmp_path / "house.py"
    file.write_text(AGENTS, encoding="utf-8")
    target = f"{file}:{request.param}"
    found = load(target)

    def vary(changes: Choices) -> Any:
        return opener(found, target, Choices(), server.options, changes=changes)

    app = page_app(vary(Choices()), About(target=target), linger=0, vary=vary)
    with TestClient(app, base_url=HOST) as client:
        client.target = request.param  # type: ignore[attr-defined]
        yield client


def setup_of(client: TestClient, key: str) -> dict[str, Any]:
    """What a session that names this key was told."""
    url = f"ws://localhost/live/?choices={key}"
    with client.websocket_connect(url, headers={"origin": HOST}) as page:
        token = page.receive_json()["token"]
        return dict(client.get("/session.json", headers={TOKEN: token}).json())


def test_each_is_of_the_session_that_names_its_key(client):
    chosen = {"voice": "Kore", "language": "de-DE", "instructions": "Rhyme."}
    if client.target != "made":
        chosen["model"] = "gemini-3.1-flash-live"
    key = client.post("/choices", json={**chosen, "other": "is passed over", "config": "too"}).json()["key"]
    told = setup_of(client, key)
    assert told["choices"] == chosen
    speech = told["setup"]["generationConfig"]["speechConfig"]
    assert speech["voiceConfig"]["prebuiltVoiceConfig"]["voiceName"] == "Kore"
    assert told["setup"]["systemInstruction"]["parts"][0]["text"] == "Rhyme."
    assert told["setup"]["model"] == f"models/{chosen.get('model', 'gemini-3.8-live')}"
    own = setup_of(client, "")
    assert own["choices"] == {}
    assert own["setup"]["model"] == "models/gemini-3.8-live"
    assert "systemInstruction" not in own["setup"]


@pytest.mark.parametrize(
    "body",
    ["{", "[]", '{"model": "gemini-3.5-transcribe-live"}'],
    ids=["no JSON", "a list", "a model without functions"],
)
def test_what_cannot_be_is_refused_with_the_reason(client, body):
    answer = client.post("/choices", content=body)
    assert answer.status_code == 400
    assert answer.text


def test_an_agent_that_is_a_function_keeps_its_model(client):
    answer = client.post("/choices", json={"model": "gemini-3.1-flash-live"})
    assert (answer.status_code == 400) is (client.target == "made")
    if client.target == "made":
        assert "a function, which chooses its model itself" in answer.text


def test_a_key_that_is_not_known_chooses_nothing(client):
    assert setup_of(client, "unknown")["choices"] == {}
    first = client.post("/choices", json={"voice": "Kore"}).json()["key"]
    for _ in range(MAX_CHOICES):
        client.post("/choices", json={"voice": "Leda"})
    assert setup_of(client, first)["choices"] == {}


def test_the_page_is_offered_the_models_and_voices_that_are_known(client):
    offered = client.get("/facts.json").json()["choices"]
    assert "gemini-3.8-live" in offered["models"]
    assert {"Kore", "Puck"} <= set(offered["voices"])


def test_what_is_not_chosen_stays():
    base = Choices(model="m", voice="Puck", thinking="low")
    assert changed(base, {"voice": "Kore"}) == Choices(model="m", voice="Kore", thinking="low")
