"""examples/text_agent.py."""

from __future__ import annotations

import asyncio

import pytest

from livetools import Tool


def test_it_runs_offline_and_says_that_the_model_is_a_pretend_one(example, no_key, capsys):
    asyncio.run(example("text_agent").main())
    out = capsys.readouterr().out
    assert "pretend model" in out
    assert "get_weather says: 12 °C, rain. get_time says: " in out
    assert '{"amount": 42.165, "unit": "kilometre"}   [convert_units]' in out


def test_with_a_key_it_talks_to_the_service(example, live_server, capsys):
    @live_server.model
    async def model(turn):
        reply = await turn.call("convert_units", quantity={"amount": 10, "unit": "foot"}, to="metre")
        await turn.say(f"{reply['output']['amount']} m")

    asyncio.run(example("text_agent").main())
    assert "3.048 m" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["get_weather", "get_time", "convert_units"])
def test_its_tools_are_told_whole(example, name):
    assert Tool(getattr(example("text_agent"), name)).lint() == []


def test_a_city_it_does_not_know_is_told_to_the_model(example):
    response = asyncio.run(Tool(example("text_agent").get_time).call({"city": "Atlantis"}))
    assert response == {"error": "I know the time in London, Oslo, Cairo, Tokyo, not in Atlantis"}
