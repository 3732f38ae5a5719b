"""A PostgreSQL server of its own for the tests that need one, on a socket in a folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
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
def postgres(folder: Path) -> Iterator[str]:
    """A server whose files lie in ``folder``: the URL of its database.

    It refuses to run as root, and runs as ``postgres`` then.
    """
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    initdb, server = program("initdb"), program("postgres")
    assert initdb is not None
    assert server is not None
    if os.geteuid() == 0:
        for parent in [folder, *folder.parents][:4]:
            parent.chmod(0o755)
        shutil.chown(folder, user)
    data = folder / "data"
    how = {"user": user} if os.geteuid() == 0 else {}
    env = {**os.environ, "HOME": str(folder)}
    subprocess.run(
        [initdb, "-D", data, "-U", "me", "-A", "trust", "--no-sync"],
        check=True, stdout=subprocess.DEVNULL, cwd=folder, env=env, **how,
    )  # fmt: skip
    process = subprocess.Popen(
        [server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
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
