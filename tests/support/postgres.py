"""A PostgreSQL server of its own for the tests that need one, on a socket in a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACES = [
    *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
    Path("/usr/local/bin"),
    Path("/usr/bin"),
]


def program(name: str) -> str | None:
    """The path of a program of PostgreSQL."""
    return shutil.which(name, path=os.pathsep.join(map(str, PLACES)))


@contextmanager
def postgres() -> Iterator[str]:
    """A server with files of its own: the URL of its database.

    It refuses to run as root, and runs as ``postgres`` then, which may not look into the folders of pytest.
    """
    initdb, server = program("initdb"), program("postgres")
    assert initdb is not None
    assert server is not None
    how = {"user": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="livetools-postgres-", ignore_cleanup_errors=True) as folder:
        if how:
            shutil.chown(folder, **how)
        env = {**os.environ, "HOME": folder}
        subprocess.run(
            [initdb, "-D", f"{folder}/data", "-U", "me", "-A", "trust", "--no-sync"],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, env=env, **how,
        )  # fmt: skip
        process = subprocess.Popen(
            [server, "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder, env=env, **how,
        )  # fmt: skip
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "ready to accept connections" in line:
                    break
            yield f"postgresql://me@/postgres?host={folder}"
        finally:
            process.terminate()
            process.communicate(timeout=20)
