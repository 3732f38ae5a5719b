"""``mutations.py``: which tables it breaks, and whether every mutant is caught (in the slow lane: ``make mutants``)."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

from livetools import protocol

TESTS = Path(__file__).parent


def tables() -> list[str]:
    """The modules of the protocol that hold a table of states."""
    names = [info.name for info in pkgutil.walk_packages(protocol.__path__, f"{protocol.__name__}.")]
    return [name for name in names if hasattr(importlib.import_module(name), "TABLE")]


def test_every_table_of_the_protocol_is_broken() -> None:
    source = (TESTS / "mutations.py").read_text(encoding="utf-8")
    assert len(tables()) == 3
    assert not [name for name in tables() if not is_broken(name, source)]


def is_broken(name: str, source: str) -> bool:
    """Whether the source imports this module, and breaks its table."""
    folder, _, module = name.rpartition(".")
    imported = re.search(rf"^from {re.escape(folder)} import {module}(?: as (\w+))?$", source, re.MULTILINE)
    return imported is not None and f"({imported[1] or module}.TABLE, " in source


def test_everything_that_it_imports_is_there() -> None:
    command = [sys.executable, "-c", "import mutations"]
    ran = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_mutant_is_caught() -> None:
    command = [sys.executable, str(TESTS / "mutations.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1700)
    survivors = [line for line in ran.stdout.splitlines() if line.startswith("SURVIVED")]
    assert not survivors, ran.stderr
    assert ran.returncode == 0, ran.stderr
