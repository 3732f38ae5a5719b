"""What ``mypy --strict`` and pyright accept and refuse of a program that uses the library."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run(*command: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=110
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout


@functools.cache
def mypy(file: str) -> set[int]:
    """The lines of this file in which mypy sees an error."""
    told = run("mypy", "--strict", "--config-file", "", "--follow-imports=silent", str(HERE / file))
    return {int(line) for line in re.findall(rf"{file}:(\d+): error: ", told)}


@functools.cache
def _pyright() -> dict[str, set[int]]:
    """The lines with an error, by file. One run reads both files: most of its time goes into the imports."""
    files = [str(path) for path in HERE.glob("*ed.py")]
    told = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, *files))
    lines: dict[str, set[int]] = {Path(file).name: set() for file in files}
    for error in told["generalDiagnostics"]:
        lines[Path(error["file"]).name].add(error["range"]["start"]["line"] + 1)
    return lines


def pyright(file: str) -> set[int]:
    """The same of pyright, where it can run."""
    if not _pyright_runs():
        pytest.skip("pyright does not run: it wants its package, Node, and npm's registry the first time")
    return _pyright()[file]


@functools.cache
def _pyright_runs() -> bool:
    if find_spec("pyright") is None or shutil.which("node") is None:
        return False
    return subprocess.run([sys.executable, "-m", "pyright", "--version"], capture_output=True).returncode == 0


CHECKERS = pytest.mark.parametrize("checker", [mypy, pyright], ids=["mypy", "pyright"])


@CHECKERS
def test_what_works_is_accepted(checker: Callable[[str], set[int]]) -> None:
    assert checker("accepted.py") == set()


@CHECKERS
def test_nonsense_is_refused_in_its_line(checker: Callable[[str], set[int]]) -> None:
    lines = (HERE / "refused.py").read_text().splitlines()
    assert checker("refused.py") == {n for n, line in enumerate(lines, 1) if line.endswith("# refused")}
