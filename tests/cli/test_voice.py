"""``livetools voice``, by WAV files."""

from __future__ import annotations

import math
import sys
from array import array

import pytest
import typer
from typer.testing import CliRunner

from livetools.audio import wav_format, write_wav
from livetools.cli.app import Commands
from livetools.cli.voice import voice
from livetools.testing import FakeLiveServer

SPEECH = array("h", (int(8000 * math.sin(n / 10)) for n in range(1600))).tobytes()  # 0.1 s


@pytest.fixture
def files(tmp_path):
    """What to say, and where the answer goes."""
    write_wav(tmp_path / "question.wav", SPEECH, rate=16000)
    return "--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav"


@pytest.fixture
def speak():
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)
    app.command()(voice)
    app.command("other")(lambda: None)  # so that `voice` is a subcommand, as in the command itself

    def speak(*args: object):
        return CliRunner().invoke(app, ["voice", *map(str, args)], catch_exceptions=False)

    return speak


@pytest.fixture
def server():
    server = FakeLiveServer().start()
    yield server
    server.stop()


def test_a_file_is_said_and_its_answer_written_with_every_word_and_call_shown(server, speak, files, agent):
    server.transcriber = lambda pcm, rate: "Weather in Oslo?"

    @server.model
    async def model(turn):
        response = await turn.call("get_weather", city="Oslo")
        await turn.say(f"It is {response['output']}.", audio=bytes(4800))

    result = speak(f"{agent}:get_weather", "--base-url", server.http_url, *files)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0, result.stderr
    assert lines[0] == "> Weather in Oslo?"
    assert lines[1] == '  → get_weather(city="Oslo")'
    assert lines[2].startswith('  ← get_weather: "12 °C, rain"')
    assert lines[3].endswith("It is 12 °C, rain.")
    assert wav_format(files[-1]).seconds == 0.1


def test_without_a_key_it_says_that_it_pretends_and_without_a_sound_card_what_is_missing(speak, monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    result = speak()
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'livetools[voice]'" in result.stderr
    assert "This is a pretend model" in result.stdout


def test_a_file_that_is_no_sound_is_one_line_and_no_traceback(speak, files):
    files[1].write_bytes(b"not a sound")
    result = speak("--fake", *files)
    assert result.exit_code == 1
    assert "does not begin as a WAV file does" in result.stderr
    assert not files[-1].exists()
