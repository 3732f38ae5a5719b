"""``mutations.py``: which tables it breaks, and whether every mutant is caught (in the slow lane: ``make mutants``)."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from livetools import protocol

TESTS = Path(__file__).parent


def tables() -> list[str]:
    """The modules of the protocol that hold a table of states."""
    names = [info.name for info in pkgutil.iter_modules(protocol.__path__, f"{protocol.__name__}.")]
    return [name for name in names if hasattr(importlib.import_module(name), "TABLE")]


def test_every_table_of_the_protocol_is_broken() -> None:
    source = (TESTS / "mutations.py").read_text(encoding="utf-8")
    unbroken = [name for name in tables() if f"({name.rpartition('.')[2]}.TABLE, " not in source]
    assert tables()
    assert not unbroken


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_mutant_is_caught() -> None:
    command = [sys.executable, str(TESTS / "mutations.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1700)
    survivors = [line for line in ran.stdout.splitlines() if line.startswith("SURVIVED")]
    assert not survivors, ran.stderr
    assert ran.returncode == 0, ran.stderr
