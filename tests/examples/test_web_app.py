"""examples/web_app.py."""

from __future__ import annotations

import json
import threading

import pytest
import uvicorn
from websockets.sync.client import connect


@pytest.fixture
def app(example):
    """The app on a port of its own."""
    config = uvicorn.Config(example("web_app").app, port=0, log_level="error", ws="websockets-sansio")
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def told(*args: object, **kwargs: object) -> None:
        await startup(*args, **kwargs)
        started.set()

    server.startup = told
    thread = threading.Thread(target=server.run)
    thread.start()
    assert started.wait(60)
    yield "{}:{}".format(*server.servers[0].sockets[0].getsockname())
    server.should_exit = True
    thread.join(60)


def answer(browser: object) -> str:
    text = ""
    while "done" not in (message := json.loads(browser.recv(timeout=10))):
        text += message["text"]
    return text


def test_each_browser_has_a_session_of_its_own(live_server, app):
    @live_server.model
    async def model(turn):
        weather = await turn.call("get_weather", city=turn.text)
        await turn.say(f"{turn.text}: {weather['output']}")

    with connect(f"ws://{app}/chat") as one, connect(f"ws://{app}/chat") as other:
        one.send("Oslo")
        other.send("Cairo")
        assert answer(one) == "Oslo: 12 °C, rain"
        assert answer(other) == "Cairo: 31 °C, sun"
        one.send("Rome")
        assert answer(one) == "Rome: 20 °C, clouds"
    assert len(live_server.sessions) == 2
