"""Extras are named by what pip can install, and by names that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from livetools.setup.install_hints import install

ROOT = Path(__file__).parents[2]
TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "livetools").rglob("*.py")]
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_an_extra_is_installed_from_a_clone():
    assert install("cli,web") == "pip install 'PATH/TO/CLONE[cli,web]'"


def test_no_text_tells_to_install_from_a_registry():
    assert [path.name for path, text in TEXTS.items() if re.search(r"livetools\[\w", text)] == []


def test_every_extra_that_a_text_names_exists():
    named = {
        extra
        for text in TEXTS.values()
        for found in re.findall(r"CLONE\[([\w,]+)\]|\binstall\(['\"]([\w,]+)['\"]\)", text)
        for extra in "".join(found).split(",")
    }
    assert len(named) > 8
    assert named <= set(PROJECT["optional-dependencies"])
