"""pytest in a process of its own, which need not import first what takes longest: a fork of a process that has it.

``run_pytest`` has the arguments and the result of ``subprocess.run([sys.executable, "-m", "pytest", ...])``. What is
imported already is other people's; livetools and its plugins are imported by the run itself, as everywhere.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

IMPORTED = (
    "google.genai",
    "hypothesis",
    "msgspec",
    "pdb",
    "pytest",
    "trio",
    "trustme",
    "websockets.asyncio.client",
    "xml.etree.ElementTree",
)


def run_pytest(
    *options: str | Path, cwd: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The exit status, and what it prints, errors too; without colours, whatever the environment says of them."""
    command = ["pytest", "-p", "no:cacheprovider", "--color=no", *map(str, options)]
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile() as output:
        job = {"argv": command, "cwd": str(cwd), "env": dict(env or os.environ), "output": output.name}
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        text = output.read().decode("utf-8", "replace")
    return subprocess.CompletedProcess(command, status, text, "")


@functools.cache
def _server() -> subprocess.Popen[str]:
    """One for each process of the tests. It ends with it, when there is nothing more to read."""
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    atexit.register(server.__exit__, None, None, None)
    return server


def _serve() -> None:
    for name in IMPORTED:
        __import__(name)
    gc.collect()
    gc.freeze()  # pytest collects all garbage, several times, as it ends
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _run(job: dict[str, Any]) -> NoReturn:
    """As ``python -m pytest`` in this folder and environment. It never comes back into the server."""
    status = 1
    try:
        output = os.open(job["output"], os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.clear()
        os.environ.update(job["env"])
        os.chdir(job["cwd"])
        sys.argv = job["argv"]
        sys.path[0] = job["cwd"]
        runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
