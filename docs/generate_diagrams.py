"""Pictures that are drawn from the code: the moves of each table of states, the rooms, and the way of a call.

All have one form, a ladder: states, rooms or modules stand side by side, a line below each, and every row has an arrow
from one of these lines to another. Equal code gives an equal picture.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import generate_tables

import livetools

ROW, HEAD, CHARACTER, LEAST, MOST = 30, 46, 6.4, 104, 190  # in the picture's own units; of a column
STYLE = """text { fill: #334155 } .head { font-weight: 600 } .life { stroke: #94a3b8; stroke-dasharray: 3 4 }
    .box { fill: #f1f5f9; stroke: #94a3b8 } .move { stroke: #2563eb; stroke-width: 1.6; fill: none }
    .label { font-size: 11px; paint-order: stroke; stroke: #ffffff; stroke-width: 4px } .dot { fill: #2563eb }
    @media (prefers-color-scheme: dark) { text { fill: #cbd5e1 } .box { fill: #1e293b }
    .label { stroke: #1e2129 } }"""


class Arrow(NamedTuple):
    """A row: from one column to another, with words. Without ``to`` it ends where the next decision is made."""

    source: str
    to: str | None
    words: str


def ladder(title: str, columns: Sequence[str], rows: Iterable[Sequence[Arrow]]) -> str:
    """The picture, as SVG. The arrows of one row have one source, or do not meet."""
    rows = list(rows)
    gap = _gap(columns, [arrow for row in rows for arrow in row])
    at = {name: gap * (n + 0.5) for n, name in enumerate(columns)}
    ends = [
        at[a.source] + 24 + len(a.words) * CHARACTER for row in rows for a in row if a.to in (None, a.source)
    ]
    wide, high = round(max([gap * len(columns), *ends])), HEAD + ROW * len(rows) + 12
    parts = [part for name in columns for part in _column(name, at[name], high)]
    parts += [
        part
        for n, row in enumerate(rows, 1)
        for arrow in row
        for part in _arrow(arrow, at, HEAD + ROW * n - 6)
    ]
    body = "\n  ".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="system-ui, sans-serif" \
font-size="12" role="img" aria-labelledby="t">
  <title id="t">{escape(title)}</title>
  <style>
    {STYLE}
  </style>
  <defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 8 4 0 8z" fill="#2563eb"/></marker></defs>
  {body}
</svg>
"""


def _gap(columns: Sequence[str], arrows: Iterable[Arrow]) -> int:
    """The width of a column: each arrow is as long as its words, each head has room."""
    order = {name: n for n, name in enumerate(columns)}
    needed = [
        (len(a.words) * CHARACTER + 24) / abs(order[a.to] - order[a.source])
        for a in arrows
        if a.to not in (None, a.source)
    ]
    heads = [len(name) * CHARACTER * 1.3 + 24 for name in columns]
    return round(min(MOST, max([LEAST, *needed, *heads])))


def _column(name: str, x: float, high: int) -> Iterator[str]:
    half = len(name) * CHARACTER * 0.6 + 10
    yield f'<path class="life" d="M{x:g} 36V{high - 8}"/>'
    yield f'<rect class="box" x="{x - half:g}" y="8" width="{2 * half:g}" height="26" rx="6"/>'
    yield f'<text class="head" x="{x:g}" y="25" text-anchor="middle">{escape(name)}</text>'


def _arrow(arrow: Arrow, at: Mapping[str, float], y: int) -> Iterator[str]:
    start, words = at[arrow.source], escape(arrow.words)
    yield f'<circle class="dot" cx="{start:g}" cy="{y}" r="3"/>'
    if arrow.to is None:
        yield f'<text class="label" x="{start + 10:g}" y="{y + 4}">… {words}</text>'
    elif arrow.to == arrow.source:
        yield f'<path class="move" d="M{start:g} {y - 5}q14 0 14 5t-12 5" marker-end="url(#a)"/>'
        yield f'<text class="label" x="{start + 20:g}" y="{y + 4}">{words}</text>'
    else:
        end = at[arrow.to] - (3 if at[arrow.to] > start else -3)
        yield f'<path class="move" d="M{start:g} {y}H{end:g}" marker-end="url(#a)"/>'
        yield f'<text class="label" x="{(start + end) / 2:g}" y="{y - 5}" text-anchor="middle">{words}</text>'


# Tables of states


def state_pictures() -> dict[str, str]:
    """A picture for each table of states, by its file's name."""
    found = {name: _moves(module) for name, module in generate_tables.machines().items()}
    return {f"states-{name}.svg": _states(name, *table) for name, table in found.items()}


Move = tuple[Enum, Enum, Enum | None]


def _moves(module: types.ModuleType) -> tuple[Iterable[Enum], list[Move]]:
    moves: list[Move] = [(state, on, to) for (state, on), (to, _) in generate_tables.moves(module).items()]
    states = dict.fromkeys([of for of, _, _ in moves] + [to for _, _, to in moves if to is not None])
    return states, moves


def _states(name: str, states: Iterable[Enum], moves: Iterable[Move]) -> str:
    """Moves between the same two states share an arrow."""
    order = list(states)
    words: dict[tuple[Enum, Enum | None], list[str]] = {}
    for of, on, to in moves:
        words.setdefault((of, to), []).append(on.name)
    rows = sorted(
        words, key=lambda row: (order.index(row[0]), len(order) if row[1] is None else order.index(row[1]))
    )
    arrows = [[Arrow(of.name, to and to.name, ", ".join(words[of, to]))] for of, to in rows]
    title = f"The states of the {name}, and the moves between them"
    return ladder(title, [state.name for state in order], arrows)


# The house


def house() -> str:
    """The rooms, and which of them imports which: read from the sources. A row a room."""
    folder = Path(str(livetools.__file__)).parent
    rooms = [
        "setup", "protocol", "tools", "formats", "transport", "session", "attach", "audio", "testing", "integrations",
        "evals", "probe", "cli",
    ]  # fmt: skip
    used = {room: _imported(folder / room) for room in rooms}
    arrows = [
        [Arrow(room, other, "") for other in rooms if other != room and other in used[room]]
        for room in rooms[1:]
    ]
    return ladder("The rooms: an arrow leads from a room to each that it imports", rooms, arrows)


@functools.cache
def _imported(folder: Path) -> set[str]:
    """The rooms from which some module of a room imports. A package's own file only shows what others make."""
    return {
        node.module.split(".")[1]
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("livetools.")
    }


# The way of a call

WAY = (
    ("transport/on_asyncio", "session/running/session_driver", "a whole message"),
    ("session/running/session_driver", "protocol/session_machine", "receive(link, message, now)"),
    ("protocol/session_machine", "protocol/calls/calls", "the calls in it"),
    ("protocol/calls/calls", "protocol/calls/call_states", "the call is owed"),
    ("protocol/session_machine", "session/running/session_driver", "actions: start this handler"),
    ("session/running/session_driver", "session/handlers/tasks", "a task runs the tool"),
    ("session/handlers/tasks", "session/running/session_driver", "the outcome"),
    ("session/running/session_driver", "protocol/session_machine", "settled(run, outcome, now)"),
    ("protocol/session_machine", "protocol/calls/calls", "the debt is settled"),
    ("protocol/calls/calls", "protocol/calls/call_states", "READY"),
    ("protocol/session_machine", "session/running/session_driver", "frames: the response"),
    ("session/running/session_driver", "session/running/writer", "it is written"),
)


def call() -> str:
    """The way of a call through the modules, each of which there is."""
    columns = [
        "transport/on_asyncio", "session/running/writer", "session/handlers/tasks", "session/running/session_driver",
        "protocol/session_machine", "protocol/calls/calls", "protocol/calls/call_states",
    ]  # fmt: skip
    for name in columns:
        if find_spec(f"livetools.{name.replace('/', '.')}") is None:
            raise LookupError(f"{name} is in the picture of a call, and there is no such module")
    short = {name: name.rpartition("/")[2] for name in columns}
    arrows = [[Arrow(short[of], short[to], words)] for of, to, words in WAY]
    return ladder("The way of a call: from the socket to the tool and back", list(short.values()), arrows)


def pictures() -> dict[str, str]:
    """Every picture, by its name in docs/images."""
    return {**state_pictures(), "house.svg": house(), "call.svg": call()}
