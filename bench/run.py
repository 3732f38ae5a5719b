"""All benchmarks: a table, and in ``.cache/bench`` ``results.json`` and ``bench.svg``. Reported, never gating.

    python bench/run.py [--docs] [--only GROUP]        as make bench

``--docs`` writes the page of the documentation and its picture too. Groups: operations, frameworks, day, sessions,
endurance, instructions; where one is measured, the others stay as they were last measured. How each figure is taken
stands in ``bench/README.md``.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import measure
import report
from processes import CACHE, CLIENTS, HERE, Server, Worker

DOCS = HERE.parent / "docs"
GROUPS = ("operations", "frameworks", "day", "sessions", "endurance", "instructions")
OTHERS = (None, "frameworks", "day")  # the groups in which frameworks are measured, and all of them
began = time.monotonic()


def say(what: str) -> None:
    """What is being done, with the time since the start."""
    print(f"[{time.monotonic() - began:4.0f} s] {what}", flush=True)


def group(
    name: str, ready: list[Worker], missing: dict[str, str], port: int, rounds: int
) -> list[measure.Row]:
    """The rows of one group."""
    if name in ("operations", "frameworks"):
        mine = [worker for worker in ready if measure.belongs(worker.client, name)]
        return measure.operations(mine, missing if name == "frameworks" else {}, say, rounds)
    if name == "day":
        return measure.day(ready, say, rounds)
    if name == "sessions":
        say("imports")
        rows = [measure.imports(port, rounds)]
        say("memory")
        return [*rows, *measure.memory(port), *measure.talking(ready, say)]
    if name == "endurance":
        ours = next(worker for worker in ready if worker.client.name == "livetools")
        return measure.endurance(ours, say, rounds)
    return measure.instructions(port, say)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--docs", action="store_true", help="write docs/guides/benchmarks.md and its picture")
    parser.add_argument(
        "--rounds", type=int, default=measure.ROUNDS, help="of each operation (default: %(default)s)"
    )
    parser.add_argument("--only", choices=GROUPS, help="measure one group")
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    CACHE.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {"machine": report.machine(), "rounds": arguments.rounds}
    with Server() as server:
        say("environments")
        wanted = [client for client in CLIENTS if not client.needs or arguments.only in OTHERS]
        ready, missing = measure.workers(server.port, wanted, say)
        about["versions"] = {worker.package: worker.version for worker in ready}
        groups: dict[str, list[measure.Row]] = {}
        for name in [arguments.only] if arguments.only else GROUPS:
            groups[name] = group(name, ready, missing, server.port, arguments.rounds)
            say(f"{name}: done")
        for worker in ready:
            worker.close()
    last = report.read_json(CACHE / "results.json", GROUPS)
    finish(about, {name: groups.get(name, last[name]) for name in GROUPS}, arguments.docs)


def finish(about: dict[str, Any], groups: dict[str, list[measure.Row]], docs: bool) -> None:
    """Print it, and write it down."""
    print(*(f"{name}: {value}" for name, value in about["machine"].items()), sep="; ")
    print(*(f"{name} {version}" for name, version in about["versions"].items()), sep=", ")
    for name, rows in groups.items():
        print(f"\n{name.upper()}", *report.table(rows), sep="\n")
    for name, why in report.missing(row for rows in groups.values() for row in rows).items():
        print(f"missing: {name}: {why}")
    about["seconds"] = round(time.monotonic() - began)
    report.write_json(CACHE / "results.json", about, groups)
    picture = report.svg(groups)
    targets: list[tuple[Path, str]] = [(CACHE / "bench.svg", picture)]
    if docs:
        targets.append((DOCS / "images" / "bench.svg", picture))
        targets.append((DOCS / "guides" / "benchmarks.md", report.page(about, groups)))
    for path, text in targets:
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
