"""The entry point: Ctrl-C ends the command at any time, without a traceback."""

from __future__ import annotations

import subprocess
import sys

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
from livetools.cli.main import main
sys.argv[0] = "livetools"
main()
"""
COMMANDS = (
    ["chat", "mine.py", "--fake"],
    ["voice", "mine.py", "--fake"],
    ["web", "mine.py", "--fake", "--port", "0"],
    ["eval", "mine.py", "--fake"],
    ["tools", "mine.py"],
)
MODULES = ("livetools.cli.app", "typer.main")


def ended(module: str, command: list[str], folder: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, module, *command],
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
