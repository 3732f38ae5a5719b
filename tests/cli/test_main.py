"""The entry point: Ctrl-C ends the command at any time, without a traceback."""

from __future__ import annotations

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
def test_while_the_user_s_file_is_imported(tmp_path, command):
    (tmp_path / "mine.py").write_text("import mine_too\n")
    assert ended("mine_too", command, tmp_path) == (130, "")


@pytest.mark.parametrize("module", MODULES)
def test_while_the_command_itself_is(tmp_path, module):
    assert ended(module, ["doctor", "--help"], tmp_path) == (130, "")


def test_the_script_is_a_module_that_imports_nothing_and_is_built_with_the_package() -> None:
    assert FUNCTION == "main"
    assert f"{SCRIPT}.py" in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    program = f"import sys; before = set(sys.modules); import {SCRIPT}; print(set(sys.modules) - before)"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert out.strip() == f"{{'{SCRIPT}'}}"
