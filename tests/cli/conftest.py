"""The command, run in this process, on a machine without keys."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.forked import Forked
from typer.testing import CliRunner, Result

from livetools.cli.app import app

KEYS = (
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_ENTERPRISE",
    "SSL_CERT_FILE",
)

#: What a terminal says of itself, and what people say of how they want it.
TERMINAL = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS")

MODULE = '''
"""Tools for the tests."""
from livetools import ToolError, Toolset, tool

@tool
def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"

@tool(approval=True)
def erase(disk: str) -> str:
    """Erase a disk."""
    return "gone"

def get_time(city: str) -> str:
    """The time of day in a city."""
    raise ToolError("the clock stands still")

def fails(count: int) -> str:
    """Fails with a count."""
    raise ValueError("a secret")

def no_schema(thing: object()) -> str:
    """What no schema can say."""
'''


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # what the commands keep
    for name in TERMINAL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")  # whatever the terminal is in which the tests run


@pytest.fixture
def agent(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A file with tools."""
    file = tmp_path / "agent.py"
    file.write_text(MODULE, encoding="utf-8")
    return file


@pytest.fixture
def run() -> Callable[..., Result]:
    """``run("chat", "--fake", input="hello\\n")``: the result, with .exit_code, .stdout and .stderr."""

    def run(*args: object, input: str | None = None) -> Result:
        return CliRunner().invoke(app, [str(arg) for arg in args], input=input, catch_exceptions=False)

    return run


class Program:
    """The command in a process of its own, that serves until it is interrupted, or until this is left."""

    def __init__(self, *args: object) -> None:
        with ExitStack() as files:
            self._err = files.enter_context(tempfile.TemporaryFile())
            read, write = os.pipe()
            self._out = files.enter_context(open(read, encoding="utf-8"))
            with open(os.devnull) as nothing, open(write, "wb") as out:
                streams = {"stdin": nothing.fileno(), "stdout": out.fileno(), "stderr": self._err.fileno()}
                self.process = Forked(*args, **streams)
            self._files = files.pop_all()
        self.lines: list[str] = []

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.wait()
        self._files.close()

    def until(self, word: str) -> str:
        """Read its output up to the first line that holds this word: that line."""
        for line in self._out:
            self.lines.append(line.rstrip("\n"))
            if word in line:
                return self.lines[-1]
        raise AssertionError(f"no line with {word!r} in {self.lines}, and {self.rest()[1]}")

    def url(self) -> str:
        """The base URL that it announces."""
        return self.until("export GOOGLE_GEMINI_BASE_URL=").partition("=")[2]

    def rest(self) -> tuple[str, str]:
        """What else it says until it has ended, and all its errors."""
        out = self._out.read()
        self.process.wait(timeout=60)
        self._err.seek(0)
        return out, self._err.read().decode("utf-8")

    def end(self, signal: int = signal.SIGINT) -> tuple[int, str, str]:
        """Interrupt it: its exit status, the rest of its output, its errors."""
        self.process.send_signal(signal)
        out, err = self.rest()
        return self.process.wait(), out, err


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    with ExitStack() as programs:
        yield lambda *args: programs.enter_context(Program(*args))
