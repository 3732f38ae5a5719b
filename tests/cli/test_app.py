"""The command as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

import livetools
from livetools.cli import main as entry


def test_every_command_has_help(run):
    listed = run("--help").stdout
    for name in ("chat", "tools", "check"):
        assert f"  {name} " in listed
        assert run(name, "--help").exit_code == 0


def test_h_is_help_everywhere(run):
    assert run("-h").stdout == run("--help").stdout
    assert run("web", "-h").stdout == run("web", "--help").stdout


def test_it_says_its_version_as_a_script_and_as_a_module(run):
    assert run("--version").stdout == f"livetools {livetools.__version__}\n"
    command = [sys.executable, "-m", "livetools", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"livetools {version('livetools')}\n"


def test_without_its_extra_the_command_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(entry.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install 'PATH/TO/CLONE\[cli\]'"):
        entry.main()


def test_it_runs_as_a_program():
    command = [sys.executable, "-c", "from livetools.cli.main import main; main()", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "chat" in done.stdout


def test_a_stream_that_knows_no_arrows_ends_no_conversation(agent):
    code = "from livetools.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "chat", "--fake", str(agent)],
        input=b"Weather in Oslo?\n",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        timeout=60,
        check=True,
    )
    assert 'get_weather(city="Oslo")' in done.stdout.decode("cp1252")
