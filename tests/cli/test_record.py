"""``livetools record`` and ``livetools replay``."""

from __future__ import annotations

import json

import anyio
import pytest

from livetools import LiveToolsError, connect
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Pretend


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


def ask(base_url: str, question: str) -> str:
    async def main() -> str:
        options = {"base_url": base_url, "api_key": "AIza-a-very-secret-key", "reconnect": False}
        async with connect("gemini-3.8-live", tools=[get_weather], **options) as session:
            return str(await session.ask(question))

    return anyio.run(main)


@pytest.fixture
def recorded(tmp_path, program):
    """A conversation in a file."""
    file = tmp_path / "talk.jsonl"
    upstream = FakeLiveServer(Pretend()).start()
    recorder = program("record", file, "--upstream", upstream.http_url, "--port", "0", "--no-media")
    assert ask(recorder.url(), "Weather in Oslo?") == "get_weather says: 12 °C, rain."
    status, out, err = recorder.end()
    upstream.stop()
    assert (status, err) == (0, "")
    assert f"frames in {file}" in out
    return file


def test_a_conversation_is_written_down_without_the_key(recorded):
    text = recorded.read_text(encoding="utf-8")
    frames = [json.loads(line)["frame"] for line in text.splitlines()]
    assert "setup" in frames[0]
    assert any("toolCall" in frame for frame in frames)
    assert any("toolResponse" in frame for frame in frames)
    assert "secret" not in text


def test_a_recording_is_played_to_a_client_that_says_the_same(recorded, program):
    player = program("replay", recorded, "--port", "0")
    assert ask(player.url(), "Weather in Oslo?") == "get_weather says: 12 °C, rain."
    assert player.end()[0] == 0


def test_a_client_that_says_something_else_is_told_the_difference(recorded, program):
    player = program("replay", recorded, "--port", "0")
    with pytest.raises(LiveToolsError, match="Not as recorded"):
        ask(player.url(), "Weather in Rome?")
    status, _, err = player.end()
    assert status == 1
    assert 'recorded "Weather in Oslo?", now "Weather in Rome?"' in err


@pytest.mark.parametrize("command", ["record", "replay"])
def test_a_file_that_is_none_is_told_in_one_line(run, command, tmp_path):
    result = run(command, tmp_path / "nowhere" / "talk.jsonl", "--port", "0")
    assert result.exit_code == 1
    assert "talk.jsonl: No such file or directory" in result.stderr


def test_a_file_that_is_no_recording_is_told_with_its_line(run, tmp_path):
    file = tmp_path / "talk.jsonl"
    file.write_text("{}\n")
    result = run("replay", file, "--port", "0")
    assert result.exit_code == 1
    assert f"{file}:1: no line of a recording" in result.stderr
