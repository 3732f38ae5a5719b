"""An unknown name may have been meant for one that is near."""

from __future__ import annotations

import subprocess
import sys

from livetools.setup.near_names import near_names

KNOWN = ("attempts", "initial", "maximum", "minimum")


def test_the_nearest_comes_first_and_no_more_than_are_asked_for() -> None:
    assert near_names("maximun", KNOWN, cutoff=0.6) == ["maximum"]
    assert near_names("maximun", iter(KNOWN), count=3, cutoff=0.5) == ["maximum", "minimum"]


def test_what_is_not_near_enough_is_left_out() -> None:
    assert near_names("maximun", KNOWN, count=3, cutoff=0.8) == ["maximum"]
    assert near_names("colour", KNOWN, count=3, cutoff=0.6) == []
    assert near_names("attempts", (), cutoff=0.0) == []


def test_a_program_without_a_mistake_does_not_load_what_compares_names() -> None:
    code = (
        "import sys, livetools; livetools.connect('gemini-3.8-live', tools=[print_it], api_key='k'); "
        "assert 'difflib' not in sys.modules"
    )
    define = "def print_it(text: str) -> str:\n    'Prints it.'\n    return text\n"
    subprocess.run([sys.executable, "-c", define + code], check=True)
