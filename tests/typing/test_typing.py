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

#: Whole packages are read where nothing is kept of an earlier run, and the machine may be busy.
LIMIT = 600.0
pytestmark = pytest.mark.timeout(1.1 * LIMIT)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run(*command: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout


#: A run reads both: most of its time goes into the imports.
FILES = [str(path) for path in sorted(HERE.glob("*ed.py"))]

#: What the project's settings find beyond ``--strict``. Nobody is refused a program for it.
BEYOND_STRICT = {"ignore-without-code", "redundant-expr", "truthy-bool", "unreachable"}


@functools.cache
def _mypy() -> dict[str, set[int]]:
    """The lines with an error, by file. The settings are the project's, so that what ``make types`` has read is kept.

    Other settings would make mypy read the package again, here and then in ``make types``.
    """
    lines: dict[str, set[int]] = {Path(file).name: set() for file in FILES}
    told = run("mypy", *FILES)
    for name, line, code in re.findall(r"(\w+\.py):(\d+): error: .*?(?:\[([\w-]+)\])?$", told, re.MULTILINE):
        if name in lines and code not in BEYOND_STRICT:
            lines[name].add(int(line))
    return lines


def mypy(file: str) -> set[int]:
    """The lines of this file in which ``mypy --strict`` sees an error."""
    return _mypy()[file]


@functools.cache
def _pyright() -> dict[str, set[int]]:
    """The lines with an error, by file."""
    told = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, *FILES))
    lines: dict[str, set[int]] = {Path(file).name: set() for file in FILES}
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
