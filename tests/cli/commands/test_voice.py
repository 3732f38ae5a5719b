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


MOOD = "tools = [{'name': 'get_mood', 'description': 'The mood.'}]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_whoever_sits_at_the_keyboard_answers_for_a_function_without_a_handler(agent, tmp_path):
    agent.write_text(MOOD)

    async def model(turn: Turn) -> None:
        await turn.say(str(await turn.call("get_mood")))

    server = FakeLiveServer(model).start()
    write(tmp_path / "question.wav", 0.2)
    try:
        with Terminal(
            "voice", agent, "--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav",
            "--base-url", server.url,
        ) as terminal:  # fmt: skip
            terminal.until("get_mood returns:")
            terminal.type("5\n")
            terminal.until("{'output': 5}")
    finally:
        server.stop(check=False)


def test_where_nobody_sits_at_the_keyboard_the_model_is_told_so(run, agent, tmp_path):
    agent.write_text(MOOD)
    write(tmp_path / "question.wav", 0.2)
    files = ("--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav")
    result = run("voice", "--fake", agent, *files)
    assert result.exit_code == 0
    assert "nobody was there to answer" in result.stdout


class Card:
    """A double of the module sounddevice: a microphone that hears a tone, and a speaker that nobody hears."""

    class PortAudioError(Exception):
        pass

    DEVICES = (
        {"index": 0, "name": "Desk Mic", "max_input_channels": 1, "max_output_channels": 0},
        {"index": 3, "name": "Phones", "max_input_channels": 0, "max_output_channels": 2},
    )

    @classmethod
    def query_devices(cls, device=None, kind=None):
        if kind is None:
            return cls.DEVICES
        if device not in (None, 0, 3, "Desk Mic", "Phones"):
            raise ValueError(f"No {kind} device matching {device!r}")
        return {"default_samplerate": 16000.0 if kind == "input" else 24000.0}


def test_the_devices_are_listed_by_number_and_name(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", Card)
    result = run("voice", "--devices")
    assert result.exit_code == 0
    assert result.stdout == "microphones:\n  0: Desk Mic\nspeakers:\n  3: Phones\n"


def test_a_device_that_there_is_not_is_a_wrong_call_that_names_those_that_there_are(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", Card)
    monkeypatch.setattr(Card, "check_input_settings", lambda **settings: None, raising=False)
    monkeypatch.setattr(Card, "check_output_settings", lambda **settings: None, raising=False)
    result = run("voice", "--fake", "--microphone", "Headset")
    assert result.exit_code == 2
    assert "--microphone: The input device 'Headset' cannot be used" in result.stderr
    assert "0: Desk Mic" in result.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--push-to-talk"], "needs the keyboard of a Unix terminal"),
        (["--push-to-talk", "--in", "question.wav"], "pass only one of them"),
        (["--in", "agent.py", "--out", "answer.wav"], "--in: agent.py cannot be read"),
        (["--in", "question.wav", "--out", "no/folder/answer.wav"], "--out: no/folder/answer.wav"),
    ],
)
def test_a_wrong_call_ends_with_2_before_anything_is_said(run, agent, monkeypatch, tmp_path, args, told):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "question.wav", 0.1)
    result = run("voice", "--fake", *args)
    assert result.exit_code == 2
    assert told in result.stderr


#: ``livetools voice`` with a microphone that hears a tone all the time.
SPEAKING = """
import sys, threading, time, struct, math
from types import SimpleNamespace

TONE = struct.pack("<640h", *(int(9000 * math.sin(n / 9)) for n in range(640)))

class Stream:
    latency = 0.0
    def __init__(self, callback, finished_callback, **settings):
        self.callback, self.over = callback, threading.Event()
    def start(self):
        threading.Thread(target=self.run, daemon=True).start()
    def run(self):
        while not self.over.wait(0.04):
            self.callback(TONE, 640, None, None)
    def abort(self):
        self.over.set()
    close = abort

class Silent(Stream):
    def start(self): pass

sys.modules["sounddevice"] = SimpleNamespace(
    PortAudioError=OSError, RawInputStream=Stream, RawOutputStream=Silent,
    check_input_settings=lambda **s: None, check_output_settings=lambda **s: None,
    query_devices=lambda device=None, kind=None: {"default_samplerate": 16000 if kind == "input" else 24000},
)
from livetools.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_key_begins_and_ends_what_the_model_hears_and_a_meter_shows_it(agent):
    async def model(turn: Turn) -> None:
        await turn.call("erase", disk="sda")
        await turn.say(f"I have heard {len(turn.audio) > 0}.")

    server = FakeLiveServer(model).start()
    try:
        with Terminal("voice", agent, "--push-to-talk", "--base-url", server.url, code=SPEAKING) as terminal:
            terminal.until("space to speak  [--------------------]")
            terminal.type(" ")
            terminal.until("speak, space sends  [####")
            terminal.type(" ")
            terminal.until("run it? [y/N]")
            terminal.type("y\n")
            terminal.until("I have heard True.")
            terminal.until("space to speak")
            terminal.interrupt()
            terminal.until("Ctrl-C: you ended the conversation.")
            assert terminal.process.wait(timeout=60) == 0
        setup = server.sessions[0].setup
        assert setup["realtimeInputConfig"]["automaticActivityDetection"] == {"disabled": True}
    finally:
        server.stop(check=False)


def test_where_nobody_sits_at_the_keyboard_an_approval_is_refused_at_once(run, agent, tmp_path):
    write(tmp_path / "question.wav", 0.2)
    files = ("--in", tmp_path / "question.wav", "--out", tmp_path / "answer.wav")
    result = run("voice", "--fake", f"{agent}:erase", *files)
    assert result.exit_code == 0
    assert "nobody was there to be asked" in result.stdout
