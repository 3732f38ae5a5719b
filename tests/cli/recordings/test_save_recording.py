"""``chat --save``, ``/save``, ``voice --save`` and ``replay --as-test``: a conversation in a file, and as a test."""

from __future__ import annotations

import os
import re
import stat

import pytest
from support.apart import run_pytest

from livetools import ConfigError
from livetools.audio import write_wav
from livetools.cli.recordings.save_recording import opened
from livetools.testing import Frame, Recording

QUESTIONS = "Weather in Oslo?\nhello\n"


def messages(file):
    return [frame.message for frame in Recording.load(file).frames]


def test_a_chat_is_written_down_as_it_is_held(run, agent, tmp_path):
    file = tmp_path / "talk.jsonl"
    result = run("chat", agent, "--save", file, input=QUESTIONS)
    assert result.exit_code == 0
    kinds = [next(iter(message), "") for message in messages(file)]
    assert kinds[:2] == ["setup", "setupComplete"]
    assert "toolCall" in kinds
    assert "toolResponse" in kinds
    assert kinds[-1] == "_close"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_a_file_that_exists_is_overwritten_only_with_force(run, agent, tmp_path):
    file = tmp_path / "talk.jsonl"
    file.write_text("precious", encoding="utf-8")
    result = run("chat", agent, "--save", file, input=QUESTIONS)
    assert result.exit_code != 0
    assert f"{file} exists: --force overwrites it" in result.stderr
    assert file.read_text(encoding="utf-8") == "precious"
    assert run("chat", agent, "--save", file, "--force", input=QUESTIONS).exit_code == 0
    assert "setup" in messages(file)[0]


def test_force_alone_and_a_place_that_cannot_be_written_are_refused_in_words(run, agent, tmp_path):
    assert "name one" in run("chat", agent, "--force", input="").stderr
    nowhere = tmp_path / "missing" / "talk.jsonl"
    result = run("chat", agent, "--save", nowhere, input="")
    assert f"{nowhere}: No such file" in result.stderr
    assert result.exit_code != 0


def test_a_disk_that_is_full_is_told_with_the_file_of_the_recording(tmp_path):
    resource = pytest.importorskip("resource", reason="Windows limits no files")
    file, before = tmp_path / "talk.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)

    def record():
        with opened(Recording(file, mode="x")) as recording:
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
            recording.add(Frame(0.0, "client", 1, {"setup": {"model": "models/gemini-3.8-live"}}))

    try:
        with pytest.raises(ConfigError, match=re.escape(f"{file} cannot be written: File too large")):
            record()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_save_in_a_chat_writes_what_was_said_so_far_and_overwrites_nothing(run, agent, tmp_path):
    file = tmp_path / "my talk.jsonl"
    said = f"Weather in Oslo?\n/save {file}\n/save {file}\n/save\nhello\n/save --force {file}\n"
    result = run("chat", agent, input=said)
    assert result.exit_code == 0
    told = [line for line in result.stdout.splitlines() if "frames in" in line or "/save" in line]
    assert told[1].endswith(f"frames in {file}")
    assert f"{file} exists: /save --force {file}" in result.stdout
    assert "/save FILE: where to?" in result.stdout
    assert any("hello" in str(message) for message in messages(file))


def test_a_spoken_conversation_is_written_down(run, agent, tmp_path):
    question, file = tmp_path / "question.wav", tmp_path / "talk.jsonl"
    write_wav(question, bytes(3200), rate=16000)
    run("voice", agent, "--fake", "--in", question, "--out", tmp_path / "answer.wav", "--save", file)
    assert any("realtimeInput" in message for message in messages(file))


@pytest.fixture
def talk(run, agent, tmp_path):
    file = tmp_path / "talk.jsonl"
    assert run("chat", agent, "--save", file, input=QUESTIONS).exit_code == 0
    return file


def test_a_recording_is_printed_as_a_test_that_runs_and_passes(run, agent, talk, tmp_path):
    result = run("replay", "--as-test", talk, agent)
    assert result.exit_code == 0
    assert "as talk.jsonl has it" in result.stdout.splitlines()[0]
    assert "turn.start_call('get_weather', city='Oslo')" in result.stdout
    test = tmp_path / "test_it.py"
    test.write_text(result.stdout, encoding="utf-8")
    ran = run_pytest("-q", "--rootdir", "/", test, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_the_printed_test_fails_where_the_tool_has_another_result(run, agent, talk, tmp_path):
    test = tmp_path / "test_it.py"
    printed = run("replay", "--as-test", talk, agent).stdout
    test.write_text(
        printed.replace("'get_weather', city='Oslo'", "'get_weather', town='Oslo'"), encoding="utf-8"
    )
    assert run_pytest("-q", "--rootdir", "/", test, cwd=tmp_path).returncode == 1


def test_what_cannot_become_a_test_is_told(run, talk, tmp_path):
    other = tmp_path / "others.py"
    other.write_text('def other() -> str:\n    """Another."""\n    return ""\n', encoding="utf-8")
    result = run("replay", "--as-test", talk, other)
    assert result.exit_code != 0
    assert "calls get_weather, which" in result.stderr
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    assert "no question has been answered" in run("replay", "--as-test", empty).stderr
    assert "does not exist" in run("replay", "--as-test", tmp_path / "missing.jsonl").stderr
    odd = tmp_path / "odd.jsonl"
    odd.write_text("{}\n", encoding="utf-8")
    assert "not a line of a recording" in run("replay", "--as-test", odd).stderr
    assert "TARGET is for --as-test" in run("replay", talk, other).stderr


@pytest.mark.parametrize(
    "edited", ['"toolCall": "x"', '"toolCall": {"functionCalls": ["x"]}', '"serverContent": ["x"]']
)
def test_a_recording_that_was_edited_into_another_shape_is_told(run, tmp_path, edited):
    file = tmp_path / "talk.jsonl"
    start = '{"time": 0, "connection": 1, "direction": '
    file.write_text(
        f'{start}"client", "frame": {{"setup": {{"model": "models/gemini-3.8-live"}}}}}}\n'
        f'{start}"client", "frame": {{"realtimeInput": {{"text": "hello"}}}}}}\n'
        f'{start}"server", "frame": {{{edited}}}}}\n',
        encoding="utf-8",
    )
    result = run("replay", "--as-test", file)
    assert result.exit_code == 1
    assert "a frame is not shaped as those of a session are" in result.stderr
