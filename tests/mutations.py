"""Breaks the ledger in every small way, and sees whether the search notices: ``python tests/mutations.py``.

Each mutant drops one line of the table, or one effect of one line. A mutant that survives is printed, and is either
a hole in the tests or a line that nothing needs; the exit status is the number of survivors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from support.driver import plan
from support.world import BEGINNINGS, explore

from livetools.protocol import ledger
from livetools.protocol.terms import CallPolicy

PLANS = [
    plan(CallPolicy("tool", timeout=60, undo=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), reply_batching="batch"),
    plan(CallPolicy("tool", timeout=60, background=True)),
    plan(CallPolicy("tool", timeout=60, streams=True, takes_scheduling=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), answer_lost=True),
]


def mutants() -> Iterator[tuple[str, tuple[Any, Any], Any]]:
    """What is changed, where, and to what (``None``: the line is gone)."""
    for pair, (to, effects) in list(ledger.TABLE.items()):
        name = f"{pair[0].name} {pair[1].name}"
        yield f"{name}: no such line", pair, None
        for effect in effects:
            yield f"{name}: without {effect.name}", pair, (to, tuple(e for e in effects if e is not effect))
        if to is not pair[0]:
            yield f"{name}: stays where it is", pair, (pair[0], effects)


def caught(pair: Any, entry: Any) -> str | None:
    """The shortest failure of this mutant, if there is one."""
    table: Any = ledger.TABLE
    original = table[pair]
    if entry is None:
        del table[pair]
    else:
        table[pair] = entry
    try:
        for depth in (2, 3):
            for beginning in BEGINNINGS:
                for one in PLANS:
                    explore(one, depth, beginning)
    except Exception as failure:  # a crash is a catch as well
        return f"{type(failure).__name__}: {failure}"
    finally:
        table[pair] = original
    return None


def main() -> int:
    """Print each mutant and its end."""
    survivors, total, began = [], 0, time.monotonic()
    assert caught(next(iter(ledger.TABLE)), ledger.TABLE[next(iter(ledger.TABLE))]) is None, "broken already"
    for name, pair, entry in mutants():
        total += 1
        failure = caught(pair, entry)
        if failure is None:
            survivors.append(name)
        print(f"{'caught  ' if failure else 'SURVIVED'} {name}  {(failure or '')[:140]}")
    print(f"{total - len(survivors)} of {total} mutants caught in {time.monotonic() - began:.0f} s")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
