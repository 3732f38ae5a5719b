"""What ``mypy --strict`` accepts and refuses of a program that uses the library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def complaints(file: Path) -> dict[int, str]:
    """The errors of mypy in this file, by line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--follow-imports=silent"]
    ran = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    found = re.findall(rf"{file.name}:(\d+): error: (.*)", ran.stdout)
    return {int(line): text for line, text in found}


def test_what_works_is_accepted() -> None:
    assert complaints(HERE / "accepted.py") == {}


def test_nonsense_is_refused_in_its_line() -> None:
    file = HERE / "refused.py"
    marked = [n for n, line in enumerate(file.read_text().splitlines(), 1) if line.endswith("# refused")]
    assert sorted(complaints(file)) == marked
