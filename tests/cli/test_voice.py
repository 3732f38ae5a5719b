"""``livetools voice``, from a WAV file to a WAV file."""

from __future__ import annotations

import math
import struct
import sys
import wave

import pytest

from livetools.testing import FakeLiveServer, Turn

from .test_chat import Terminal


def write(path: object, seconds: float) -> None:
    """A tone of 16 kHz, loud enough to be heard as speech."""
    samples = [int(12000 * math.sin(2 * math.pi * 440 * n / 16000)) for n in range(int(16000 * seconds))]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def test_a_spoken_question_is_answered_into_a_file(run, agent, tmp_path):
    async def model(turn: Turn) -> None:
        weather = await turn.call("get_weather", city="Oslo")
        await turn.say(f"It is {weather['output']}.")

    server = FakeLiveServer(model).start()
    write(tmp_path / "question.wav", 0.2)
    try:
        result = run(
            "voice", f"{agent}:get_weather", "--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav",
            "--base-url", server.url,
        )  # fmt: skip
    finally:
        server.stop(check=False)
    assert result.exit_code == 0
    assert '→ get_weather(city="Oslo")' in result.stdout
    assert "gemini-3.8-live: It is 12 °C, rain." in result.stdout
    with wave.open(str(tmp_path / "answer.wav")) as answer:
        assert answer.getframerate() == 24000
        assert answer.getnframes() > 2400


def test_the_pretend_model_listens_and_calls_a_tool(run, agent, tmp_path):
    write(tmp_path / "question.wav", 0.2)
    files = ("--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav")
    result = run("voice", "--fake", f"{agent}:get_weather", *files)
    assert result.exit_code == 0
    assert '→ get_weather(city="city")' in result.stdout
    assert "pretend model: get_weather says: 12 °C, rain." in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [(["--in", "nowhere.wav", "--out", "answer.wav"], "nowhere.wav"), (["nowhere.py"], "nowhere.py")],
)
def test_what_cannot_be_read_is_told_in_one_line(run, monkeypatch, tmp_path, args, words):
    monkeypatch.chdir(tmp_path)
    result = run("voice", "--fake", *args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("typed", "outcome"), [("y\n", "gone"), ("n\n", "the user said no")])
def test_whoever_sits_at_the_keyboard_is_asked_for_an_approval(agent, tmp_path, typed, outcome):
    async def model(turn: Turn) -> None:
        await turn.say(str(await turn.call("erase", disk="sda")))

    server = FakeLiveServer(model).start()
    write(tmp_path / "question.wav", 0.2)
    try:
        with Terminal(
            "voice", agent, "--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav",
            "--base-url", server.url,
        ) as terminal:  # fmt: skip
            terminal.until('erase(disk="sda")')
            terminal.until("run it? [y/N]")
            terminal.type(typed)
            terminal.until(outcome)
    finally:
        server.stop(check=False)


def test_where_nobody_sits_at_the_keyboard_an_approval_is_refused_at_once(run, agent, tmp_path):
    write(tmp_path / "question.wav", 0.2)
    files = ("--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav")
    result = run("voice", "--fake", f"{agent}:erase", *files)
    assert result.exit_code == 0
    assert "nobody was there to be asked" in result.stdout
