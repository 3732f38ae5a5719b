"""The command, run in this process, on a machine without keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
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
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


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
