"""Callers: scripts, files, voices."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from livetools import ConfigError
from livetools.audio import write_wav
from livetools.evals import Conversation, Script, TurnRecord, Utterance, spoken, wav
from livetools.evals.simulation.callers import espeak

pytestmark = pytest.mark.anyio


async def test_a_script_says_its_turns_in_order_and_hangs_up():
    script, conversation, said = Script(["one", Utterance("two")]), Conversation(), []
    while (utterance := await script.next(conversation)) is not None:
        said.append(utterance.text)
        conversation.turns.append(TurnRecord(utterance.text, 0.0))
    assert said == ["one", "two"]
    assert await script.next(Conversation()) == Utterance("one")  # another conversation begins anew


def test_a_script_without_turns_is_refused():
    with pytest.raises(ConfigError, match="one turn at least"):
        Script([])


def test_a_wav_file_is_an_utterance(tmp_path):
    file = tmp_path / "question.wav"
    write_wav(file, bytes(32000), rate=16000)
    assert wav(file).text == "(question.wav)"
    assert sum(map(len, wav(file, "Hello?").sound)) == 32000
    assert wav(file, "Hello?").text == "Hello?"


def test_a_text_is_spoken_by_the_voice_that_is_given():
    assert spoken("hello", lambda text: [text.encode()]) == Utterance("hello", (b"hello",))


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_espeak_speaks_a_text_even_one_that_looks_like_an_option():
    assert sum(map(len, espeak("--help, please"))) > 16000  # half a second at least


def test_a_voice_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="apt-get install espeak-ng"):
        espeak("hello")


def test_a_voice_that_fails_raises(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/false")
    with pytest.raises(subprocess.CalledProcessError):
        espeak("hello")
