"""The voice agent, from a WAV file to a WAV file, against the fake server."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from livetools.audio import read_wav, silence, wav_format, write_wav
from livetools.testing import FakeLiveServer

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

EXAMPLE = Path(__file__).parents[2] / "examples" / "voice_agent.py"
SPEECH = array(
    "h", (int(8000 * math.sin(n / 10)) for n in range(1600))
).tobytes()  # 0.1 s that is loud enough


@pytest.fixture
def voice_agent(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE.parent)  # its neighbour, `offline`
    spec = importlib.util.spec_from_file_location("voice_agent_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def service(monkeypatch):
    """A fake server that the environment points at, as a key would point at the service."""

    def use(server: FakeLiveServer) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.http_url)
        monkeypatch.setenv("GEMINI_API_KEY", "fake-key")

    return use


async def test_a_spoken_question_is_answered_by_a_tool_and_spoken_into_a_file(
    voice_agent, service, tmp_path, capsys
):
    write_wav(tmp_path / "question.wav", SPEECH, rate=16000)
    async with FakeLiveServer() as server:
        service(server)

        @server.model
        async def model(turn):
            assert turn.audio.startswith(SPEECH)
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.", audio=b"\x01\x02" * 2400)

        await voice_agent.main([str(tmp_path / "question.wav"), str(tmp_path / "answer.wav")])
    assert b"".join(read_wav(tmp_path / "answer.wav", rate=24000)) == b"\x01\x02" * 2400
    told = capsys.readouterr().out
    assert "[get_weather {'city': 'Oslo'} → {'output': '12 °C, rain'}]" in told
    assert "It is 12 °C, rain." in told


async def test_who_cuts_in_hears_the_rest_no_more(voice_agent, service, tmp_path, capsys):
    question = SPEECH + silence(0.7) + SPEECH
    write_wav(tmp_path / "question.wav", question, rate=16000)
    turns = []
    async with FakeLiveServer() as server:
        service(server)
        server.pace = 1  # in real time: what is cut off is not even sent

        @server.model
        async def model(turn):
            turns.append(turn)
            first = len(turns) == 1
            await turn.say("A long story." if first else "Yes?", audio=bytes(480_000 if first else 4800))

        await voice_agent.main([str(tmp_path / "question.wav"), str(tmp_path / "answer.wav")])
    assert len(turns) == 2
    assert 0.1 < wav_format(tmp_path / "answer.wav").seconds < 2.0  # of ten seconds and a tenth
    assert "[interrupted]" in capsys.readouterr().out


def test_a_question_that_cannot_be_read_is_one_clear_line_and_leaves_no_answer(tmp_path):
    (tmp_path / "question.wav").write_bytes(b"not a sound")
    command = [sys.executable, EXAMPLE, tmp_path / "question.wav", tmp_path / "answer.wav"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "does not begin as a WAV file does" in run.stderr
    assert not (tmp_path / "answer.wav").exists()
