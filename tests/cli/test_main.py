"""The entry point: Ctrl-C ends the command at any time, without a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

#: The command, in a process whose import of the module named first is interrupted by Ctrl-C.
INTERRUPT = """
import os, signal, sys

module = sys.argv.pop(1)

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupted())
from SCRIPT import main
sys.argv[0] = "livetools"
main()
"""
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SCRIPT, _, FUNCTION = PROJECT["project"]["scripts"]["livetools"].partition(":")
COMMANDS = (
    ["chat", "mine.py", "--fake"],
    ["voice", "mine.py", "--fake"],
    ["web", "mine.py", "--fake", "--port", "0"],
    ["eval", "mine.py", "--fake"],
    ["tools", "mine.py"],
)
MODULES = ("livetools", "livetools.events", "livetools.cli", "livetools.cli.app", "typer.main")


def ended(module: str, command: list[str], folder: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT.replace("SCRIPT", SCRIPT), module, *command],
        cwd=str(folder),
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_while_the_user_s_file_is_imported(tmp_path, monkeypatch, program, command):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    running = program(*command)
    _, err = running.rest()
    assert (running.process.wait(), err) == (130, "")


@pytest.mark.parametrize("module", MODULES)
def test_while_the_command_itself_is(tmp_path, module):
    assert ended(module, ["doctor", "--help"], tmp_path) == (130, "")


#: Runs commands, one after another, where standard output has the code page that it is told.
EVERYWHERE = """
import io, json, sys
from livetools.cli.main import main

told, commands = [], json.loads(sys.argv[1])
for command in commands:
    streams = [io.BytesIO(), io.BytesIO()]
    sys.stdout, sys.stderr = (io.TextIOWrapper(stream, encoding="cp1252") for stream in streams)
    sys.stdin = io.TextIOWrapper(io.BytesIO("天気 in Oslo?\\n".encode()), encoding="utf-8")
    sys.argv = ["livetools", *command]
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    sys.stdout.flush(), sys.stderr.flush()
    told.append([code, *(stream.getvalue().decode("cp1252") for stream in streams)])
print(json.dumps(told), file=sys.__stdout__)
"""


def everywhere(folder: Path, *commands: list[str], **environ: str) -> list[tuple[int, str, str]]:
    """Exit status, output and errors of each command, on a code page of Windows."""
    without = {"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GEMINI_API_KEY", "GOOGLE_API_KEY", "NO_COLOR"}
    kept = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [sys.executable, "-c", EVERYWHERE, json.dumps(commands)],
        cwd=folder, env={**kept, **environ}, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_no_command_breaks_on_a_code_page_in_forty_columns_of_a_dumb_terminal(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def get_weather(city: str) -> str:\n    '天気 🌦 → Current weather in a city.'\n    return '晴れ → 12 °C'\n",
        encoding="utf-8",
    )
    (tmp_path / "call.json").write_text('{"name": "天気", "args": {}, "idx": 1}', encoding="utf-8")
    names = ["chat", "voice", "web", "eval", "serve", "tools", "check", "record", "replay", "doctor", "probe"]
    helps = [["--help"], *([name, "--help"] for name in names)]
    *helped, tools, report, checked, chat, doctor = everywhere(
        tmp_path, *helps, ["tools", "mine.py"], ["check", "call.json", "--json"], ["check", "call.json"],
        ["chat", "mine.py", "--fake"], ["doctor"], COLUMNS="40", TERM="dumb",
    )  # fmt: skip
    for code, out, _ in helped:
        assert code == 0
        assert max(map(len, out.splitlines())) <= 40, out
    assert json.loads(tools[1])[0]["functionDeclarations"][0]["description"].startswith("天気 🌦 → Current")
    assert json.loads(report[1])["ok"] is False
    assert "\nx $.idx: 'idx' is not a field" in checked[1]
    assert "\nok args is a JSON object" in checked[1]
    assert chat[0] == 0
    assert '-> get_weather(city="Oslo")' in chat[1]
    assert "get_weather says: ?? -> 12 °C." in chat[1]
    assert doctor[0] == 1
    assert "\nx the settings name an endpoint and a key" in doctor[1]


#: Runs each command in a fork of its own. It ends as the worst of them does.
EACH = """
import os, sys
import livetools.cli.app
from livetools.cli.main import main

worst = 0
for command in sys.argv[1:]:
    if os.fork() == 0:
        sys.argv[1:] = command.split()
        sys.exit(main())
    worst = max(worst, abs(os.waitstatus_to_exitcode(os.wait()[1])))
sys.exit(worst)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_that_is_closed_from_the_start_is_an_empty_one(tmp_path, closed):
    (tmp_path / "mine.py").write_text(
        "def get_weather(city: str) -> str:\n    'Weather.'\n    return 'rain'\n"
    )
    (tmp_path / "mine.json").write_text('{"toolResponse": {"functionResponses": []}}')
    commands = ("chat mine.py --fake", "tools mine.py", "check --json mine.json")
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", EACH, *commands],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1)


def test_a_terminal_of_no_size_shows_all_that_another_does(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def get_weather(city: str) -> str:\n    'Weather.'\n    return 'rain'\n"
    )
    ((code, out, _),) = everywhere(tmp_path, ["chat", "mine.py", "--fake"], COLUMNS="0", LINES="0")
    assert code == 0
    assert "pretend model: " in out


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["cht"], "Did you mean 'chat'?"),
        (["chat", "--modle", "x"], "No such option: --modle. Did you mean --model?"),
        (["chat", "--zzz"], "No such option: --zzz."),
        (["--verson"], "No such option: --verson. Did you mean --version?"),
        (["chat", "two.py"], "has several agents (a, b): name one"),
        (["chat", "two.py:c"], "has no c"),
        (["chat", "--fake", "--config", "two.py"], "is not TOML"),
        (["chat", "--base-url", "ftp://x"], "'ftp://x' is not a URL"),
        (["serve", "--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["web", "--fake", "--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["replay", "two.py"], "not a line of a recording"),
        (["replay", "two.py", "--as-test"], "not a line of a recording"),
        (["doctor", "--timeout", "nan"], "is not a number of seconds above 0"),
        (["doctor", "--timeout", "-1"], "is not a number of seconds above 0"),
        (["doctor", "--base-url", "ftp://x"], "'ftp://x' is not a URL"),
        (["probe", "m", "--base-url", "ftp://x"], "'ftp://x' is not a URL"),
    ],
)
def test_a_wrong_call_ends_with_2_and_says_what_is_wrong(run, monkeypatch, tmp_path, command, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.py").write_text(
        "from functools import partial\nfrom livetools import connect\n"
        "a, b = partial(connect, 'm'), partial(connect, 'm')\n"
    )
    result = run(*command)
    assert result.exit_code == 2
    assert told in result.stderr


def test_the_script_is_a_module_that_imports_nothing_and_is_built_with_the_package() -> None:
    assert FUNCTION == "main"
    assert f"{SCRIPT}.py" in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    program = f"import sys; before = set(sys.modules); import {SCRIPT}; print(set(sys.modules) - before)"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert out.strip() == f"{{'{SCRIPT}'}}"


def _run(args: list[str], stdout: int, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "calls.json").write_text('{"functionCall": {"name": "x", "args": {}}}')
    (tmp_path / "mine.py").write_text(
        'def get_time(city: str) -> str:\n    """The time."""\n    return city\n'
    )
    return subprocess.run(
        [sys.executable, "-m", "livetools", *args],
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
        cwd=tmp_path, text=True, timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


WRITES = (["--help"], ["chat", "--help"], ["--version"], ["check", "calls.json"], ["tools", "mine.py"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full is one of Linux")
@pytest.mark.parametrize("args", WRITES, ids=" ".join)
def test_an_output_on_a_full_disk_ends_the_command_with_a_sentence(args: list[str], tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = _run(args, full, tmp_path)
    finally:
        os.close(full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "livetools: the output cannot be written: No space left on device"
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("args", WRITES, ids=" ".join)
def test_a_reader_that_has_gone_ends_the_command_in_silence(args: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = _run(args, writer, tmp_path)
    finally:
        os.close(writer)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "cannot be written" not in done.stderr
