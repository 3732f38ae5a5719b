"""examples/bring_your_own_client.py."""

from __future__ import annotations

import asyncio

import pytest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # google-genai's own
def test_google_genais_session_is_kept_and_its_calls_are_answered(example, no_key, capsys):
    asyncio.run(example("bring_your_own_client").main("Is the lamp on in the kitchen?"))
    assert "get_lamp says: on." in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_tools_are_declared_as_live_reads_them(example, live_server):
    @live_server.model
    async def model(turn):
        weather = await turn.call("get_weather", city="Oslo")
        await turn.say(weather["output"])

    asyncio.run(example("bring_your_own_client").main("Weather?"))
    (session,) = live_server.sessions
    assert [d["parameters"]["type"] for d in session.declarations().values()] == ["OBJECT", "OBJECT"]
