"""``livetools record`` and ``livetools replay``."""

from __future__ import annotations

import inspect
import json
import socket

import anyio
import pytest

from livetools import HandleUpdate, LiveToolsError, connect
from livetools.cli.commands.record_and_replay import record, replay
from livetools.cli.commands.serve import serve
from livetools.cli.commands.web import web
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Pretend

COMMANDS = (serve, record, replay, web)


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
    status, out, _ = player.end()
    assert status == 0
    assert "played to the end: the client sent what the recording has" in out


def test_a_client_that_never_comes_is_told(recorded, program):
    player = program("replay", recorded, "--port", "0")
    player.url()
    status, _, err = player.end()
    assert status == 1
    assert "the recording was not played out" in err


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
    assert result.exit_code == 2
    told = result.stderr.replace("\n", " ").replace("│", "")
    assert "No such file or directory" in told or "does not exist" in told


def test_a_file_that_is_no_recording_is_told_with_its_line(run, tmp_path):
    file = tmp_path / "talk.jsonl"
    file.write_text("{}\n")
    result = run("replay", file, "--port", "0")
    assert result.exit_code == 2
    assert f"{file}:1: not a line of a recording" in result.stderr


@pytest.fixture
def service():
    server = FakeLiveServer(Pretend()).start()
    yield server
    server.stop()


@pytest.fixture
def precious(tmp_path):
    file = tmp_path / "talk.jsonl"
    file.write_text("precious\n")
    return file


def test_a_file_that_exists_is_not_touched(run, precious):
    result = run("record", precious, "--port", "0")
    assert result.exit_code == 2
    assert result.stderr == f"livetools: {precious} exists: --force overwrites it, --append adds to it\n"
    assert precious.read_text() == "precious\n"


@pytest.mark.parametrize("option", ["--force", "--append"])
def test_a_file_is_not_touched_where_the_recorder_cannot_start(run, precious, option):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("record", precious, option, "--port", taken.getsockname()[1])
    assert result.exit_code == 1
    assert precious.read_text() == "precious\n"


def test_a_file_that_is_not_a_recording_is_not_gone_on_with(run, precious):
    result = run("record", precious, "--append", "--port", "0")
    assert result.exit_code == 1
    assert f"{precious}:1: not a line of a recording" in result.stderr
    assert precious.read_text() == "precious\n"


@pytest.mark.parametrize(
    "upstream", ["nonsense", "http://[::1", "ftp://example.org", "ws://", "ws://example.org"]
)
def test_an_upstream_that_cannot_be_one_is_told_in_one_line(run, precious, upstream):
    result = run("record", precious, "--force", "--port", "0", "--upstream", upstream)
    assert result.exit_code == 2
    assert result.stderr.startswith("livetools: --upstream: ")
    assert result.stderr.count("\n") == 1
    assert precious.read_text() == "precious\n"


def test_it_cannot_be_overwritten_and_gone_on_with(run, precious):
    result = run("record", precious, "--append", "--force", "--port", "0")
    assert result.exit_code == 2
    assert precious.read_text() == "precious\n"


def test_by_force_it_is_overwritten(program, service, precious):
    recorder = program("record", precious, "--force", "--upstream", service.http_url, "--port", "0")
    ask(recorder.url(), "hello")
    assert recorder.end()[0] == 0
    assert json.loads(precious.read_text().partition("\n")[0])["frame"].keys() == {"setup"}
    assert precious.stat().st_mode & 0o777 == 0o600


def test_a_recording_is_gone_on_with_and_played_as_one(program, service, tmp_path):
    file = tmp_path / "talk.jsonl"
    for question in ("Weather in Oslo?", "Weather in Rome?"):
        recorder = program("record", file, "--append", "--upstream", service.http_url, "--port", "0")
        ask(recorder.url(), question)
        assert recorder.end()[0] == 0
    player = program("replay", file, "--port", "0")
    url = player.url()
    for question in ("Weather in Oslo?", "Weather in Rome?"):
        ask(url, question)
    assert player.end()[0] == 0


def test_a_client_that_resumes_its_session_does_so_in_the_replay_too(program, service, tmp_path):
    file = tmp_path / "talk.jsonl"

    def two_connections(url: str) -> str | None:
        async def main() -> str | None:
            handle = None
            for question in ("hello", "again"):
                options = {"base_url": url, "api_key": "k", "handle": handle}
                async with connect("gemini-3.8-live", **options) as session:
                    await session.ask(question)
                    async for event in session:  # the handle follows the turn
                        if isinstance(event, HandleUpdate):
                            handle = event.handle
                            break
            return handle

        return anyio.run(main)

    recorder = program("record", file, "--upstream", service.http_url, "--port", "0")
    handle = two_connections(recorder.url())
    assert recorder.end()[0] == 0
    assert handle not in file.read_text()
    assert '"handle": "handle-' in file.read_text()
    player = program("replay", file, "--port", "0")
    assert two_connections(player.url()).startswith("handle-")
    assert player.end()[0] == 0


def test_serve_record_and_replay_have_ports_of_their_own():
    ports = [inspect.signature(each).parameters["port"].default for each in COMMANDS]
    assert len(set(ports)) == len(COMMANDS)
