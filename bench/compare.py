"""Which operations of livetools take more instructions than they did at another revision.

    python bench/compare.py REVISION        as make bench-compare BASE=REVISION

Each is counted three times at both, in turn, and the least of the three is taken. Names what has grown by 3 % or more,
and exits with 1 if something has.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from instructions import count
from processes import CACHE, CLIENTS, HERE, Missing, Server

LIMIT = 1.03
TIMES = 3
JOBS = {
    "a call": ("calls", 200, 1),
    "a call of 100 in a message": ("calls", 400, 100),
    "sound in": ("audio", 200, 1),
    "sound out": ("send", 300, 1),
    "ask": ("ask", 60, 1),
}
ROOT = HERE.parent


def git(*arguments: str) -> str:
    """What git says."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def least(trees: dict[str, Path]) -> dict[str, dict[str, float]]:
    """The fewest instructions of each operation in each tree."""
    ours = next(client for client in CLIENTS if client.name == "livetools")
    found: dict[str, dict[str, float]] = {name: {} for name in trees}
    with Server() as server:
        for _ in range(TIMES):
            for name, tree in trees.items():
                for job, counted in count(ours, server.port, JOBS, tree).items():
                    found[name][job] = min(counted, found[name].get(job, counted))
    return found


def main(base: str) -> int:
    revision = git("rev-parse", "--short", base)
    tree = CACHE / "base"
    git("worktree", "add", "--force", "--detach", str(tree), revision)
    try:
        found = least({"base": tree, "here": ROOT})
    except Missing as missing:
        print(f"instructions cannot be counted: {missing}")
        return 2
    finally:
        git("worktree", "remove", "--force", str(tree))
    print(f"thousands of instructions an operation, at {revision} and here")
    grown = []
    for job, before in found["base"].items():
        after = found["here"][job]
        ratio = after / before
        print(f"  {job:28} {before / 1e3:8.1f} {after / 1e3:8.1f}   {ratio:6.3f}")
        if ratio >= LIMIT:
            grown.append(f"{job}: {ratio - 1:+.1%}")
    print("\n".join(["REGRESSION", *grown]) if grown else f"nothing has grown by {LIMIT - 1:.0%}")
    return bool(grown)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
