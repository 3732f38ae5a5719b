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
from processes import CLIENTS

SHOWN = tuple(client.name for client in CLIENTS)
COLOURS = ("#9aa0a6", "#1a73e8", "#7baaf7", "#ea4335", "#f9ab00", "#34a853", "#a142f4", "#24c1e0")
#: The picture: two columns, in each the names of the clients and then bars, the longest of which is ``MOST`` times the
#: floor's.
WIDE, COLUMN, LEFT, LINE = 720, 352, 92, 15
MOST, SCALE = 8.0, 24
SECTIONS = {"operations": "Operations", "frameworks": "Beside frameworks", "day": "The users’ day"}
STYLE = """
text { fill: #334155 } .cut { font-weight: 600 } .quiet { fill: #64748b } .head { font-size: 13px }
@media (prefers-color-scheme: dark) { text { fill: #cbd5e1 } .quiet { fill: #94a3b8 } }
"""


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
    """The median of a client, with its ratio and the quartiles of that; its own quartiles, where there is no ratio."""
    median = row.median(client)
    if median is None:
        return "missing" if client in row.missing else ""
    told, values = number(median), row.values[client]
    if not row.against and len(values) > 2:
        low, _, high = statistics.quantiles(values, n=4)
        return f"{told} ({number(low)} to {number(high)})"
    ratios = row.ratios(client)
    if client == row.against or not ratios:
        return told
    middle = statistics.median(ratios)
    if len(ratios) < 3:
        return f"{told} ({middle:.2f} ×)"
    low, _, high = statistics.quantiles(ratios, n=4)
    return f"{told} ({middle:.2f} ×, {low:.2f} to {high:.2f})"


def number(value: float) -> str:
    """As a table has it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:,.2f}"


def clients_of(rows: Iterable[Row]) -> list[str]:
    """The clients that have values or are missing, in their order."""
    named = {name for row in rows for name in (*row.values, *row.missing)}
    return [name for name in (*SHOWN, "few") if name in named]


def table(rows: list[Row]) -> list[str]:
    """One line a row and client, for the terminal."""
    lines = []
    for row in rows:
        lines.append(f"{row.name} [{row.unit}{row.against and f'; × {row.against}'}]")
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


def shown(groups: Mapping[str, list[Row]]) -> Iterable[tuple[str, list[Row]]]:
    """What stands in the picture, section by section. Beside frameworks: what one of them can do. Of the collector's
    stops: the longest."""
    for name, heading in SECTIONS.items():
        rows = [row for row in groups[name] if row.against and len(row.values) > 1]
        if name == "frameworks":
            ours = {client.name for client in CLIENTS if not client.needs}
            rows = [row for row in rows if row.values.keys() - ours]
        stops = [row for row in groups[name] if row.unit.startswith("ms") and not row.against and row.values]
        rows += sorted(stops, key=lambda row: max(map(statistics.median, row.values.values())))[-1:]
        if rows:
            yield heading, rows


def bar(x: float, y: float, length: float, colour: str) -> str:
    """From here, so many times as long as the floor's. One that is too long is broken before its end."""
    end, below = x + max(1.0, min(length, MOST) * SCALE), y + LINE - 4
    edges = f"M{x} {y}H{end:.1f}V{below}H{x}z"
    if length > MOST:
        edges = f"M{x} {y}H{end - 14}l-4 {LINE - 4}H{x}z M{end - 9} {y}H{end}V{below}H{end - 13}z"
    return f'<path d="{edges}" fill="{colour}"/>'


def bars(row: Row, x: float, y: float) -> list[str]:
    """A row of the table: ratios to the floor, or where there are none, the figures themselves."""
    parts = [f'<text x="{x}" y="{y}" font-weight="600">{escape(row.name)}</text>']
    medians = {
        client: statistics.median(row.values[client])
        for client in clients_of([row])
        if row.values.get(client)
    }
    longest = max(medians.values()) or 1.0
    for at, (client, median) in enumerate(medians.items()):
        length = statistics.median(row.ratios(client) or [1.0]) if row.against else median / longest * MOST
        told = f"{length:.2f} ×" if row.against else f"{number(median)} {row.unit.split()[0]}"
        top = y + 8 + at * LINE
        kind = ' class="cut"' if length > MOST else ""
        own = ' font-weight="600"' if client == "livetools" else ""
        right = x + LEFT + min(length, MOST) * SCALE + 5
        parts += [
            f'<text x="{x + LEFT - 6}" y="{top + 9}" text-anchor="end"{own}>{escape(client)}</text>',
            bar(x + LEFT, top, length, COLOURS[SHOWN.index(client)]),
            f'<text x="{right:.0f}" y="{top + 9}"{kind}>{told}</text>',
        ]
    return parts


def svg(groups: Mapping[str, list[Row]]) -> str:
    """The figures as bars, on whatever the page has behind them."""
    told = (
        "Multiples of the floor’s CPU time, and of its elapsed time for 8 calls of 100 ms. Shorter is better.",
        "A bar with a break is longer than there is room for; the number beside it is the whole.",
    )
    parts = [f'<text class="quiet" x="0" y="{12 + LINE * at}">{line}</text>' for at, line in enumerate(told)]
    y = 30
    for heading, rows in shown(groups):
        y += 30
        parts.append(f'<text class="head" x="0" y="{y}" font-weight="700">{escape(heading)}</text>')
        for pair in (rows[at : at + 2] for at in range(0, len(rows), 2)):
            y += 24
            for column, row in enumerate(pair):
                parts += bars(row, column * (WIDE - COLUMN), y)
            y += LINE * max(len(row.values) for row in pair)
    size = f'width="{WIDE}" height="{y + 12}" viewBox="0 0 {WIDE} {y + 12}"'
    font = 'font-family="system-ui, sans-serif" font-size="11" role="img" aria-labelledby="t"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    title = '<title id="t">What livetools and other clients cost, as bars</title>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


PAGE = """# What it costs

{when}

Made by `make bench` on {date}: {cpu}, {cores} cores, {system}, Python {python}; load {load} when it began.
{versions}.
`bench/README.md` describes how each figure is measured. Figures in µs
and ms depend on the machine and the hour, so compare the ratios: medians of {rounds} rounds, in which the
clients take turns, with their quartiles. The floor is `websockets` and `json` in a loop of ten lines, which checks
nothing.

![The ratios of the next three tables as bars](../images/bench.svg)

## CPU time of the client

One session in a process, without sound, except where sound is measured. Python's garbage collector is off.

{operations}

Frameworks, in another run of {few} rounds, with the floor, livetools and google-genai beside them:

{frameworks}

## The users' day

Users speak, and their garbage collector runs. So here the collector is on, and before each measurement ten pieces of
sound of 20 ms have gone out on each connection. Then all sessions of a process answer calls at the same time. The
longest stop of the collector is that of one round, in CPU time; its share is that of the CPU time in which the calls
were answered. Both have no ratio, and the quartiles are their own. Frameworks are measured with one session only, and
with fewer calls. [The garbage collector](../scale.md#the-garbage-collector) shows how to make its stops shorter.

{day}

## Instructions of the client

Counted outside the kernel by valgrind's callgrind: load on the machine does not change these figures.

{instructions}

## Sessions

The import is complete when what opens a session is there: `livetools.connect`, google-genai's `Client`, or the classes
with which a framework makes a live session. `import livetools` alone takes less, as it imports the rest when a name is
first used.

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
