"""Instructions that a job takes in its client's process, by valgrind's callgrind: neighbours do not change them.

What is counted is the client's own code, outside the kernel. A job is done with N and with 2N operations, and the
difference is divided by N: what is done once drops out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from processes import HERE, Client, Missing, Worker

TOTAL = re.compile(r"^(?:summary|totals): (\d+)", re.MULTILINE)


def counter(folder: Path) -> Path:
    """The library that switches the counting on and off. Raises :class:`Missing` where it cannot be made."""
    for program, package in (("valgrind", "valgrind"), ("cc", "gcc")):
        if shutil.which(program) is None:
            raise Missing(f"there is no {program} here: apt-get install {package}")
    library = folder / "counter.so"
    command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(HERE / "counter.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"counter.c: {done.stderr.strip().splitlines()[-1]}")
    return library


def count(
    client: Client, port: int, jobs: Mapping[str, tuple[str, int, int]], tree: Path | None = None
) -> dict[str, float]:
    """Instructions an operation for each of these jobs that the client knows: name → (job, N, calls a message)."""
    with tempfile.TemporaryDirectory() as folder:
        still = ["setarch", "-R"] if shutil.which("setarch") else []  # the same addresses each time
        under = [
            *still, "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no",
            f"--callgrind-out-file={folder}/out",
        ]  # fmt: skip
        variables = {"BENCH_COUNTER": str(counter(Path(folder)))}
        worker = Worker(client, port, tree=tree, under=under, variables=variables)
        try:
            return dict(_counted(worker, Path(folder), jobs))
        finally:
            worker.close()


def _counted(
    worker: Worker, folder: Path, jobs: Mapping[str, tuple[str, int, int]]
) -> Iterable[tuple[str, float]]:
    for name, (job, n, p) in jobs.items():
        if job not in worker.jobs:
            continue
        worker.do(job, n, p)  # what is done the first time is not counted
        _total(folder)
        totals = []
        for times in (1, 2):
            worker.do(job, n * times, p)
            totals.append(_total(folder))
        yield name, (totals[1] - totals[0]) / n


def _total(folder: Path) -> int:
    """The sum of the dumps there are, one for each block that was measured. They are removed."""
    total = 0
    for dump in folder.glob("out.*"):
        if (found := TOTAL.search(dump.read_text(errors="replace"))) is not None:
            total += int(found[1])
        dump.unlink()
    return total
