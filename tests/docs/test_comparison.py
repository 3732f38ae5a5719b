"""The page that compares libraries: each cell of its table is what a run has shown."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SEEN = {
    "ended": "answered",
    "printed": "It is 12 °C, rain.",
    "error": "",
    "connections": 1,
    "runs": 1,
    "told": {},
}


@pytest.fixture(scope="module")
def docs() -> Iterator[None]:
    sys.path.insert(0, str(DOCS))
    yield
    sys.path.remove(str(DOCS))


@pytest.fixture
def words(docs: None) -> ModuleType:
    import generate_comparison

    return generate_comparison


@pytest.fixture
def lane(docs: None) -> ModuleType:
    import run_comparison

    return run_comparison


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "comparison.json").read_text("utf-8"))["libraries"]
    return found


def test_every_library_and_every_situation_was_run(lane: ModuleType) -> None:
    rows = kept()
    assert [*rows] == [library.name for library in lane.LIBRARIES]
    run = [row for row in rows.values() if "cause" not in row]
    assert len(run) >= 6
    for row in run:
        assert row["plain"]["printed"].endswith("It is 12 °C, rain.")
        assert {*lane.SITUATIONS} <= {*row}


def test_the_lines_of_each_program_are_those_of_its_file(lane: ModuleType) -> None:
    rows = kept()
    lines = {each.name: lane.lines_of(each) for each in lane.LIBRARIES if "cause" not in rows[each.name]}
    assert {name: row["lines"] for name, row in rows.items() if "cause" not in row} == lines


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ({"connections": 2}, "Connects again, and prints the answer. The tool ran once"),
        ({"connections": 2, "runs": 2}, "Connects again, and prints the answer. The tool ran 2 times"),
        (
            {"ended": "raised", "printed": "", "error": "a.b.Gone: by by"},
            "Does not connect again; the program raises `Gone`",
        ),
        (
            {"ended": "silent", "printed": ""},
            "Does not connect again; the program ends without an exception and prints no answer",
        ),
        (
            {"ended": "waits", "printed": "", "connections": 3},
            "Connects again; the program still runs after a minute",
        ),
    ],
)
def test_what_was_seen_after_a_drop_is_said(words: ModuleType, seen: dict[str, Any], text: str) -> None:
    assert words.drop({**SEEN, **seen}) == text


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ({"told": {"error": "it failed"}}, 'The model reads `{"error": "it failed"}`; the model answers'),
        (
            {"told": None, "ended": "raised", "error": "RuntimeError: hunter2"},
            "The call is never answered; the program raises `RuntimeError`",
        ),
        (
            {"told": {"text": "hunter2"}},
            'The model reads the exception\'s text: `{"text": "hunter2"}`; the model answers',
        ),
    ],
)
def test_what_was_seen_of_a_tool_that_raises_is_said(
    words: ModuleType, seen: dict[str, Any], text: str
) -> None:
    assert words.raises({**SEEN, **seen}) == text


def test_livetools_does_what_its_row_says_after_a_drop(lane: ModuleType) -> None:
    ours = lane.LIBRARIES[0]
    assert lane.outcome(ours, sys.executable, "drop") == kept()["livetools"]["drop"]


@pytest.mark.peers
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("number", range(8))
def test_each_library_does_what_its_row_says(lane: ModuleType, tmp_path: Path, number: int) -> None:
    """If it does something else now, run ``python docs/run_comparison.py`` and then ``make docs-pages``."""
    library = lane.LIBRARIES[number]
    folder = Path(os.environ.get("LIVETOOLS_PEERS", tmp_path))
    assert lane.compare(library, folder) == kept()[library.name]
