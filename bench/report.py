"""What was measured as a table, as JSON, as a picture and as a page of the documentation."""

from __future__ import annotations

import json
import platform
import statistics
from collections.abc import Iterable, Mapping
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from measure import Row, plain

SHOWN = (
    "floor",
    "livetools",
    "attach",
    "google-genai",
    "pydantic-ai",
    "google-adk",
    "livekit-agents",
    "pipecat-ai",
)
COLOURS = ("#9aa0a6", "#1a73e8", "#7baaf7", "#ea4335", "#f9ab00", "#34a853", "#a142f4", "#24c1e0")
WIDE = 720
LINE, GAP, LEFT = 13, 22, 120


def machine() -> dict[str, Any]:
    """Where it was measured."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    load = Path("/proc/loadavg").read_text().split()[0]
    return {
        "date": date.today().isoformat(),
        "cpu": model,
        "cores": len(
            [1 for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("processor")]
        ),
        "system": platform.system() + " " + platform.release(),
        "python": platform.python_version(),
        "load": float(load),
    }


def value(row: Row, client: str) -> str:
    """The median of a client, with its ratio and the quartiles of that."""
    median = row.median(client)
    if median is None:
        return "missing" if client in row.missing else ""
    told = f"{median:,.0f}" if median >= 100 else f"{median:,.1f}"
    ratios = row.ratios(client)
    if client == row.against or not ratios:
        return told
    middle = statistics.median(ratios)
    if len(ratios) < 3:
        return f"{told} ({middle:.2f} ×)"
    low, _, high = statistics.quantiles(ratios, n=4)
    return f"{told} ({middle:.2f} ×, {low:.2f} to {high:.2f})"


def clients_of(rows: Iterable[Row]) -> list[str]:
    """The clients that have values or are missing, in their order."""
    named = {name for row in rows for name in (*row.values, *row.missing)}
    return [name for name in (*SHOWN, "few") if name in named]


def table(rows: list[Row]) -> list[str]:
    """One line a row and client, for the terminal."""
    lines = []
    for row in rows:
        lines.append(f"{row.name} [{row.unit}; × {row.against}]")
        lines += [f"    {client:15} {told}" for client in clients_of([row]) if (told := value(row, client))]
    return lines


def markdown(rows: list[Row]) -> list[str]:
    """The same as a table of Markdown."""
    clients = clients_of(rows)
    lines = ["| | " + " | ".join(clients) + " |", "| --- |" + " --- |" * len(clients)]
    for row in rows:
        cells = " | ".join(value(row, client) or "–" for client in clients)
        lines.append(f"| {row.name}, {row.unit} | {cells} |")
    return lines


def missing(rows: Iterable[Row]) -> dict[str, str]:
    """Who could not be measured somewhere, and why."""
    return {f"{name}, {row.name}": why for row in rows for name, why in row.missing.items()}


def write_json(path: Path, about: Mapping[str, Any], groups: Mapping[str, list[Row]]) -> None:
    """Everything that was measured, round by round."""
    told = {**about, "rows": {name: plain(rows) for name, rows in groups.items()}}
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path, names: Iterable[str]) -> dict[str, list[Row]]:
    """What was measured last; nothing, where nothing was."""
    told = json.loads(path.read_text())["rows"] if path.exists() else {}
    return {name: [Row(**row) for row in told.get(name, ())] for name in names}


def svg(*groups: list[Row]) -> str:
    """Bars of the ratios to the floor, row by row; what is longer than the picture is cut, with its number."""
    rows = [row for rows in groups for row in rows if len(row.values) > 1]
    most = 8.0
    scale = (WIDE - LEFT - 90) / most
    parts, at = [], 10
    for row in rows:
        parts.append(f'<text x="8" y="{at + 12}" font-weight="bold">{escape(row.name)}</text>')
        at += GAP
        for client in clients_of([row]):
            if not row.values.get(client):
                continue
            ratio = statistics.median(row.ratios(client) or [1.0])
            width = max(1.0, min(ratio, most) * scale)
            colour = COLOURS[SHOWN.index(client)]
            parts += [
                f'<text x="{LEFT - 6}" y="{at + 10}" text-anchor="end">{escape(client)}</text>',
                f'<rect x="{LEFT}" y="{at}" width="{width:.0f}" height="{LINE - 2}" fill="{colour}"/>',
                f'<text x="{LEFT + width + 5:.0f}" y="{at + 10}">{ratio:.2f} ×</text>',
            ]
            at += LINE + 2
        at += 10
    style = "font-family: sans-serif; font-size: 11px; fill: #3c4043"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{at}" style="{style}">'
    return "\n".join([head, f'<rect width="{WIDE}" height="{at}" fill="#ffffff"/>', *parts, "</svg>", ""])


PAGE = """# What it costs

{when}

Made by `make bench` on {date}: {cpu}, {cores} cores, {system}, Python {python}; load {load} when it began.
{versions}.
`bench/README.md` describes how each figure is measured. Figures in µs
and ms depend on the machine and the hour, so compare the ratios: medians of {rounds} rounds, in which the
clients take turns, with their quartiles. The floor is `websockets` and `json` in a loop of ten lines, which checks
nothing.

## CPU time of the client

{operations}

![The same as bars](../images/bench.svg)

Frameworks, in another run of {few} rounds, beside the same floor:

{frameworks}

## Instructions of the client

Counted outside the kernel by valgrind's callgrind: load on the machine does not change these figures.

{instructions}

## Sessions

{sessions}

## Many calls, tools and turns

`few` is the same operation with fewer of them: 1,000 calls instead of 10,000; one tool instead of 200; no tracing; the
first turns.

{endurance}

{missing}
"""


def rounds(rows: list[Row]) -> int:
    """How many rounds they were measured in."""
    return max((len(values) for row in rows for values in row.values.values()), default=0)


def page(about: Mapping[str, Any], groups: Mapping[str, list[Row]]) -> str:
    """The page of the documentation."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    absent = missing(row for rows in groups.values() for row in rows)
    told = "\n".join(f"- {name}: `{why}`" for name, why in absent.items())
    tables = {
        name: "\n".join(markdown(rows)) if rows else "Not measured yet." for name, rows in groups.items()
    }
    return PAGE.format(
        **about["machine"], **tables, versions=versions, rounds=rounds(groups["operations"]),
        few=rounds(groups["frameworks"]),
        when="What livetools costs, compared with the bare minimum and with other libraries.",
        missing=f"## Missing\n\n{told}" if told else "",
    ).rstrip() + "\n"  # fmt: skip
