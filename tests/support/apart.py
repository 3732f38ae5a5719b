"""pytest in a process of its own, which need not import first what takes longest.

``run_pytest`` has the arguments and the result of ``subprocess.run([sys.executable, "-m", "pytest", ...])``. What is
imported already is other people's; livetools and its plugins are imported by the run itself, as everywhere.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from support.forked import Forked

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
PYTEST = "import runpy; runpy.run_module('pytest', run_name='__main__', alter_sys=True)"


def run_pytest(
    *options: str | Path, cwd: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The exit status, and what it prints, errors too; without colours, whatever the environment says of them."""
    command = ["-p", "no:cacheprovider", "--color=no", *map(str, options)]
    with open(os.devnull) as nothing, tempfile.TemporaryFile() as output:
        status = Forked(
            *command, stdin=nothing.fileno(), stdout=output.fileno(), stderr=output.fileno(),
            code=PYTEST, imported=IMPORTED, env=env, cwd=cwd,
        ).wait()  # fmt: skip
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return subprocess.CompletedProcess(command, status, text, "")
