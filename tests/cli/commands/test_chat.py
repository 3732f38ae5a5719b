"""``livetools chat``, from a pipe and on a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from functools import partial

import pytest
from support.forked import MAIN, Forked

from livetools.cli.commands import chat as chat_command
from livetools.cli.commands.chat import COMMANDS, value_of
from livetools.cli.terminal.waiting_events import WaitingEvents
from livetools.testing import FakeLiveServer


def test_without_a_key_a_pretend_model_calls_the_functions(run, agent):
    result = run("chat", agent, input="Weather in Oslo?\n\nhello\n")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "pretend model" in lines[0]
    assert "no API key" in lines[0]
    assert lines[1] == "tools: get_weather, erase"
    assert lines[2:4] == ["> Weather in Oslo?", '  → get_weather(city="Oslo")']
    assert lines[4].startswith('  ← get_weather: "12 °C, rain"  (')
    assert lines[5:7] == ["pretend model: get_weather says: 12 °C, rain.", "> hello"]
    assert "I am a pretend model" in lines[7]
    assert "\x1b" not in result.stdout


def test_fake_is_asked_for_with_a_key_in_the_environment(run, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "a-real-one")
    result = run("chat", "--fake", input="hello")
    assert result.exit_code == 0
    assert "--fake" in result.stdout
    assert "a-real-one" not in result.output


def test_no_input_at_all_ends_well(run):
    assert run("chat", "--fake", input="").exit_code == 0


def test_two_questions_in_one_are_two_calls(run, agent):
    result = run("chat", f"{agent}:get_weather,get_time", input="weather in Oslo and time in Rome\n")
    assert "get_weather says: 12 °C, rain. get_time failed: the clock stands still." in result.stdout


def test_a_tool_that_fails_is_told_with_its_line_and_the_model_knows_less(run, agent):
    result = run("chat", f"{agent}:fails", input="fails with a count of 3\n")
    assert result.exit_code == 0
    assert f"ValueError at {agent}, line 21" in result.stderr
    assert "a secret" not in result.stdout
    assert "Traceback" not in result.stderr


def test_in_a_pipe_nobody_approves(run, agent):
    result = run("chat", agent, input="erase the disk sda\n")
    assert result.exit_code == 0
    assert '? erase(disk="sda")' in result.stdout
    assert "nobody was there to be asked" in result.stdout
    assert "approval needs an interactive terminal" in result.output
    assert "the user said no" not in result.output


def test_what_a_slow_terminal_has_not_shown_is_counted_and_an_approval_still_asked_for(
    run, agent, monkeypatch
):
    monkeypatch.setattr(chat_command, "WaitingEvents", partial(WaitingEvents, most=1))
    result = run("chat", agent, input="erase the disk sda\nhello\n")
    assert result.exit_code == 0
    assert "approval needs an interactive terminal" in result.output
    first, second = result.stdout.split("> hello")
    assert "events are not shown: more came than the terminal could show" in first
    assert "not shown: more came than the terminal could show" in second


def test_in_a_pipe_nobody_answers_for_a_function_without_a_handler(run, agent):
    agent.write_text("tools = [{'name': 'get_mood', 'description': 'The mood.'}]\n")
    result = run("chat", agent, input="what is your mood\n")
    assert result.exit_code == 0
    assert "get_mood failed: nobody was there to answer." in result.stdout


def test_what_is_missing_is_asked_for_and_remembered(run, agent):
    result = run("chat", agent, input="the weather, please\nBergen\n")
    assert "I do not find city" in result.stdout
    assert 'get_weather(city="Bergen")' in result.stdout


def test_a_named_endpoint_is_the_service(run, agent):
    server = FakeLiveServer().start()
    try:
        result = run("chat", agent, "--base-url", server.url, "--instructions", "Be brief.", input="hello\n")
    finally:
        server.stop()
    assert result.exit_code == 0
    assert "gemini-3.8-live: hello" in result.stdout
    assert "pretend" not in result.stdout
    assert server.sessions[0].setup["systemInstruction"]["parts"] == [{"text": "Be brief."}]


def test_the_environment_names_the_endpoint_too(run, monkeypatch):
    server = FakeLiveServer().start()
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.http_url)
    try:
        assert "gemini-3.8-live: hello" in run("chat", input="hello\n").stdout
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("args", "words", "status"),
    [
        (["--base-url", "ws://127.0.0.1:1"], "nobody listens on 127.0.0.1:1", 1),
        (["--fake", "--model", "no-such-model"], "no-such-model is not found", 1),
        (["--fake", "--model", "gemini-3.8-live-extended-thinking"], "thinking level", 1),
        (["--fake", "--base-url", "ws://127.0.0.1:1"], "pass only one of them", 2),
        (["nowhere.py"], "there is no file nowhere.py", 2),
        (["no_such_module"], "there is no module 'no_such_module'", 2),
        (["--fake", "--force"], "name one", 2),
    ],
)
def test_an_error_is_one_clear_line_and_a_wrong_call_ends_with_2(run, args, words, status):
    result = run("chat", *args, input="hello\n")
    assert result.exit_code == status
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_a_model_that_thinks_is_told_how_much(run):
    result = run(
        "chat", "--fake", "--model", "gemini-3.8-live-extended-thinking", "--thinking", "low", input="hello"
    )
    assert result.exit_code == 0
    assert "pretend model: " in result.stdout


def test_a_session_that_ends_in_the_middle_of_an_answer_is_told(run):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.close(1008, "Your API key was reported as leaked.")

    server.start()
    try:
        result = run("chat", "--base-url", server.url, input="hello\nagain\n")
    finally:
        server.stop(check=False)
    assert result.exit_code == 1
    assert "reported as leaked" in result.stderr
    assert "> again" not in result.stdout


PROMPT = "\x1b[J\x1b[0m>"  # prompt_toolkit clears the rest of the screen before it


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("key", ["Ctrl-C", "Ctrl-D"])
def test_on_a_terminal_it_ends_cleanly(agent, key):
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("Weather in Oslo?\n")
        terminal.until("get_weather says: 12 °C, rain.")
        terminal.until(PROMPT)
        if key == "Ctrl-C":
            terminal.process.send_signal(signal.SIGINT)
            terminal.until("Ctrl-C once more, or Ctrl-D, ends the conversation.")
            terminal.until(PROMPT)
            terminal.interrupt()
        else:
            terminal.type("\x04")
        assert terminal.process.wait(timeout=60) == 0
    assert "Traceback" not in terminal.screen


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_a_person_approves(agent):
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("erase the disk sda\n")
        terminal.until("run it? [y/N]")
        terminal.type("y\n")
        terminal.until("erase says: gone")
        terminal.until(PROMPT)
        terminal.type("\x04")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_what_was_typed_before_the_question_approves_nothing(agent):
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("erase the disk sda\ny\n")
        terminal.until("run it? [y/N]")
        terminal.type("n\n")
        terminal.until("the user said no")
        terminal.until(PROMPT)
        terminal.type("\x04")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_a_person_answers_for_a_function_without_a_handler(agent):
    agent.write_text("tools = [{'name': 'get_mood', 'description': 'The mood.'}]\n")
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("what is your mood\n")
        terminal.until("get_mood returns:")
        terminal.type("sunny\n")
        terminal.until("get_mood says: sunny.")
        terminal.type("what is your mood\n")
        terminal.until("get_mood returns:")
        terminal.type('{"degrees": 5}\n')
        terminal.until("degrees")
        terminal.until(PROMPT)
        terminal.type("\x04")


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("5", 5), ("-1.5", -1.5), ("true", True), ("null", None), ('"5"', "5"), ('{"a": [1]}', {"a": [1]}),
        ("sunny", "sunny"), ("5 degrees", "5 degrees"), ("NaN", "NaN"), ("-Infinity", "-Infinity"), ("", ""),
        ("{a: 1}", "{a: 1}"), ("[" * 100_000, "[" * 100_000),
    ],
)  # fmt: skip
def test_what_is_typed_for_a_result_is_json_where_it_is_json(typed, value):
    assert value_of(typed) == value
    assert type(value_of(typed)) is type(value)


class Terminal:
    """The command at a terminal, with somebody who reads and types."""

    def __init__(self, *args: object, code: str = MAIN, **environ: str) -> None:
        self._fd, other = os.openpty()
        # a terminal that does not say where its cursor is: nobody here would answer that question
        environ = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", **environ}
        self.process = Forked(*args, stdin=other, stdout=other, stderr=other, code=code, env=environ)
        os.close(other)
        self._bytes, self._read = b"", 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.poll() is None and exc[0] is not None:
            self.process.kill()
        self.process.wait(timeout=60)
        os.close(self._fd)

    @property
    def screen(self) -> str:
        return self._bytes.decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, again if need be: between the prompt and the read of a line it is not heard.

        Not soon: a second one ends a program that is still busy with its own end.
        """
        for _ in range(3):
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=20)
                return

    def until(self, text: str) -> None:
        """Read on until this stands behind what was awaited last."""
        while text.encode() not in self._bytes[self._read :]:
            assert select.select([self._fd], [], [], 60)[0], self.screen
            try:
                self._bytes += os.read(self._fd, 4096)
            except OSError:  # the other end is closed
                raise AssertionError(f"it ended before it said {text!r}:\n{self.screen}") from None
        self._read = self._bytes.index(text.encode(), self._read) + len(text.encode())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_ctrl_c_cuts_an_answer_off(agent):
    agent.write_text(
        "import asyncio\n\nasync def wait_long(word: str) -> str:\n    'Wait for a long time.'\n"
        "    print('waiting', flush=True)\n    await asyncio.sleep(60)\n    return word\n"
    )
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("wait long for a word\n")
        terminal.until("waiting")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("Ctrl-C: you interrupted.")
        terminal.until(PROMPT)
        terminal.type("/quit\n")
        assert terminal.process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    "environ",
    [
        {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40"},
        {"XDG_STATE_HOME": "/dev/null/state", "HOME": "/dev/null"},  # nothing can be kept
    ],
    ids=["dumb", "homeless"],
)
def test_any_terminal_will_do(agent, environ):
    with Terminal("chat", agent, "--fake", **environ) as terminal:
        terminal.until(">")
        terminal.type("weather in Oslo\n")
        terminal.until("get_weather says: 12 °C, rain.")
        terminal.until(">")
        terminal.type("/quit\n")
        assert terminal.process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_ctrl_c_at_a_question_refuses_the_call_and_the_conversation_goes_on(agent):
    agent.write_text(
        "import livetools\n\n@livetools.tool(approval=True)\ndef order_pizza(name: str) -> str:\n"
        "    'Order a pizza.'\n    return 'ordered'\n"
    )
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("order pizza Margherita\n")
        terminal.until("[y/N]")
        terminal.type("\x03")
        terminal.until("the user interrupted")
        terminal.until(PROMPT)
        terminal.type("/quit\n")
        assert terminal.process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_what_was_typed_is_kept_for_the_next_time(agent, tmp_path):
    with Terminal("chat", agent, "--fake") as terminal:
        terminal.until(">")
        terminal.type("hello there\n")
        terminal.until("pretend model")
        terminal.until(PROMPT)
        terminal.type("\x04")
    kept = tmp_path / "state" / "livetools" / "chat_history"
    assert "+hello there" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_commands_show_what_the_session_knows(run, agent):
    result = run(
        "chat", "--fake", agent, input="hello\n/tools\n/usage\n/stats\n/interrupt\n/what\n/quit\nunread\n"
    )
    assert result.exit_code == 0, result.output
    assert "\n  get_weather\n  erase\n" in result.stdout
    assert "tokens: " in result.stdout
    assert '"waiting_for"' in result.stdout
    assert "there is no /what; there are /help, /tools, " in result.stdout
    assert "unread" not in result.stdout


def test_help_lists_every_command_with_what_it_does(run):
    result = run("chat", "--fake", input="/help\n")
    for name, (_, does) in COMMANDS.items():
        assert f"  {name:<12}{does}\n" in result.stdout


@pytest.mark.parametrize("word", ["exit", "Quit"])
def test_a_goodbye_to_the_program_is_hinted_at(run, word):
    result = run("chat", "--fake", input=f"{word}\nexit the building\n")
    assert result.stdout.count("/quit or Ctrl-D ends the conversation.") == 1
    assert f"'{word}' goes to the model" in result.stdout


def test_stats_are_rounded_for_the_reader(run):
    result = run("chat", "--fake", input="hello\n/stats\n")
    mean = re.search(r'"mean": ([^,]+),', result.stdout)[1]
    assert 0 < float(mean) == float(f"{float(mean):.3g}")


def test_reload_needs_a_file(run):
    assert run("chat", "--fake", "--reload", input="").exit_code == 2
