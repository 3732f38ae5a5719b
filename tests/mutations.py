"""Breaks both tables in every small way, and sees whether the searches notice: ``python tests/mutations.py``.

Each mutant drops one line of the table of debts or of the connection, or one effect of a line, or stays where it should
move. A mutant that survives is printed, and is either a hole in the tests or a line that nothing needs; the exit status
is the number of survivors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from support import line, world
from support.driver import plan
from support.search import search

from livetools.protocol import ledger, link
from livetools.protocol.terms import CallPolicy

DEBTS = [
    plan(CallPolicy("tool", timeout=60, undo=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), reply_batching="batch"),
    plan(CallPolicy("tool", timeout=60, background=True)),
    plan(CallPolicy("tool", timeout=60, streams=True, takes_scheduling=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), answer_lost=True),
]
LINES = [(plan(), line.POLICY), (plan(handle="old"), line.POLICY), (plan(), None)]


def prove_ledger() -> None:
    """Search the orders of what can happen to calls."""
    for depth in (2, 3):
        for beginning in world.BEGINNINGS:
            for one in DEBTS:
                world.explore(one, depth, beginning)


def prove_link() -> None:
    """Search the orders of what can happen to the connection."""
    for depth in (2, 4):
        for beginning in line.BEGINNINGS:
            for terms, policy in LINES:

                def make(terms: Any = terms, policy: Any = policy) -> line.World:
                    return line.World(terms, policy)

                search(make, line.World.INPUTS, depth, beginning, last=line.World.calm)


TABLES: list[tuple[Any, Callable[[], None]]] = [(ledger.TABLE, prove_ledger), (link.TABLE, prove_link)]


def mutants(table: Any) -> Iterator[tuple[str, Any, Any]]:
    """What is changed, where, and to what (``None``: the line is gone)."""
    for pair, (to, effects) in list(table.items()):
        name = f"{pair[0].name} {pair[1].name}"
        yield f"{name}: no such line", pair, None
        for effect in effects:
            yield f"{name}: without {effect.name}", pair, (to, tuple(e for e in effects if e is not effect))
        if to is not None and to is not pair[0]:
            yield f"{name}: stays where it is", pair, (pair[0], effects)


def caught(table: Any, pair: Any, entry: Any, prove: Callable[[], None]) -> str | None:
    """The shortest failure of this mutant, if there is one."""
    original = table[pair]
    if entry is None:
        del table[pair]
    else:
        table[pair] = entry
    try:
        prove()
    except Exception as failure:  # a crash is a catch as well
        return f"{type(failure).__name__}: {failure}"
    finally:
        table[pair] = original
    return None


def main() -> int:
    """Print each mutant and its end."""
    survivors, total, began = [], 0, time.monotonic()
    for table, prove in TABLES:
        prove()  # or it is broken already
        for name, pair, entry in mutants(table):
            total += 1
            failure = caught(table, pair, entry, prove)
            if failure is None:
                survivors.append(name)
            print(f"{'caught  ' if failure else 'SURVIVED'} {name}  {(failure or '')[:140]}", flush=True)
    print(f"{total - len(survivors)} of {total} mutants caught in {time.monotonic() - began:.0f} s")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
