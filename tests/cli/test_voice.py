"""``livetools voice``, from a WAV file to a WAV file."""

from __future__ import annotations

import math
import struct
import wave

import pytest

from livetools.testing import FakeLiveServer, Turn


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
    assert result.exit_code == 1
    assert words in result.stderr
    assert "Traceback" not in result.output
