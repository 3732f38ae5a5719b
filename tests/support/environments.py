"""Environments of their own, for what other versions of other people's packages are tried with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Environment:
    """A virtual environment; ``LIVETOOLS_PEERS`` names a folder in which it is kept for the next run."""

    def __init__(self, name: str, otherwise: Path) -> None:
        folder = Path(os.environ.get("LIVETOOLS_PEERS", otherwise)) / name
        self.python = folder / "bin" / "python"
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)

    def install(self, *what: str) -> None:
        """Install these, as pip's command line has them. uv does it in seconds where it is there."""
        command = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if (uv := shutil.which("uv")) is not None:
            command = [uv, "pip", "install", "--quiet", "--python", self.python]
        done = subprocess.run([*command, *what], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def run(self, *arguments: str, timeout: float | None = None) -> str:
        """What the interpreter prints; a failure shows the end of it."""
        done = subprocess.run(
            [self.python, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=timeout
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        return done.stdout

    def passes(self, tests: Sequence[str], *, marks: str = "not slow and not peers", but: str = "") -> int:
        """How many of these tests pass, if all of them do.

        A warning of one version about another is nobody's fault here.
        """
        options = ["-q", "-m", marks, "-o", "filterwarnings=default", "-p", "no:cacheprovider"]
        told = self.run("-m", "pytest", *options, *(["-k", but] if but else []), *tests)
        [passed] = re.findall(r"(\d+) passed", told)
        return int(passed)
