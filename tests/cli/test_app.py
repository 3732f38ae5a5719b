"""The command as a whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

from livetools.cli import main as entry


def test_every_command_has_help(run):
    listed = run("--help").stdout
    for name in ("chat", "tools", "check"):
        assert f"  {name} " in listed
        assert run(name, "--help").exit_code == 0


def test_without_its_extra_the_command_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(entry.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install 'livetools\[cli\]'"):
        entry.main()


def test_it_runs_as_a_program():
    command = [sys.executable, "-c", "from livetools.cli.main import main; main()", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "chat" in done.stdout
