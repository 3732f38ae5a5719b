"""A real Redis for whoever wants one."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis of our own, on a free port; without redis-server the test is skipped."""
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("redis-server is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path_factory.mktemp("redis"))]
    process = subprocess.Popen([server, *where, "--save", ""], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
