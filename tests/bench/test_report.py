"""bench/report.py: the figures as a table, as a picture and as a page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

BENCH = Path(__file__).parents[2] / "bench"
CLIENTS = ("floor", "livetools", "google-genai", "pydantic-ai")


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path, str(BENCH)])
    import report

    return report


@pytest.fixture
def groups(report: ModuleType) -> dict[str, Any]:
    """Made-up results of every group."""

    def row(name: str, unit: str, against: str = "floor", *values: float) -> Any:
        return report.Row(name, unit, against, {c: [v] * 3 for c, v in zip(CLIENTS, values, strict=False)})

    return {
        "operations": [row("a call", "µs CPU", "floor", 100, 150, 200)],
        "frameworks": [
            row("a call", "µs CPU", "floor", 100, 160, 200, 4289),
            row("ask", "µs CPU", "floor", 100, 200, 300),
        ],
        "day": [
            row("a call, 200 sessions", "µs CPU", "floor", 100, 170, 200),
            row("longest stop of the collector, 20 sessions", "ms CPU", "", 0.1, 5, 0.1),
            row("longest stop of the collector, 200 sessions", "ms CPU", "", 0.2, 50, 0.4),
            row("the collector's share of the CPU time, 200 sessions", "%", "", 1, 10, 1),
        ],
        "sessions": [],
        "endurance": [],
        "instructions": [],
    }


def test_a_figure_without_a_ratio_has_quartiles_of_its_own(report: ModuleType) -> None:
    row = report.Row("stop", "ms CPU", "", {"floor": [0.2, 0.2, 0.2], "livetools": [40.0, 50.0, 60.0]})
    assert report.value(row, "livetools") == "50.0 (40.0 to 60.0)"
    assert report.value(row, "floor") == "0.20 (0.20 to 0.20)"


def test_a_bar_that_is_too_long_is_broken_and_one_that_fits_is_not(report: ModuleType) -> None:
    assert report.bar(0, 0, report.MOST, "red").count("M") == 1
    assert report.bar(0, 0, report.MOST + 0.1, "red").count("M") == 2
    assert report.bar(0, 0, 9, "red") == report.bar(0, 0, 900, "red")


def test_the_picture_has_the_true_number_beside_a_broken_bar(
    report: ModuleType, groups: dict[str, Any]
) -> None:
    picture = ElementTree.fromstring(report.svg(groups))
    broken = [text.text for text in picture.findall(".//{*}text") if text.get("class") == "cut"]
    assert broken == ["42.89 ×"]


def test_the_picture_shows_livetools_in_each_section_and_nothing_twice(
    report: ModuleType, groups: dict[str, Any]
) -> None:
    sections = dict(report.shown(groups))
    assert [[row.name for row in rows] for rows in sections.values()] == [
        ["a call"],
        ["a call"],
        ["a call, 200 sessions", "longest stop of the collector, 200 sessions"],
    ]
    assert all("livetools" in row.values for rows in sections.values() for row in rows)


def test_the_picture_shows_a_stop_in_milliseconds(report: ModuleType, groups: dict[str, Any]) -> None:
    assert "50.0 ms" in report.svg(groups)


def test_nothing_of_the_picture_is_wider_than_it_is(report: ModuleType, groups: dict[str, Any]) -> None:
    picture = ElementTree.fromstring(report.svg(groups))
    ends = [
        float(x)
        for path in picture.findall(".//{*}path")
        for x in re.findall(r"[MH]([\d.]+)", path.get("d", ""))
    ]
    assert 0 < max(ends) < report.WIDE - 50  # room for a number
    assert "prefers-color-scheme: dark" in report.svg(groups)


def test_the_page_has_a_table_of_each_group(report: ModuleType, groups: dict[str, Any]) -> None:
    about = {"machine": report.machine(), "versions": {"floor": "1"}}
    page = report.page(about, groups)
    assert "| a call, 200 sessions, µs CPU | 100 | 170 (1.70 ×, 1.70 to 1.70) |" in page
    assert page.count("Not measured yet.") == 3


def test_what_was_measured_is_read_again_as_it_was_written(
    report: ModuleType, groups: dict[str, Any], tmp_path: Path
) -> None:
    report.write_json(tmp_path / "results.json", {}, groups)
    assert report.read_json(tmp_path / "results.json", groups) == groups
